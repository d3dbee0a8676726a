"""Rules for the digits that networks read on their way to a result; they need curves."""

from collections.abc import Sequence

import numpy as np

from nalm import stats
from nalm.claims.rules.base import NOTHING, Judgement, NamedRuns, Rule, settled, tested, undecided
from nalm.claims.rules.images import PERCENT, POINTS, epochs, folds, unless_short
from nalm.config import Claim
from nalm.results.runs import Outcome
from nalm.stats import Interval, Margin

NORMAL = 1.96  # of a 95% interval
NO_CURVES = "no curves of our runs"


def _gain(claim: Claim, everything: NamedRuns) -> Judgement:
    """Compare how many more first digits are read behind a unit than behind the given operation, in percent."""
    runs = everything.of(claim.unit, claim.where)
    if not runs or _short(runs):
        return _untold(runs)
    read = {
        given: [_last(everything, o, "test.label1.rounded") for o in group]
        for given, group in _by_reference(runs).items()
    }
    if len(read) < 2 or any(value is None for values in read.values() for value in values):
        return undecided(None, NO_CURVES)
    ours, base = (stats.mean_of([PERCENT * float(v or 0) for v in read[given]]) for given in (False, True))
    lead = stats.Mean(ours.estimate - base.estimate, float(np.hypot(ours.error, base.error)), ours.n)
    told = stats.Mean(claim.value, lead.error, base.n)  # as many folds, and taken to spread as ours do
    test = stats.same_mean(told, lead, Margin.points(POINTS))
    half = NORMAL * lead.error
    gain = Interval(
        lead.estimate, lead.estimate - half, lead.estimate + half, len(runs), "difference of means"
    )
    return tested(gain, test, f"means over {folds(runs)}")


def _by_reference(runs: Sequence[Outcome]) -> dict[bool, list[Outcome]]:
    """Group runs by whether their arithmetic is given."""
    found: dict[bool, list[Outcome]] = {}
    for o in runs:
        found.setdefault(o.case.model[0].unit == "Fixed", []).append(o)
    return found


def _each_digit(claim: Claim, everything: NamedRuns) -> Judgement:
    """Compare "every digit is read in at least so many percent" of one published fold with our folds.

    A digit that no test pair of a fold shows does not count there.
    """
    runs = everything.of(claim.unit, claim.where)
    if not runs or _short(runs):
        return _untold(runs)
    lowest = []
    for o in runs:
        counts = everything.curves.get((o.case.key, o.seed), {}).get("test.confusion")
        if counts is None or not np.any(counts):
            return undecided(None, NO_CURVES)
        table = np.asarray(counts).reshape(-1, 10, 10).sum(0)
        shown = table.sum(1)
        occurs = shown > 0  # the test pairs of a fold may lack a digit
        lowest.append(PERCENT * float((np.diag(table)[occurs] / shown[occurs]).min()))
    ours = Interval(float(np.median(lowest)), min(lowest), max(lowest), len(lowest), "lowest of ten digits")
    above = sum(value >= claim.value for value in lowest)
    words = f"in {above} of {len(lowest)} runs every digit is read in {claim.value:g}% or more"
    return settled(ours, above > 0, words)


def _short(runs: Sequence[Outcome]) -> bool:
    trained, wanted = epochs(runs)
    return trained < wanted


def _untold(runs: Sequence[Outcome]) -> Judgement:
    """Return that nothing was run, or for too few epochs."""
    return unless_short(undecided(None, folds(runs)), epochs(runs)) if runs else NOTHING


def _last(everything: NamedRuns, o: Outcome, name: str) -> float | None:
    """Return the last value of a curve of a run."""
    values = everything.curves.get((o.case.key, o.seed), {}).get(name)
    return None if values is None else float(values[-1])


RULES: dict[str, Rule] = {"label1_accuracy_gain": _gain, "min_per_digit_accuracy": _each_digit}
