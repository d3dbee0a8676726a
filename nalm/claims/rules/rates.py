"""Rules for success rates, counts of training ranges, steps, errors and thresholds."""

from collections.abc import Callable, Sequence

from nalm import stats
from nalm.claims.rules.base import NOTHING, Judgement, NamedRuns, Rule, near, word
from nalm.config import Claim
from nalm.experiments.published import AND
from nalm.stats import Interval

SEEDS = 25  # runs behind a rate that was published without their number (Mistry 2023, chapters 3 to 6)
SLACK = 0.1  # relative tolerance of a computed threshold: same samples, but rounded differently
ROUNDING = 1e-6  # sparsity errors below this come from rounding a weight that is a whole number
ROUNDED = 1e-11  # squared errors below this come from rounding to float32
TWO_DIGITS = 0.05  # relative tolerance of a median that was published with two digits, such as 1.4e6


def _all(claim: Claim) -> int:
    """Return how many ranges a count is about: 9 for '9 ranges'."""
    number, _, what = claim.where.partition(" ")
    return int(number) if number.isdigit() and what == "ranges" else 1


def _success(claim: Claim, everything: NamedRuns) -> Judgement:
    runs = everything.of(claim.unit, claim.where)
    if not runs:
        return NOTHING
    ranges, wanted = len({str(o.case.train) for o in runs}), max(_all(claim), len(claim.where.split(AND)))
    if ranges < wanted:
        return None, "not comparable", f"{ranges} of {wanted} ranges were run"
    return _share(claim, [o.solved for o in runs], (claim.n or SEEDS) * wanted)


def _share(claim: Claim, solved: Sequence[bool], n: int) -> Judgement:
    ours = stats.success_rate(solved)
    low, high = claim.low, claim.high
    if low is None or high is None:
        theirs = stats.wilson(round(claim.value * n), n)
        low, high = theirs.low, theirs.high
    holds = claim.value in ours or low <= ours.estimate <= high
    return ours, word(holds), f"published within [{low:.2f}, {high:.2f}] for {n} runs"


def _percent(claim: Claim, everything: NamedRuns) -> Judgement:
    """Compare a share of runs below the threshold, in percent, within the training range or beyond it."""
    inside = claim.metric.startswith("interpolation")
    errors = [
        (o.validation if inside else o.test, o.threshold) for o in everything.of(claim.unit, claim.where)
    ]
    solved = [error < limit for error, limit in errors]
    return _share(claim.replace(value=claim.value / 100), solved, claim.n or SEEDS) if solved else NOTHING


def _some(claim: Claim, everything: NamedRuns) -> Judgement:
    runs = everything.of(claim.unit, claim.where)
    if not runs:
        return NOTHING
    ours = stats.success_rate([o.solved for o in runs])
    return ours, word((ours.estimate > 0) == (claim.value > 0)), "published: whether any seed is solved"


def _at_least(claim: Claim, everything: NamedRuns) -> Judgement:
    runs = everything.of(claim.unit, claim.where)
    if not runs:
        return NOTHING
    ours = stats.success_rate([o.solved for o in runs])
    return ours, word(ours.high >= claim.value), f"published: at least {claim.value:g}"


def _counted(holds: Callable[[float], bool], words: str) -> Rule:
    def rule(claim: Claim, everything: NamedRuns) -> Judgement:
        rates = everything.rates(claim.unit)
        if not rates:
            return NOTHING
        if len(rates) < _all(claim):
            return None, "not comparable", f"{len(rates)} of {_all(claim)} ranges were run"
        count = sum(map(holds, rates.values()))
        ours = Interval(count, count, count, len(rates), "count of ranges")
        return ours, word(count == claim.value), f"{words} on {count} of {len(rates)} ranges"

    return rule


def _versus(holds: Callable[[float, float], bool], words: str, pair: tuple[str, str] | None = None) -> Rule:
    """Make the rule that counts the ranges on which the rates of two cases stand in a relation.

    The claim names the two as "A vs B", unless ``pair`` does.
    """

    def rule(claim: Claim, everything: NamedRuns) -> Judgement:
        first, second = pair or claim.unit.split(" vs ")
        a, b = everything.rates(first), everything.rates(second)
        both = [where for where in a if where in b]
        if len(both) < _all(claim):
            return None, "not comparable", f"{len(both)} of {_all(claim)} ranges were run"
        count = sum(holds(a[where], b[where]) for where in both)
        ours = Interval(count, count, count, len(both), "count of ranges")
        return ours, word(count == claim.value), f"{first} {words} {second} on {count} of {len(both)} ranges"

    return rule


