"""Rules for networks that read images."""

import dataclasses
import math
from collections.abc import Sequence

from nalm import stats
from nalm.claims.rules.base import NOTHING, Judgement, NamedRuns, Rule, published_runs, tested, undecided
from nalm.claims.rules.rates import share
from nalm.claims.rules.steps import ROUNDING
from nalm.config import Claim
from nalm.results.runs import Outcome
from nalm.stats import Interval, Margin

PERCENT = 100.0
POINTS = 5.0  # the stated difference between two accuracies, in percent


def epochs(runs: Sequence[Outcome]) -> tuple[int, int]:
    """Return the fewest epochs of our runs, and the published number."""
    return min(o.steps // o.case.epoch for o in runs), runs[0].case.recipe.steps // runs[0].case.epoch


def folds(runs: Sequence[Outcome]) -> str:
    """Describe the number of folds; a seed beyond the last fold begins again with the first."""
    count = len({o.seed % o.case.task.folds for o in runs})
    many = "one fold" if count == 1 else f"{count} folds"
    return many if count == len(runs) else f"{len(runs)} runs of {many}"


def unless_short(found: Judgement, trained: tuple[int, int]) -> Judgement:
    """Return the judgement, unless our runs were trained for fewer epochs than the published ones."""
    short, wanted = trained
    if short >= wanted:
        return found
    return undecided(found.ours, f"{found.why}: epochs {short + 1:,} to {wanted:,} are missing")


def _accuracy(claim: Claim, everything: NamedRuns) -> Judgement:
    """Compare the mean share of right outputs over folds, in percent; the published ± is one standard error.

    Without one it is at most that of folds of which each is right throughout or wrong throughout.
    """
    runs = everything.of(claim.unit, claim.where)
    if not runs:
        return NOTHING
    values = [PERCENT * (1 - o.test) for o in runs]
    n = published_runs(claim)
    widest = math.sqrt(claim.value * (PERCENT - claim.value) / (n or 1))
    told = stats.Mean(claim.value, widest if claim.high is None else claim.high - claim.value, n)
    test = stats.same_mean(told, stats.mean_of(values), Margin.points(POINTS))
    found = tested(stats.mean(values, 0.0, PERCENT), test, f"mean over {folds(runs)}")
    return unless_short(found, epochs(runs))


def _exact(claim: Claim, everything: NamedRuns) -> Judgement:
    """Compare the share of folds whose weights are exactly the solution."""
    runs = everything.of(claim.unit, claim.where)
    if not runs:
        return NOTHING
    held = [o.formula == "a*b" and o.sparsity < ROUNDING for o in runs]
    found = share(claim.value / PERCENT, published_runs(claim) or len(runs), sum(held), len(held))
    rate = stats.success_rate(held)
    ours = Interval(PERCENT * rate.estimate, PERCENT * rate.low, PERCENT * rate.high, rate.n, rate.method)
    why = f"weights within {ROUNDING:g} of (1, 1), {found.why}"
    return unless_short(dataclasses.replace(found, ours=ours, why=why), epochs(runs))


RULES: dict[str, Rule] = {
    "test_output_accuracy": _accuracy,
    "test_output_accuracy_rounded": _accuracy,
    "runs_with_weights_exactly_1": _exact,
}
