"""What it takes for our networks that read images to agree with a published number."""

import math
from collections.abc import Callable, Sequence

from nalm import stats
from nalm.claims.rules.rates import NOTHING, ROUNDING, Judgement, Runs, near, word
from nalm.config import Claim
from nalm.results.runs import Outcome
from nalm.stats import Interval

PERCENT = 100.0
LEAST = 10  # one part in so many of the published epochs
WIDE = 0.6  # of the scale; three runs of three leave .56 of it open


def _epochs(runs: Sequence[Outcome]) -> tuple[int, int]:
    """How long ours were trained, and how long they should be."""
    return min(o.steps // o.case.epoch for o in runs), runs[0].case.recipe.steps // runs[0].case.epoch


def folds(runs: Sequence[Outcome]) -> str:
    """How many folds there are: seeds beyond the last begin again with the first."""
    count = len({o.seed % o.case.task.folds for o in runs})
    many = "one fold" if count == 1 else f"{count} folds"
    return many if count == len(runs) else f"{len(runs)} runs of {many}"


def told(
    claim: Claim, ours: Interval, epochs: tuple[int, int], words: str, scale: float = 1.0, slack: float = 0.0
) -> Judgement:
    """A verdict, unless our runs have hardly begun or are so few that nearly any number would agree.

    ``epochs`` are those trained and those wanted; ``scale`` is the range of what is measured.
    """
    short, wanted = epochs
    if LEAST * short < wanted:
        return ours, "not comparable", f"{words}: {short:,} of {wanted:,} epochs were trained"
    words += "" if short >= wanted else f", after {short:,} epochs instead of {wanted:,}"
    if math.isnan(ours.low):
        return ours, "not comparable", f"{words}: one run alone has no interval"
    agrees = near(claim, ours, slack)
    if agrees and ours.high - ours.low > WIDE * scale:
        return ours, "not comparable", f"{words}: too few runs, nearly any number would agree"
    return ours, word(agrees), words


def _accuracy(claim: Claim, everything: Runs) -> Judgement:
    """The mean share of right outputs over folds in percent, with Student's interval."""
    runs = everything.of(claim.unit, claim.where)
    if not runs:
        return NOTHING
    ours = stats.mean([PERCENT * (1 - o.test) for o in runs], 0.0, PERCENT)
    return told(claim, ours, _epochs(runs), f"mean over {folds(runs)}", PERCENT)


def _exact(claim: Claim, everything: Runs) -> Judgement:
    """The share of folds whose weights are the solution and nothing else."""
    runs = everything.of(claim.unit, claim.where)
    if not runs:
        return NOTHING
    held = stats.success_rate([o.formula == "a*b" and o.sparsity < ROUNDING for o in runs])
    ours = Interval(PERCENT * held.estimate, PERCENT * held.low, PERCENT * held.high, held.n, held.method)
    return told(claim, ours, _epochs(runs), f"weights within {ROUNDING:g} of (1, 1)", PERCENT)


RULES: dict[str, Callable[[Claim, Runs], Judgement]] = {
    "test_output_accuracy": _accuracy,
    "test_output_accuracy_rounded": _accuracy,
    "runs_with_weights_exactly_1": _exact,
}
