"""Judge a fit on rows far outside the data that it was made from."""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from benchmarks.laws.problems import VARIANTS, Entry, Problem
from nalm.discover.certificate.resolution import SLACK
from nalm.discover.law.expression import Array

RELATIVE = 1e-9  # of an exact fit, on every row, besides the rounding of the target itself
NEAR, WIDE = 5.0, 10.0  # times the noise: largest error of a near fit; error that makes "consistent" false
ANYWAY = 1e-3  # the same without noise


@dataclass(frozen=True)
class Trial:
    """One problem and the fit of one rival."""

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
    ended: str  # done, time or the error
    formula: str

    @property
    def key(self) -> tuple[Any, ...]:
        """Identify problem and rival."""
        return (*asdict(self.entry).values(), self.rival)

    @property
    def entry(self) -> Entry:
        """Return the name of the problem."""
        return Entry(self.suite, self.name, self.part, self.variant, self.seed)

    @property
    def false_exact(self) -> bool:
        """Return whether the fit was certified as exact and is not."""
        return self.verdict == "exact" and not self.exact

    @property
    def false_consistent(self) -> bool:
        """Return whether the fit was called consistent with the noise and is far off outside the data."""
        return self.verdict == "consistent" and not self.error <= WIDE * noise_of(self.variant) + ANYWAY


def noise_of(variant: str) -> float:
    """Return the noise of a variant."""
    return VARIANTS[variant][0]


def is_exact(problem: Problem, predicted: Array) -> bool:
    """Return whether predictions equal the target on every far row, to rounding."""
    with np.errstate(all="ignore"):
        allowed = RELATIVE * np.abs(problem.far_y) + SLACK * problem.rounding
        return bool((np.abs(predicted - problem.far_y) <= allowed).all())


def error_of(problem: Problem, predicted: Array) -> float:
    """Return the rms error on the far rows over the rms of the target; infinite if it is not finite."""
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
) -> Trial:
    """Compare what a rival predicts far outside the data with the target there."""
    error = error_of(problem, predicted)
    return Trial(
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
