"""Certificates: a law is tested by its rounding-error bound on every row, or by statistical tests under noise.

This room may import the law, the fits and the problem, not the stages or the search.

A law is ``exact`` if on every row it differs from y by no more than ``SLACK`` times its own rounding error, in the
precision of the data, and if the data could have shown a difference: a term of natural size that the law lacks would
exceed what its numbers can absorb, and every digit has a visible effect. It is ``consistent`` with noisy data if
neither freeing its numbers nor adding terms explains held-out rows significantly better. Otherwise the verdict is
``none``.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from nalm.discover.certificate.lack_of_fit import complaint
from nalm.discover.certificate.levels import interpolated
from nalm.discover.certificate.resolution import distinguishable, tolerance
from nalm.discover.certificate.verdict import LAW_MEANING, Verdict
from nalm.discover.law.expression import Array, Node, evaluate, used
from nalm.discover.problem import Problem


@dataclass(frozen=True)
class Certificate:
    """The statement of what was tested about a law, on how many rows, and with which verdict."""

    verdict: Verdict
    tested: str  # in words
    rows: int  # held out: never used to find the law
    error: float  # largest |y - law| over its tolerance, or, under noise, its rms over the spread of y
    bound: float  # largest tolerance over the size of y, or, under noise, the declared level
    precision: str  # of the data: float32 or float64
    noise: float | None = 0.0  # declared
    domain: dict[str, tuple[float, float]] = field(default_factory=dict)  # seen, of the inputs in the law
    alternatives: tuple[str, ...] = ()  # other forms that the data cannot tell from the law
    advice: str = ""  # where to measure next to tell the law from the nearest of them; empty if there is none
    outliers: tuple[int, ...] = ()  # rows, from 1, that are far off from the law and were left out

    @property
    def meaning(self) -> str:
        """The meaning of the verdict, in plain sentences."""
        return LAW_MEANING[self.verdict]

    def __bool__(self) -> bool:
        return self.verdict != Verdict.NONE

    def __str__(self) -> str:
        seen = ", ".join(f"{n} in [{low:.4g}, {high:.4g}]" for n, (low, high) in self.domain.items())
        return f"{self.verdict}: {self.tested}" + (f" Seen: {seen}." if seen else "")


def within_rounding(node: Node, x: Array, y: Array, roundoff: float) -> tuple[float, float]:
    """Return the largest |y - law| over its tolerance, and the largest tolerance over the size of y."""
    with np.errstate(all="ignore"):
        allowed = tolerance(node, x, y, roundoff)
        off = np.abs(y - evaluate(node, x))
        ratio = np.where(off > 0, off / allowed, 0.0)
    if not np.isfinite(off).all() or not np.isfinite(allowed).all():
        return np.inf, np.inf
    size = float(np.sqrt(np.mean(y**2))) or 1.0
    return float(ratio.max()), float(allowed.max()) / size


def certify(node: Node, problem: Problem, names: Sequence[str] | None = None) -> Certificate:
    """Test a law against every row: ``exact`` or ``none``."""
    roundoff, rows = problem.roundoff, len(problem.held_y)
    where, verdict = "the rows searched", Verdict.NONE
    worst, bound = within_rounding(node, problem.x[:32], problem.y[:32], roundoff)  # most laws fail at once
    if worst <= 1:
        worst, bound = within_rounding(node, problem.x, problem.y, roundoff)
    if worst <= 1:
        worst, bound = within_rounding(node, problem.held_x, problem.held_y, roundoff)
        where = f"{rows} held-out rows"
    if worst > 1:
        result = f"the law is off by {worst:.3g} times its rounding in {problem.precision}"
    elif few := interpolated(node, problem):
        column = f"x{few[0] + 1}" if names is None else names[few[0]]
        result = f"column {column} has {few[1]} values only, which terms of the law can interpolate,"
    elif not used(node) and not np.ptp(problem.x, axis=0).any():
        result = "the law holds, but no column changes that y could depend on,"
    elif not distinguishable(node, problem):
        result = "the data is too little, or its range too narrow, to tell this law from others,"
    else:
        verdict, result = Verdict.EXACT, f"the law holds to the rounding of {problem.precision}"
    return Certificate(
        verdict,
        f"{result} on {where}.",
        rows,
        worst,
        bound,
        problem.precision,
        problem.noise,
        domain_of(node, problem, names),
    )


def certify_noisy(node: Node, problem: Problem, names: Sequence[str] | None = None) -> Certificate:
    """Test a law under noise on held-out rows: ``consistent`` or ``none``."""
    found = complaint(node, problem)
    rows = len(problem.held_y)
    off = float(np.sqrt(np.mean((problem.held_y - evaluate(node, problem.held_x)) ** 2)))
    off /= float(np.std(problem.held_y)) or 1.0
    result = found or "neither free numbers nor further terms fit better, nor is the residual too large,"
    return Certificate(
        Verdict.NONE if found else Verdict.CONSISTENT,
        f"{result} on {rows} held-out rows.",
        rows,
        off,
        float(problem.noise or off),
        problem.precision,
        problem.noise,
        domain_of(node, problem, names),
    )


def domain_of(node: Node, problem: Problem, names: Sequence[str] | None) -> dict[str, tuple[float, float]]:
    """Return the range of every input of the law on all rows, by name."""
    if names is None:
        names = [f"x{i + 1}" for i in range(problem.inputs)]
    seen = {}
    for i in sorted(used(node)):
        column = np.concatenate([problem.x[:, i], problem.held_x[:, i]])
        seen[names[i]] = float(column.min()), float(column.max())
    return seen
