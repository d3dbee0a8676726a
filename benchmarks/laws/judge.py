"""How good a fit is, decided on rows far outside the data it was made from."""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from benchmarks.laws.problems import VARIANTS, Entry, Problem
from nalm.discover.certificate.resolution import SLACK
from nalm.discover.law.expression import Array

RELATIVE = 1e-9  # of an exact fit, on every row, besides the rounding of the target itself
NEAR, WIDE = 5.0, 10.0  # times the noise: a fit that is near; what makes "consistent" false
ANYWAY = 1e-3  # and this much without noise


@dataclass(frozen=True)
class Outcome:
    """One problem, one rival, and what became of it."""

    suite: str
    name: str
    part: str
    variant: str
    seed: int
    rival: str
    exact: bool  # equals the target far outside, to rounding
    near: bool  # its error far outside is at most five times the noise, or a thousandth without noise
    verdict: str  # exact, consistent or none; empty for those who certify nothing
    error: float  # far outside: rms over the rms of the target
    seconds: float
    ended: str  # done, time or a sentence about what went wrong
    formula: str

    @property
    def key(self) -> tuple[Any, ...]:
        """What was asked, of whom."""
        return (*asdict(self.entry).values(), self.rival)

    @property
    def entry(self) -> Entry:
        """The problem's name."""
        return Entry(self.suite, self.name, self.part, self.variant, self.seed)

    @property
    def false_exact(self) -> bool:
        """Certified as exact, and not so."""
        return self.verdict == "exact" and not self.exact

    @property
    def false_consistent(self) -> bool:
        """Called consistent with the noise, and far off outside the data."""
        return self.verdict == "consistent" and not self.error <= WIDE * noise_of(self.variant) + ANYWAY


def noise_of(variant: str) -> float:
    """The noise of a variant."""
    return VARIANTS[variant][0]


def is_exact(problem: Problem, predicted: Array) -> bool:
    """Whether predictions are the target on every far row, to rounding."""
    with np.errstate(all="ignore"):
        allowed = RELATIVE * np.abs(problem.far_y) + SLACK * problem.rounding
        return bool((np.abs(predicted - problem.far_y) <= allowed).all())


def error_of(problem: Problem, predicted: Array) -> float:
    """The rms error on the far rows over the rms of the target; infinite where there is no number."""
    with np.errstate(all="ignore"):
        error = float(np.sqrt(np.mean((predicted - problem.far_y) ** 2) / np.mean(problem.far_y**2)))
    return error if np.isfinite(error) else np.inf


def judged(
    entry: Entry,
    rival: str,
    problem: Problem,
    predicted: Array,
    verdict: str | None,
    seconds: float,
    formula: str = "",
    ended: str = "done",
) -> Outcome:
    """Compare what a rival predicts far outside with what is true there."""
    error = error_of(problem, predicted)
    return Outcome(
        **asdict(entry),
        rival=rival,
        exact=is_exact(problem, predicted),
        near=error <= max(NEAR * problem.noise, ANYWAY),
        verdict=verdict or "",
        error=float(f"{error:.6g}"),
        seconds=round(seconds, 5),
        ended=ended,
        formula=" ".join(formula.split())[:200],
    )
