"""Published numbers: the package's table of them, and how ours stand beside each."""

import csv
import functools
import gzip
import importlib.resources
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from nalm import stats
from nalm.config import Case, Claim, Experiment
from nalm.runs import Outcome
from nalm.stats import Interval

SEEDS = 25  # behind a claim that states a rate and no number of runs (thesis chapters 3 to 6)
ROUNDING = 1e-6  # sparsity errors below this are the rounding of a weight that is a whole number


@functools.cache
def _table() -> tuple[dict[str, str], ...]:
    """Every row of the package's table, made by scripts/claims.py."""
    packed = importlib.resources.files("nalm.data").joinpath("claims.csv.gz").read_bytes()
    return tuple(csv.DictReader(gzip.decompress(packed).decode().splitlines()))


def claims(
    task: str, operation: str = "", places: Sequence[str] = (), units: Sequence[str] = ()
) -> tuple[Claim, ...]:
    """The claims about a task; optionally of one operation, of places that begin so, of units (or " vs ")."""
    return tuple(
        _claim(row)
        for row in _table()
        if row["task"] == task
        and (not operation or row["operation"] == operation)
        and (not places or row["place"].startswith(tuple(places)))
        and (not units or row["unit"] in units or any(u in row["unit"] for u in units if u.startswith(" ")))
    )


def _claim(row: dict[str, str]) -> Claim:
    return Claim(
        row["source"],
        row["metric"],
        float(row["value"]),
        float(row["low"]) if row["low"] else None,
        float(row["high"]) if row["high"] else None,
        int(row["n"]) if row["n"] else None,
        *(row[name] for name in ("note", "place", "task", "unit", "operation", "where")),
    )


@dataclass(frozen=True)
class Verdict:
    """A claim beside our number: agrees, differs, or not comparable, and why."""

    claim: Claim
    ours: Interval | None
    verdict: str
    why: str


Runs = Sequence[Outcome]


def judge(claim: Claim, outcomes: Runs) -> Verdict:
    """Put our runs beside a published number.

    They agree when one lies within the other's interval. Rates that were published without an interval are
    taken as shares of 25 runs.
    """
    rule = RULES.get(claim.metric)
    if rule is None:
        return Verdict(claim, None, "not comparable", f"no rule for {claim.metric}")
    inputs = next((int(w) for w in claim.task.split() if w.isdigit()), None)
    about = [o for o in outcomes if inputs is None or o.case.inputs == inputs]
    about = [o for o in about if not claim.operation or o.case.operation == claim.operation]
    ours, verdict, why = rule(claim, about)
    return Verdict(claim, ours, verdict, why)


def of_published(experiment: Experiment, outcomes: Runs) -> list[Outcome]:
    """The runs of an experiment's own cases: not those of other lengths, seeds aside, or of somebody's own unit."""
    hashes = {case.hash for case in experiment.cases}
    return [o for o in outcomes if o.case.hash in hashes]


def verdicts(experiment: Experiment, outcomes: Runs) -> list[Verdict]:
    """Every claim of a published experiment beside the runs of its own cases."""
    published = of_published(experiment, outcomes)
    return [judge(claim, published) for claim in experiment.claims]


def unit_of(case: Case) -> str:
    """The units of a case's model, as tables name them."""
    return "-".join(layer.label for layer in case.model)


def loss_of(case: Case) -> str:
    """What a case is trained on, in a few words."""
    recipe = case.recipe
    return f"{recipe.loss}, then {recipe.then}" if recipe.then else recipe.loss


def label(case: Case) -> str:
    """A case among others of its task: the unit, and what of its recipe and its test is not the usual."""
    said = [loss_of(case)] if loss_of(case) != "mse" else []
    if case.threshold.metric != "mse" or case.test_inputs:
        said += [f"{case.model[0].out} wide"] if len(case.model) > 1 else []
        said += [f"{case.test_inputs} inputs"] if case.test_inputs else []
        said += [f"on {case.test}"] if case.test != case.train else []
        said += ["snapped"] if case.threshold.metric == "rule" else []
    return unit_of(case) + (f" ({', '.join(said)})" if said else "")


def _of(outcomes: Runs, unit: str, where: str = "") -> list[Outcome]:
    return [o for o in outcomes if unit_of(o.case) == unit and (not where or str(o.case.train) == where)]


def _ranges(outcomes: Runs, unit: str) -> dict[str, float]:
    """Success rates of a unit by training range."""
    groups: dict[str, list[bool]] = {}
    for o in _of(outcomes, unit):
        groups.setdefault(str(o.case.train), []).append(o.solved)
    return {where: sum(solved) / len(solved) for where, solved in groups.items()}


Judgement = tuple[Interval | None, str, str]
NOTHING: Judgement = (None, "not comparable", "no runs of ours")


def _all(claim: Claim) -> int:
    """How many ranges a count is about, such as 9 of '9 ranges'."""
    number = claim.where.split(" ")[0]
    return int(number) if number.isdigit() else 1


