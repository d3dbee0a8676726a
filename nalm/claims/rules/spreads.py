"""Rules for numbers that were published with a spread: median ± MAD, or mean ± standard error."""

import math
from collections.abc import Sequence

import numpy as np

from nalm.claims.rules.base import NOTHING, Judgement, NamedRuns, Rule, near, word
from nalm.config import Claim
from nalm.stats import Interval

MEAN = "code writes mean"  # in the note of a claim about a mean and its standard error
FACTOR = 2.0  # between the lowest errors of two sets of runs
BEST = 10  # runs with the lowest test error: the published table of the large tasks is about these


def median_spread(values: Sequence[float]) -> Interval:
    """Compute the median ± the median absolute deviation; a NaN counts as infinite.

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
    """Compute the mean ± its standard error.

    >>> mean_spread([1.0, 2.0, 3.0])
    Interval(estimate=2.0, low=1.4226497308103743, high=2.5773502691896257, n=3, method='mean ± standard error')
    """
    x = np.asarray(values, dtype=np.float64)
    if not np.isfinite(x).all() or not len(x):
        return Interval(math.inf if len(x) else math.nan, math.nan, math.nan, len(x), "mean ± standard error")
    centre = float(x.mean())
    error = float(x.std(ddof=1)) / math.sqrt(len(x)) if len(x) > 1 else math.nan
    return Interval(centre, centre - error, centre + error, len(x), "mean ± standard error")


def _measured(name: str, keep: int = 0) -> Rule:
    """Make the rule for a measure at the end of training.

    An empty name stands for the claim's operation; ``keep`` limits the runs to those with the lowest test error.
    """

    def rule(claim: Claim, everything: NamedRuns) -> Judgement:
        runs = [o for o in everything.of(claim.unit, claim.where) if (name or claim.operation) in o.measures]
        if not runs:
            return NOTHING
        if keep:
            runs = sorted(runs, key=lambda o: _finite(o.measures["test"]))[:keep]
        values = [o.measures[name or claim.operation] for o in runs]
        ours = (mean_spread if MEAN in claim.note else median_spread)(values)
        return ours, word(agree(claim, ours)), f"{ours.method} of {ours.n} runs, as published"

    return rule


def _least(claim: Claim, everything: NamedRuns) -> Judgement:
    """Compare the lowest error of all runs; within a factor of two they agree."""
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
    """Check whether one number lies within the spread of the other, or both exceed the range of float32."""
    if not math.isfinite(ours.estimate):
        return claim.value > float(np.finfo(np.float32).max)
    return near(claim, ours)


RULES: dict[str, Rule] = {
    "test_mean_abs_error": _measured(""),
    "test_mse": _measured("test", BEST),
    "train_mse": _measured("validation", BEST),
    "median_mse": _measured("test"),
    "median_params": _measured("nonzero 0.001"),
    "least_mse": _least,
}
