"""What it takes for our networks that read images to agree with a published number."""

from collections.abc import Callable, Sequence

from nalm import stats
from nalm.config import Claim
from nalm.rules import NOTHING, ROUNDING, Judgement, Runs, near, word
from nalm.runs import Outcome
from nalm.stats import Interval

PERCENT = 100.0
LEAST = 10  # one part in so many of the published epochs


def _epochs(runs: Sequence[Outcome]) -> tuple[int, int]:
    """How long ours were trained, and how long they should be."""
    return min(o.steps // o.case.epoch for o in runs), runs[0].case.recipe.steps // runs[0].case.epoch


def _length(runs: Sequence[Outcome]) -> str:
    short, wanted = _epochs(runs)
    return "" if short >= wanted else f", after {short:,} epochs instead of {wanted:,}"


def _few(runs: Sequence[Outcome]) -> Judgement | None:
    """Why runs say nothing about a published number: there are none, or they have hardly begun."""
    if not runs:
        return NOTHING
    short, wanted = _epochs(runs)
    return (
        None
        if LEAST * short >= wanted
        else (None, "not comparable", f"{short:,} of {wanted:,} epochs were trained")
    )


def _accuracy(claim: Claim, everything: Runs) -> Judgement:
    """The mean share of right outputs over folds in percent, with Student's interval."""
    runs = everything.of(claim.unit, claim.where)
    if few := _few(runs):
        return few
    ours = stats.mean([PERCENT * (1 - o.test) for o in runs], 0.0, PERCENT)
    return ours, word(near(claim, ours)), f"mean over {len(runs)} folds{_length(runs)}"


def _exact(claim: Claim, everything: Runs) -> Judgement:
    """The share of folds whose weights are the solution and nothing else."""
    runs = everything.of(claim.unit, claim.where)
    if few := _few(runs):
        return few
    held = stats.success_rate([o.formula == "a*b" and o.sparsity < ROUNDING for o in runs])
    ours = Interval(PERCENT * held.estimate, PERCENT * held.low, PERCENT * held.high, held.n, held.method)
    return ours, word(near(claim, ours)), f"weights within {ROUNDING:g} of (1, 1){_length(runs)}"


RULES: dict[str, Callable[[Claim, Runs], Judgement]] = {
    "test_output_accuracy": _accuracy,
    "test_output_accuracy_rounded": _accuracy,
    "runs_with_weights_exactly_1": _exact,
}
