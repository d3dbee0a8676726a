"""Rules for networks that read images."""

import math
from collections.abc import Sequence

from nalm import stats
from nalm.claims.rules.base import NOTHING, Judgement, NamedRuns, Rule, near, word
from nalm.claims.rules.rates import ROUNDING
from nalm.config import Claim
from nalm.results.runs import Outcome
from nalm.stats import Interval

PERCENT = 100.0
LEAST = 10  # runs are compared from a tenth of the published epochs
WIDE = 0.6  # share of the scale: an interval this wide decides nothing; that of 3 solved of 3 runs is .56


def _epochs(runs: Sequence[Outcome]) -> tuple[int, int]:
    """Return the fewest epochs of our runs, and the published number."""
    return min(o.steps // o.case.epoch for o in runs), runs[0].case.recipe.steps // runs[0].case.epoch


def folds(runs: Sequence[Outcome]) -> str:
    """Describe the number of folds; a seed beyond the last fold begins again with the first."""
    digits = runs[0].case.digits
    assert digits is not None
    count = len({o.seed % digits.folds for o in runs})
    many = "one fold" if count == 1 else f"{count} folds"
    return many if count == len(runs) else f"{len(runs)} runs of {many}"


def verdict_if_trained_enough(
    claim: Claim, ours: Interval, epochs: tuple[int, int], words: str, scale: float = 1.0, slack: float = 0.0
) -> Judgement:
    """Compare, unless our runs are too short, or so few that nearly any number would agree.

    ``epochs`` are those trained and those published; ``scale`` is the range of what is measured.
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


def _accuracy(claim: Claim, everything: NamedRuns) -> Judgement:
    """Compare the mean share of right outputs over folds, in percent, with Student's interval."""
    runs = everything.of(claim.unit, claim.where)
    if not runs:
        return NOTHING
    ours = stats.mean([PERCENT * (1 - o.test) for o in runs], 0.0, PERCENT)
    return verdict_if_trained_enough(claim, ours, _epochs(runs), f"mean over {folds(runs)}", PERCENT)


def _exact(claim: Claim, everything: NamedRuns) -> Judgement:
    """Compare the share of folds whose weights are exactly the solution."""
    runs = everything.of(claim.unit, claim.where)
    if not runs:
        return NOTHING
    held = stats.success_rate([o.formula == "a*b" and o.sparsity < ROUNDING for o in runs])
    ours = Interval(PERCENT * held.estimate, PERCENT * held.low, PERCENT * held.high, held.n, held.method)
    return verdict_if_trained_enough(
        claim, ours, _epochs(runs), f"weights within {ROUNDING:g} of (1, 1)", PERCENT
    )


RULES: dict[str, Rule] = {
    "test_output_accuracy": _accuracy,
    "test_output_accuracy_rounded": _accuracy,
    "runs_with_weights_exactly_1": _exact,
}
