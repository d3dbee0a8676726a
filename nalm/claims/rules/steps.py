"""Rules for steps, errors and sparsity errors: means with intervals, medians."""

import math
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from nalm import stats
from nalm.claims.rules.base import NOTHING, Judgement, NamedRuns, Rule, published_runs, tested, undecided
from nalm.claims.rules.counted_runs import CountedRuns
from nalm.config import Claim
from nalm.stats import Interval, Margin, Mean

EVERY = 1_000  # steps between two evaluations
ROUNDING = 1e-6  # sparsity errors below this come from rounding a weight that is a whole number
ROUNDED = 1e-11  # squared errors below this come from rounding to float32
TWO_DIGITS = 0.05  # relative tolerance of a median that was published with two digits, such as 1.4e6
UNSOLVED = "no solved run of ours"
STUDENT = "Student's test"


def theirs(claim: Claim) -> Mean:
    """Return a published mean with the standard error behind its 95% interval, if it has one."""
    runs = published_runs(claim)
    if claim.low is None or claim.high is None:
        return Mean(claim.value, math.nan, runs)
    return stats.of_interval(claim.value, claim.low, claim.high, runs)


def solved_mean(claim: Claim, steps: npt.ArrayLike, share: float, slack: float) -> Judgement:
    """Compare the mean step of solved runs, by the fit of the published tables; ``share`` of our runs are solved.

    That fit is no mean of steps of which a few lie far from the others, on either side; then nothing can be told.
    """
    ours, solved = stats.solved_at_published(steps), _solved_runs(claim, share)
    told = Mean(claim.value, math.nan, solved)
    if claim.low is not None and claim.high is not None and solved:
        spreads = [
            stats.spread_behind(*ends)
            for ends in ((claim.low, claim.high, solved), (ours.low, ours.high, ours.n))
        ]
        if ours.n > 1 and any(map(math.isnan, spreads)):
            return undecided(
                ours, "some steps lie so far from the others that this fit is no mean; see their median"
            )
        told = Mean(claim.value, claim.value * spreads[0] / math.sqrt(solved), solved)
    mine = stats.mean_of(steps, stats.solved_at_estimate)
    test = stats.same_mean(told, mine, Margin.factor(claim.value), slack)
    return tested(ours, test, f"{ours.n} solved runs of ours, {STUDENT}")


def sparsity_mean(claim: Claim, mine: tuple[Interval, Mean], share: float, slack: float) -> Judgement:
    """Compare the mean sparsity error of solved runs; they differ if they do by both of the published ways.

    The published tables print half the mean of a fitted beta, or the mean where that fit fails; not which.
    """
    (ours, mean), solved = mine, _solved_runs(claim, share)
    told = theirs(claim.replace(n=solved))
    means = [Mean(mean.estimate * factor, mean.error * factor, mean.n) for factor in (1.0, 0.5)]
    tests = [stats.same_mean(told, either, Margin.factor(claim.value), slack) for either in means]
    found = max(tests, key=lambda test: (test.close, test.p))
    return tested(ours, found, f"{ours.n} solved runs of ours, equal below {slack:g}, {STUDENT}")


def _solved_runs(claim: Claim, share: float) -> int | None:
    """Return how many published runs were solved, if as many were as of ours."""
    runs = published_runs(claim)
    return max(2, round(runs * share)) if runs else None


def _error(claim: Claim, everything: NamedRuns) -> Judgement:
    """Compare the mean error at the lowest validation error, with Student's interval as published."""
    name = "validation" if claim.metric.startswith("interpolation") else "test"
    errors = [getattr(o, name) for o in everything.of(claim.unit, claim.where)]
    if not errors:
        return NOTHING
    if not np.isfinite(errors).all():
        return undecided(None, f"{int((~np.isfinite(errors)).sum())} runs of ours are not finite")
    test = stats.same_mean(theirs(claim), stats.mean_of(errors), Margin.factor(claim.value), ROUNDED)
    return tested(stats.mean(errors), test, f"equal below {ROUNDED:g}, the rounding of float32; {STUDENT}")


def _best_step(claim: Claim, everything: NamedRuns) -> Judgement:
    """Compare what Table 1 of Mistry 2022c calls solved at: the step with the lowest validation error."""
    steps = [o.best_step for o in everything.of(claim.unit, claim.where)]
    if not steps:
        return NOTHING
    test = stats.same_mean(theirs(claim), stats.mean_of(steps), Margin.factor(claim.value), EVERY)
    return tested(stats.mean(steps), test, f"the step with the lowest validation error, {STUDENT}")


def _of_solved(judged: Callable[[Claim, CountedRuns, float], Judgement]) -> Rule:
    """Make a rule about the solved runs, which also gets the share of the runs that are solved."""

    def rule(claim: Claim, everything: NamedRuns) -> Judgement:
        found = everything.counted(claim.unit, claim.where)
        if not found.solved:
            return undecided(None, UNSOLVED) if everything.named else NOTHING
        return judged(claim, found, found.solved / found.runs)

    return rule


def _solved_at(claim: Claim, found: CountedRuns, share: float) -> Judgement:
    slack = EVERY if claim.low == claim.high else 0  # all published runs lie between two evaluations
    return solved_mean(claim, found.steps, share, slack)


def _median(claim: Claim, found: CountedRuns, share: float) -> Judgement:
    steps, slack = found.steps, max(EVERY, TWO_DIGITS * claim.value)
    test = stats.same_median(
        claim.value, _solved_runs(claim, share), steps, Margin.factor(claim.value), slack
    )
    words = "published with two digits, evaluated every 1,000 steps; control median test"
    return tested(stats.median(steps), test, words)


def _sparsity(claim: Claim, found: CountedRuns, share: float) -> Judgement:
    return sparsity_mean(claim, found.sparsity, share, ROUNDING)


RULES: dict[str, Rule] = {
    "interpolation_mse": _error,
    "extrapolation_mse": _error,
    "solved_at": _best_step,
    "solved_at_mean": _of_solved(_solved_at),
    "solved_at_median": _of_solved(_median),
    "sparsity_error_mean": _of_solved(_sparsity),
}
