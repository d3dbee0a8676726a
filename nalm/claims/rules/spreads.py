"""What it takes for our runs to agree with a number published with a spread: median ± MAD, or mean ± its error."""

import math
from collections.abc import Callable, Sequence

import numpy as np

from nalm.claims.rules.rates import NOTHING, Judgement, Runs, near, word
from nalm.config import Claim
from nalm.stats import Interval

MEAN = "code writes mean"  # in the note of a claim whose table is made of means and standard errors
FACTOR = 2.0  # between the least errors of two sets of runs
BEST = 10  # runs by test error that the published table of the large tasks keeps


def median_spread(values: Sequence[float]) -> Interval:
    """The median, and the median absolute deviation from it to either side; infinite where that is.

    >>> median_spread([1.0, 2.0, 3.0, 10.0, 100.0])
    Interval(estimate=3.0, low=1.0, high=5.0, n=5, method='median ± MAD')
    """
    x = np.where(np.isnan(values), math.inf, values)
    if not len(x):
        return Interval(math.nan, math.nan, math.nan, 0, "median ± MAD")
    centre = float(np.median(x))
    mad = float(np.median(np.abs(x - centre))) if math.isfinite(centre) else math.inf
    return Interval(
        centre, centre - mad if mad < math.inf else -math.inf, centre + mad, len(x), "median ± MAD"
    )


def mean_spread(values: Sequence[float]) -> Interval:
    """The mean, and its standard error to either side.

    >>> mean_spread([1.0, 2.0, 3.0])
    Interval(estimate=2.0, low=1.4226497308103743, high=2.5773502691896257, n=3, method='mean ± standard error')
    """
    x = np.asarray(values, dtype=np.float64)
    if not np.isfinite(x).all() or not len(x):
        return Interval(math.inf if len(x) else math.nan, math.nan, math.nan, len(x), "mean ± standard error")
    centre = float(x.mean())
    error = float(x.std(ddof=1)) / math.sqrt(len(x)) if len(x) > 1 else math.nan
    return Interval(centre, centre - error, centre + error, len(x), "mean ± standard error")


def _measured(name: str, keep: int = 0) -> Callable[[Claim, Runs], Judgement]:
    """A measure at the end of training; by name, or that of the claim's operation; of the best runs only."""

    def rule(claim: Claim, everything: Runs) -> Judgement:
        runs = [o for o in everything.of(claim.unit, claim.where) if (name or claim.operation) in o.measures]
        if not runs:
            return NOTHING
        if keep:
            runs = sorted(runs, key=lambda o: _finite(o.measures["test"]))[:keep]
        values = [o.measures[name or claim.operation] for o in runs]
        ours = (mean_spread if MEAN in claim.note else median_spread)(values)
        return ours, word(agree(claim, ours)), f"{ours.method} of {ours.n} runs, as published"

    return rule


def _least(claim: Claim, everything: Runs) -> Judgement:
    """The least error of all runs: ours is as good where it lies within a factor of two."""
    errors = [o.measures["test"] for o in everything.of(claim.unit, claim.where) if "test" in o.measures]
    if not errors:
        return NOTHING
    least = min(errors, key=_finite)
    ours = Interval(least, least, least, len(errors), "least")
    return (
        ours,
        word(least <= FACTOR * claim.value and claim.value <= FACTOR * least),
        f"equal within {FACTOR:g} times",
    )


def _finite(value: float) -> float:
    return math.inf if math.isnan(value) else value


def agree(claim: Claim, ours: Interval) -> bool:
    """Whether one lies within the other's spread, or both beyond what a number of 32 bits holds."""
    if not math.isfinite(ours.estimate):
        return claim.value > float(np.finfo(np.float32).max)
    return near(claim, ours)


RULES: dict[str, Callable[[Claim, Runs], Judgement]] = {
    "test_mean_abs_error": _measured(""),
    "test_mse": _measured("test", BEST),
    "train_mse": _measured("validation", BEST),
    "median_mse": _measured("test"),
    "median_params": _measured("nonzero 0.001"),
    "least_mse": _least,
}
