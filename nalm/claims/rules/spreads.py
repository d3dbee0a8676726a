"""Rules for numbers that were published with a spread: median ± MAD, or mean ± standard error."""

import math
from collections.abc import Sequence

import numpy as np

from nalm import stats
from nalm.claims.rules.base import NOTHING, Judgement, NamedRuns, Rule, published_runs, settled, tested
from nalm.config import Claim
from nalm.stats import Interval, Margin

MEAN = "code writes mean"  # in the note of a claim about a mean and its standard error
LARGEST = float(np.finfo(np.float32).max)
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
        return _mean(claim, values) if MEAN in claim.note else _median(claim, values)

    return rule


def _mean(claim: Claim, values: Sequence[float]) -> Judgement:
    """Compare a mean that was published with its standard error, by Student's test.

    Where runs of ours are not finite, their share is compared with none of the published runs.
    """
    ours, n = mean_spread(values), published_runs(claim) or len(values)
    lost = sum(not math.isfinite(v) for v in values)
    if lost:
        test = stats.same_rate(0, n, lost, len(values))
        return tested(ours, test, f"{lost} of {len(values)} runs of ours are not finite, Fisher's exact test")
    error = math.nan if claim.high is None else claim.high - claim.value
    test = stats.same_mean(
        stats.Mean(claim.value, error, n), stats.mean_of(values), Margin.factor(claim.value)
    )
    return tested(ours, test, f"means of {ours.n} runs and of {n} published ones, Student's test")


def _median(claim: Claim, values: Sequence[float]) -> Judgement:
    """Compare a median that was published with its MAD, by the control median test; a NaN counts as infinite."""
    ours, n = median_spread(values), published_runs(claim)
    if not math.isfinite(ours.estimate) and claim.value > LARGEST:
        return settled(ours, True, "both exceed the range of float32")
    mad = None if claim.high is None else claim.high - claim.value
    test = stats.same_median(claim.value, n, values, Margin.factor(claim.value), 0.0, mad)
    told = f"of {n} published ones" if n else "of an unknown number of published ones"
    return tested(ours, test, f"medians of {ours.n} runs and {told}, control median test")


def _least(claim: Claim, everything: NamedRuns) -> Judgement:
    """Compare the lowest error of all runs."""
    errors = [o.measures["test"] for o in everything.of(claim.unit, claim.where) if "test" in o.measures]
    if not errors:
        return NOTHING
    least = min(errors, key=_finite)
    ours = Interval(least, least, least, len(errors), "least")
    below = sum(error < claim.value for error in errors)
    test = stats.same_least(claim.value, published_runs(claim), errors, Margin.factor(claim.value))
    return tested(ours, test, f"{below} of {len(errors)} runs of ours lie below the published least")


def _finite(value: float) -> float:
    return math.inf if math.isnan(value) else value


RULES: dict[str, Rule] = {
    "test_mean_abs_error": _measured(""),
    "test_mse": _measured("test", BEST),
    "train_mse": _measured("validation", BEST),
    "median_mse": _measured("test"),
    "median_params": _measured("nonzero 0.001"),
    "median_params_of_best": _measured("nonzero 0.001", BEST),
    "least_mse": _least,
}