def _word(holds: bool) -> str:
    return "agrees" if holds else "differs"


def _success(claim: Claim, outcomes: Runs) -> Judgement:
    runs = _of(outcomes, claim.unit, claim.where)
    if not runs:
        return NOTHING
    ours = stats.success_rate([o.solved for o in runs])
    n = claim.n or SEEDS
    low, high = claim.low, claim.high
    if low is None or high is None:
        theirs = stats.wilson(round(claim.value * n), n)
        low, high = theirs.low, theirs.high
    holds = claim.value in ours or low <= ours.estimate <= high
    return ours, _word(holds), f"published within [{low:.2f}, {high:.2f}] for {n} runs"


def _at_least(claim: Claim, outcomes: Runs) -> Judgement:
    runs = _of(outcomes, claim.unit, claim.where)
    if not runs:
        return NOTHING
    ours = stats.success_rate([o.solved for o in runs])
    return ours, _word(ours.high >= claim.value), f"published: at least {claim.value:g}"


def _counted(holds: Callable[[float], bool], words: str) -> Callable[[Claim, Runs], Judgement]:
    def rule(claim: Claim, outcomes: Runs) -> Judgement:
        ranges = _ranges(outcomes, claim.unit)
        if not ranges:
            return NOTHING
        if len(ranges) < _all(claim):
            return None, "not comparable", f"{len(ranges)} of {_all(claim)} ranges were run"
        count = sum(map(holds, ranges.values()))
        ours = Interval(count, count, count, len(ranges), "count of ranges")
        return ours, _word(count == claim.value), f"{words} on {count} of {len(ranges)} ranges"

    return rule


def _more(first: str, second: str) -> Callable[[Claim, Runs], Judgement]:
    def rule(claim: Claim, outcomes: Runs) -> Judgement:
        a, b = _ranges(outcomes, first), _ranges(outcomes, second)
        both = [where for where in a if where in b]
        if len(both) < _all(claim):
            return None, "not comparable", f"{len(both)} of {_all(claim)} ranges were run"
        count = sum(a[where] > b[where] for where in both)
        ours = Interval(count, count, count, len(both), "count of ranges")
        return ours, _word(count == claim.value), f"{first} above {second} on {count} of {len(both)} ranges"

    return rule


def _difference(claim: Claim, outcomes: Runs) -> Judgement:
    first, second = claim.unit.split(" minus ")
    a, b = ({o.seed: o.solved for o in _of(outcomes, unit, claim.where)} for unit in (first, second))
    seeds = sorted(a.keys() & b.keys())
    if not seeds:
        return NOTHING
    found = stats.rate_difference([a[s] for s in seeds], [b[s] for s in seeds])
    ours = Interval(found.estimate, found.low, found.high, found.n, found.method)
    return ours, _word(claim.value in ours), f"paired by seed, p = {found.p:.2g}"


def _near(claim: Claim, ours: Interval, slack: float = 0.0) -> bool:
    low = claim.value if claim.low is None else claim.low
    high = claim.value if claim.high is None else claim.high
    inside = ours.low - slack <= claim.value <= ours.high + slack
    return inside or low - slack <= ours.estimate <= high + slack


def _solved_at(claim: Claim, outcomes: Runs) -> Judgement:
    runs = [o for o in _of(outcomes, claim.unit, claim.where) if o.solved and o.solved_at is not None]
    if not runs:
        return NOTHING if not outcomes else (None, "not comparable", "no solved run of ours")
    ours = stats.solved_at_published([o.solved_at for o in runs if o.solved_at is not None])
    slack = 1_000 if claim.low == claim.high else 0  # all runs of theirs between two evaluations
    return ours, _word(_near(claim, ours, slack)), "evaluated every 1,000 steps"


def _sparsity(claim: Claim, outcomes: Runs) -> Judgement:
    errors = [o.sparsity for o in _of(outcomes, claim.unit, claim.where) if o.solved]
    if not errors:
        return NOTHING if not outcomes else (None, "not comparable", "no solved run of ours")
    ours = stats.sparsity_published(errors)
    return ours, _word(_near(claim, ours, ROUNDING)), f"equal below {ROUNDING:g}, the rounding of a weight"


RULES: dict[str, Callable[[Claim, Runs], Judgement]] = {
    "success_rate": _success,
    "success_rate_lower_bound": _at_least,
    "success_rate_difference": _difference,
    "n_ranges_nonzero_success": _counted(lambda rate: rate > 0, "solved at least once"),
    "n_ranges_full_success": _counted(lambda rate: rate == 1, "always solved"),
    "n_ranges_NAC+_better": _more("NAC", "NALU"),
    "n_ranges_better_than_NALU": _more("INALU", "NALU"),
    "solved_at_mean": _solved_at,
    "sparsity_error_mean": _sparsity,
}
