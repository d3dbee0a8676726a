"""Rules for success rates, lower bounds of them, and thresholds."""

from nalm import stats
from nalm.claims.rules.base import (
    NOTHING,
    Judgement,
    NamedRuns,
    Rule,
    published_runs,
    settled,
    tested,
    undecided,
)
from nalm.config import Claim
from nalm.experiments.published import AND
from nalm.stats import Interval

SEEDS = 25  # runs behind a rate that was published without their number (Mistry 2023, chapters 3 to 6)
SLACK = 0.1  # relative tolerance of a computed threshold: same samples, but rounded differently


def ranges_of(claim: Claim) -> int:
    """Return how many ranges a claim is about: 9 for '9 ranges'."""
    number, _, what = claim.where.partition(" ")
    return int(number) if number.isdigit() and what == "ranges" else 1


def _success(claim: Claim, everything: NamedRuns) -> Judgement:
    found = everything.counted(claim.unit, claim.where)
    if not found.runs:
        return NOTHING
    wanted = max(ranges_of(claim), len(claim.where.split(AND)))
    if found.ranges < wanted:
        return undecided(None, f"{found.ranges} of {wanted} ranges were run")
    return share(claim.value, _behind(claim) * wanted, found.solved, found.runs)


def share(value: float, n: int, solved: int, runs: int) -> Judgement:
    """Compare the published share of n runs with ours by Fisher's exact test."""
    k = round(value * n)
    words = f"{k} of {n} published runs, {solved} of {runs} of ours, Fisher's exact test"
    return tested(stats.wilson(solved, runs), stats.same_rate(k, n, solved, runs), words)


def _behind(claim: Claim) -> int:
    """Return the number of runs behind a rate: stated, or that of its interval, or 25."""
    if claim.n is None and claim.low is not None and claim.high is not None:
        return stats.runs_behind(claim.value, claim.low, claim.high)
    return published_runs(claim) or SEEDS


def _percent(claim: Claim, everything: NamedRuns) -> Judgement:
    """Compare a share of runs below the threshold, in percent, within the training range or beyond it."""
    inside = claim.metric.startswith("interpolation")
    errors = [
        (o.validation if inside else o.test, o.threshold) for o in everything.of(claim.unit, claim.where)
    ]
    solved = [error < limit for error, limit in errors]
    return share(claim.value / 100, _behind(claim), sum(solved), len(solved)) if solved else NOTHING


def _some(claim: Claim, everything: NamedRuns) -> Judgement:
    """Compare a share of which only is known whether it is 0: none of 25 runs, or at least one."""
    if not claim.value:
        return _success(claim, everything)
    return _at_least(claim.replace(value=1 / _behind(claim)), everything)


def _at_least(claim: Claim, everything: NamedRuns) -> Judgement:
    found = everything.counted(claim.unit, claim.where)
    if not found.runs:
        return NOTHING
    n, solved, runs = _behind(claim), found.solved, found.runs
    k = round(claim.value * n)
    words = f"at least {k} of {n} published runs, {solved} of {runs} of ours, Fisher's one-sided test"
    return tested(stats.wilson(solved, runs), stats.at_least(k, n, solved, runs), words)


def _threshold(claim: Claim, everything: NamedRuns) -> Judgement:
    values = [o.threshold for o in everything.of(claim.unit, claim.where)]
    if not values:
        return NOTHING
    ours = Interval(values[0], min(values), max(values), len(values), "computed")
    return settled(ours, abs(ours.estimate - claim.value) <= SLACK * claim.value, f"equal within {SLACK:.0%}")


RULES: dict[str, Rule] = {
    "success_rate": _success,
    "mean_success_rate": _success,
    "success_rate_lower_bound": _at_least,
    "interpolation_success": _percent,
    "extrapolation_success": _percent,
    "extrapolation_solved_by_some_seed": _some,
    "success_threshold_mse": _threshold,
}
