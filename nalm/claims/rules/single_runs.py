"""Rules for numbers that were made from single published runs: means without a spread, and medians of errors."""

from collections.abc import Sequence

import numpy as np

from nalm import stats
from nalm.claims.rules.base import NOTHING, Judgement, NamedRuns, Rule, published_runs, tested, undecided
from nalm.claims.rules.steps import EVERY, ROUNDED, ROUNDING, UNSOLVED
from nalm.config import Claim
from nalm.stats import Comparison, Margin, Mean
from nalm.stats.two_medians import below


def _solved_mean(field: str, slack: float) -> Rule:
    """Make the rule for the mean of a field over the solved runs, which was published without an interval."""

    def rule(claim: Claim, everything: NamedRuns) -> Judgement:
        runs = everything.of(claim.unit, claim.where)
        if not runs:
            return NOTHING
        values = [float(getattr(o, field)) for o in runs if o.solved and getattr(o, field) is not None]
        if not values:
            return undecided(None, UNSOLVED)
        behind = published_runs(claim)
        solved = max(1, round(behind * len(values) / len(runs))) if behind else 1
        words = f"{len(values)} solved runs of ours; half of the published ones lie below twice their mean"
        return tested(stats.mean(values), mean_alone(claim.value, solved, values, slack), words)

    return rule


def mean_alone(value: float, m: int, ours: Sequence[float], slack: float) -> Comparison:
    """Compare the mean of m positive numbers, of whose spread nothing is known, with ours.

    Less than half of them can be above twice their mean, so ours differ if too few lie below that: the control median
    test, one-sided, valid for any distribution. A mean above ours is no difference, for one number in a long tail can
    explain it. The two are close if they are by Student's test with the spread of ours.
    """
    count = int((np.asarray(ours) <= 2 * value + slack).sum())
    p = float(below((m + 1) // 2, m, len(ours))[: count + 1].sum())
    usual = stats.same_mean(Mean(value, np.nan, m), stats.mean_of(ours), Margin.factor(value), slack)
    return Comparison(min(1.0, p), usual.close, None, usual.stated)


def _median_error(field: str) -> Rule:
    """Make the rule for the median of an error over all runs, each where its validation error is lowest."""

    def rule(claim: Claim, everything: NamedRuns) -> Judgement:
        errors = [getattr(o, field) for o in everything.of(claim.unit, claim.where)]
        if not errors:
            return NOTHING
        margin = Margin.factor(claim.value)
        test = stats.same_median(claim.value, published_runs(claim), errors, margin, ROUNDED)
        finite = np.nan_to_num(errors, nan=np.inf, posinf=np.inf)
        return tested(stats.median(finite), test, f"{len(errors)} runs of ours, control median test")

    return rule


RULES: dict[str, Rule] = {
    "solved_at_sample_mean": _solved_mean("solved_at", EVERY),
    "sparsity_error_sample_mean": _solved_mean("sparsity", ROUNDING),
    "interpolation_mse_median_at_best_validation": _median_error("validation"),
    "extrapolation_mse_median_at_best_validation": _median_error("test"),
}
