"""Rules for what was counted over training ranges, and for differences of success rates.

Only a count or a difference is published. What the published runs would have given is predicted from ours.
"""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from nalm import stats
from nalm.claims.rules.base import NOTHING, Judgement, NamedRuns, Rule, published_runs, tested, undecided
from nalm.claims.rules.rates import SEEDS, ranges_of
from nalm.config import Claim
from nalm.stats import Interval, Paired, Rate
from nalm.stats.interval import Array
from nalm.stats.two_counts import Chances

Held = npt.NDArray[np.bool_]
Holds = Callable[[Array], Held]  # of rates, or of the lead of one rate over another


def _counted(holds: Holds, words: str) -> Rule:
    """Make the rule that counts the ranges on which the rate of a case has a property.

    Ours is counted over the rows, of about as many seeds as theirs; what theirs would be is predicted from all seeds.
    """

    def rule(claim: Claim, everything: NamedRuns) -> Judgement:
        m = published_runs(claim) or SEEDS
        rows = everything.solved(claim.unit)
        ours = [everything.counted(claim.unit, where) for where in rows]
        rates = [Rate(found.solved, found.runs) for found in ours]

        def chance(rate: Rate, runs: int, prior: float) -> float:
            return float(stats.predicted(rate, runs, prior)[holds(np.arange(runs + 1) / runs)].sum())

        def chances(factor: int, prior: float) -> tuple[list[float], list[float]]:
            return [chance(rate.times(factor), m, prior) for rate in rates], []

        mine = np.array([sum(seeds.values()) / len(seeds) for seeds in rows.values()])
        return _judged(claim, holds(mine), chances, min((r.n for r in rates), default=0), words)

    return rule


def _versus(holds: Holds, words: str, pair: tuple[str, str] | None = None) -> Rule:
    """Make the rule that counts the ranges on which the lead of one case over another has a property.

    The claim names the two as "A vs B", unless ``pair`` does. Their runs are paired by seed.
    """

    def rule(claim: Claim, everything: NamedRuns) -> Judgement:
        first, second = pair or claim.unit.split(" vs ")
        m = published_runs(claim) or SEEDS
        a, b = everything.solved(first), everything.solved(second)
        both = [found for where in a if where in b if (found := _pairs(a[where], b[where])).n]

        def chance(pairs: Paired, runs: int, prior: float) -> float:
            leads = np.arange(-runs, runs + 1) / runs
            return float(stats.predicted_leads(pairs, runs, prior)[holds(leads)].sum())

        def chances(factor: int, prior: float) -> tuple[list[float], list[float]]:
            more = [p.times(factor) for p in both]
            return [chance(p, m, prior) for p in more], [chance(p, p.n, prior) for p in more]

        mine = np.array([(p.first - p.second) / p.n for p in both])
        said = f"{first} {words} {second}"
        return _judged(claim, holds(mine), chances, min((p.n for p in both), default=0), said)

    return rule


def _pairs(a: dict[int, bool], b: dict[int, bool]) -> Paired:
    seeds = a.keys() & b.keys()
    return Paired(
        sum(a[seed] and not b[seed] for seed in seeds),
        sum(b[seed] and not a[seed] for seed in seeds),
        len(seeds),
    )


def _judged(claim: Claim, held: Held, chances: Chances, n: int, words: str) -> Judgement:
    """Compare a published count with ours; ``held`` says of every range of ours whether it counts."""
    ranges, wanted = len(held), ranges_of(claim)
    if ranges < max(wanted, 1):
        return undecided(None, f"{ranges} of {wanted} ranges were run") if ranges else NOTHING
    count = int(sum(held))
    ours = Interval(count, count, count, ranges, "count of ranges")
    drawn = bool(chances(1, 1.0)[1])  # ours too, see same_count
    test = stats.same_count(round(claim.value), count if drawn else 0, chances, n)
    return tested(ours, test, f"{words} on {count} of {ranges} ranges")


def _difference(claim: Claim, everything: NamedRuns) -> Judgement:
    """Compare the difference of two rates, paired by seed."""
    a, b = (
        {(str(o.case.train), o.seed): o.solved for o in everything.of(name, claim.where)}
        for name in claim.unit.split(" minus ")
    )
    pairs = sorted(a.keys() & b.keys())
    if not pairs:
        return NOTHING
    found = stats.rate_difference([a[p] for p in pairs], [b[p] for p in pairs])
    ours = Interval(found.estimate, found.low, found.high, found.n, found.method)
    m = (published_runs(claim) or SEEDS) * len({where for where, _ in pairs})
    mine = Paired(sum(a[p] > b[p] for p in pairs), sum(a[p] < b[p] for p in pairs), len(pairs))
    return tested(ours, stats.same_difference(claim.value, mine, m, stats.RATE), "paired by seed")


RULES: dict[str, Rule] = {
    "success_rate_difference": _difference,
    "n_ranges_nonzero_success": _counted(lambda rate: rate > 0, "solved at least once"),
    "n_ranges_full_success": _counted(lambda rate: rate == 1, "always solved"),
    "n_ranges_NAC+_better": _versus(lambda lead: lead > 0, "above", ("NAC", "NALU")),
    "n_ranges_better_than_NALU": _versus(lambda lead: lead > 0, "above", ("INALU", "NALU")),
    "n_ranges_better": _versus(lambda lead: lead > 0, "above"),
    "n_ranges_equal": _versus(lambda lead: lead == 0, "equal to"),
    "n_ranges_worse": _versus(lambda lead: lead < 0, "below"),
}
