"""What it takes for our networks that read images to agree with a published number."""

from collections.abc import Callable, Sequence

from nalm import stats
from nalm.config import Claim
from nalm.rules import NOTHING, ROUNDING, Judgement, Runs, near, word
from nalm.runs import Outcome
from nalm.stats import Interval

PERCENT = 100.0


def _length(runs: Sequence[Outcome]) -> str:
    """How long ours were trained, where that is not as published."""
    short = min(o.steps // o.case.epoch for o in runs)
    wanted = runs[0].case.recipe.steps // runs[0].case.epoch
    return "" if short >= wanted else f", after {short:,} epochs instead of {wanted:,}"


def _accuracy(claim: Claim, everything: Runs) -> Judgement:
    """The mean share of right outputs over folds in percent, with Student's interval."""
    runs = everything.of(claim.unit, claim.where)
    if not runs:
        return NOTHING
    ours = stats.mean([PERCENT * (1 - o.test) for o in runs], 0.0, PERCENT)
    return ours, word(near(claim, ours)), f"mean over {len(runs)} folds{_length(runs)}"


def _exact(claim: Claim, everything: Runs) -> Judgement:
    """The share of folds whose weights are the solution and nothing else."""
    runs = everything.of(claim.unit, claim.where)
    if not runs:
        return NOTHING
    held = stats.success_rate([o.formula == "a*b" and o.sparsity < ROUNDING for o in runs])
    ours = Interval(PERCENT * held.estimate, PERCENT * held.low, PERCENT * held.high, held.n, held.method)
    return ours, word(near(claim, ours)), f"weights within {ROUNDING:g} of (1, 1){_length(runs)}"


RULES: dict[str, Callable[[Claim, Runs], Judgement]] = {
    "test_output_accuracy": _accuracy,
    "test_output_accuracy_rounded": _accuracy,
    "runs_with_weights_exactly_1": _exact,
}