def _difference(claim: Claim, everything: NamedRuns) -> Judgement:
    first, second = claim.unit.split(" minus ")
    a, b = (
        {(str(o.case.train), o.seed): o.solved for o in everything.of(name, claim.where)}
        for name in (first, second)
    )
    pairs = sorted(a.keys() & b.keys())
    if not pairs:
        return NOTHING
    found = stats.rate_difference([a[p] for p in pairs], [b[p] for p in pairs])
    ours = Interval(found.estimate, found.low, found.high, found.n, found.method)
    return ours, word(claim.value in ours), f"paired by seed, p = {found.p:.2g}"


def _error(claim: Claim, everything: NamedRuns) -> Judgement:
    """Compare the mean error at the lowest validation error, with Student's interval as published."""
    name = "validation" if claim.metric.startswith("interpolation") else "test"
    errors = [getattr(o, name) for o in everything.of(claim.unit, claim.where)]
    if not errors:
        return NOTHING
    ours = stats.mean(errors)
    return ours, word(near(claim, ours, ROUNDED)), f"equal below {ROUNDED:g}, the rounding of float32"


def _best_step(claim: Claim, everything: NamedRuns) -> Judgement:
    """Compare what Table 1 of Mistry 2022c calls solved at: the step with the lowest validation error."""
    runs = everything.of(claim.unit, claim.where)
    if not runs:
        return NOTHING
    ours = stats.mean([o.best_step for o in runs])
    return ours, word(near(claim, ours, 1_000)), "the step with the lowest validation error"


def _steps(claim: Claim, everything: NamedRuns) -> list[int]:
    """Return the steps at which the solved runs were solved."""
    runs = everything.of(claim.unit, claim.where)
    return [o.solved_at for o in runs if o.solved and o.solved_at is not None]


def _unsolved(everything: NamedRuns) -> Judgement:
    return NOTHING if not everything.named else (None, "not comparable", "no solved run of ours")


def _solved_at(claim: Claim, everything: NamedRuns) -> Judgement:
    steps = _steps(claim, everything)
    if not steps:
        return _unsolved(everything)
    ours = stats.solved_at_published(steps)
    slack = 1_000 if claim.low == claim.high else 0  # all published runs lie between two evaluations
    return ours, word(near(claim, ours, slack)), "evaluated every 1,000 steps"


def _median(claim: Claim, everything: NamedRuns) -> Judgement:
    steps = _steps(claim, everything)
    if not steps:
        return _unsolved(everything)
    ours = stats.median(steps)
    slack = max(1_000, TWO_DIGITS * claim.value)
    return ours, word(near(claim, ours, slack)), "published with two digits, evaluated every 1,000 steps"


def _sparsity(claim: Claim, everything: NamedRuns) -> Judgement:
    errors = [o.sparsity for o in everything.of(claim.unit, claim.where) if o.solved]
    if not errors:
        return _unsolved(everything)
    ours = stats.sparsity_published(errors)
    return ours, word(near(claim, ours, ROUNDING)), f"equal below {ROUNDING:g}, the rounding of a weight"


def _threshold(claim: Claim, everything: NamedRuns) -> Judgement:
    values = [o.threshold for o in everything.of(claim.unit, claim.where)]
    if not values:
        return NOTHING
    ours = Interval(values[0], min(values), max(values), len(values), "computed")
    holds = abs(ours.estimate - claim.value) <= SLACK * claim.value
    return ours, word(holds), f"equal within {SLACK:.0%}"


RULES: dict[str, Rule] = {
    "success_rate": _success,
    "mean_success_rate": _success,
    "success_rate_lower_bound": _at_least,
    "success_rate_difference": _difference,
    "n_ranges_nonzero_success": _counted(lambda rate: rate > 0, "solved at least once"),
    "n_ranges_full_success": _counted(lambda rate: rate == 1, "always solved"),
    "n_ranges_NAC+_better": _versus(lambda a, b: a > b, "above", ("NAC", "NALU")),
    "n_ranges_better_than_NALU": _versus(lambda a, b: a > b, "above", ("INALU", "NALU")),
    "n_ranges_better": _versus(lambda a, b: a > b, "above"),
    "n_ranges_equal": _versus(lambda a, b: a == b, "equal to"),
    "n_ranges_worse": _versus(lambda a, b: a < b, "below"),
    "interpolation_success": _percent,
    "extrapolation_success": _percent,
    "extrapolation_solved_by_some_seed": _some,
    "interpolation_mse": _error,
    "extrapolation_mse": _error,
    "solved_at": _best_step,
    "solved_at_mean": _solved_at,
    "solved_at_median": _median,
    "sparsity_error_mean": _sparsity,
    "success_threshold_mse": _threshold,
}
