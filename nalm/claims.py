"""Published numbers: the package's table of them, and how ours stand beside each."""

import csv
import functools
import gzip
import importlib.resources
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from nalm import stats
from nalm.config import Case, Claim, Experiment
from nalm.labels import labels
from nalm.labels import unit_of as unit_of
from nalm.runs import Outcome
from nalm.stats import Interval

SEEDS = 25  # behind a claim that states a rate and no number of runs (thesis chapters 3 to 6)
AND = " + "  # between the ranges of a claim about several
SLACK = 0.1  # relative, of a computed threshold: samples are the published ones, roundings are ours
ROUNDING = 1e-6  # sparsity errors below this are the rounding of a weight that is a whole number


@functools.cache
def _table() -> dict[str, list[dict[str, str]]]:
    """Every row of the package's table, made by scripts/claims.py, by its task."""
    packed = importlib.resources.files("nalm.data").joinpath("claims.csv.gz").read_bytes()
    found: dict[str, list[dict[str, str]]] = {}
    for row in csv.DictReader(gzip.decompress(packed).decode().splitlines()):
        found.setdefault(row["task"], []).append(row)
    return found


def claims(
    task: str, operation: str = "", places: Sequence[str] = (), units: Sequence[str] = ()
) -> tuple[Claim, ...]:
    """The claims about a task; optionally of one operation, of places that begin so, of units (or " vs ")."""
    return tuple(
        _claim(row)
        for row in _table().get(task, ())
        if (not operation or row["operation"] == operation)
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


@dataclass(frozen=True)
class Runs:
    """Runs of ours, each with what its case is called and the range it was trained on: what a rule looks at."""

    named: Sequence[tuple[str, str, Outcome]]

    @classmethod
    def of_cases(cls, outcomes: Sequence[Outcome], names: Mapping[Case, str]) -> "Runs":
        """Runs with the labels of their cases; runs of one case share its value, mostly."""
        known: dict[int, tuple[str, str]] = {}
        for o in outcomes:
            if id(o.case) not in known:
                known[id(o.case)] = names[o.case], str(o.case.train)
        return cls([(*known[id(o.case)], o) for o in outcomes])

    def about(self, claim: Claim) -> "Runs":
        """Those with the claim's number of inputs and operation."""
        inputs = re.search(r"(\d+) inputs", claim.task)
        return Runs(
            [
                run
                for run in self.named
                if (inputs is None or run[2].case.inputs == int(inputs.group(1)))
                and (not claim.operation or run[2].case.operation == claim.operation)
            ]
        )

    def of(self, name: str, where: str = "") -> list[Outcome]:
        """Those of the cases called so; trained on a range, on any of several (joined by " + "), or on all."""
        wanted = None if not where or where == "9 ranges" else where.split(AND)
        return [
            o for called, train, o in self.named if called == name and (wanted is None or train in wanted)
        ]

    def rates(self, name: str) -> dict[str, float]:
        """Success rates by training range."""
        groups: dict[str, list[bool]] = {}
        for called, train, o in self.named:
            if called == name:
                groups.setdefault(train, []).append(o.solved)
        return {where: sum(solved) / len(solved) for where, solved in groups.items()}


def judge(claim: Claim, runs: Runs | Sequence[Outcome]) -> Verdict:
    """Put our runs beside a published number.

    They agree when one lies within the other's interval. Rates that were published without an interval are
    taken as shares of 25 runs.
    """
    rule = RULES.get(claim.metric)
    if rule is None:
        return Verdict(claim, None, "not comparable", f"no rule for {claim.metric}")
    if not isinstance(runs, Runs):
        runs = Runs.of_cases(runs, labels(o.case for o in runs))
    ours, verdict, why = rule(claim, runs.about(claim))
    return Verdict(claim, ours, verdict, why)


def of_published(experiment: Experiment, outcomes: Sequence[Outcome]) -> list[Outcome]:
    """The runs of an experiment's own cases: not those of other lengths, seeds aside, or of somebody's own unit."""
    hashes = {case.hash for case in experiment.cases}
    return [o for o in outcomes if o.case.hash in hashes]


def verdicts(experiment: Experiment, outcomes: Sequence[Outcome]) -> list[Verdict]:
    """Every claim of a published experiment beside the runs of its own cases."""
    runs = Runs.of_cases(of_published(experiment, outcomes), labels(experiment.cases))
    return [judge(claim, runs) for claim in experiment.claims]


Judgement = tuple[Interval | None, str, str]
NOTHING: Judgement = (None, "not comparable", "no runs of ours")


def _all(claim: Claim) -> int:
    """How many ranges a count is about, such as 9 of '9 ranges'."""
    number = claim.where.split(" ")[0]
    return int(number) if number.isdigit() else 1


def _word(holds: bool) -> str:
    return "agrees" if holds else "differs"


def _success(claim: Claim, everything: Runs) -> Judgement:
    runs = everything.of(claim.unit, claim.where)
    if not runs:
        return NOTHING
    ranges, wanted = len({str(o.case.train) for o in runs}), max(_all(claim), len(claim.where.split(AND)))
    if ranges < wanted:
        return None, "not comparable", f"{ranges} of {wanted} ranges were run"
    ours = stats.success_rate([o.solved for o in runs])
    n = (claim.n or SEEDS) * wanted
    low, high = claim.low, claim.high
    if low is None or high is None:
        theirs = stats.wilson(round(claim.value * n), n)
        low, high = theirs.low, theirs.high
    holds = claim.value in ours or low <= ours.estimate <= high
    return ours, _word(holds), f"published within [{low:.2f}, {high:.2f}] for {n} runs"


def _at_least(claim: Claim, everything: Runs) -> Judgement:
    runs = everything.of(claim.unit, claim.where)
    if not runs:
        return NOTHING
    ours = stats.success_rate([o.solved for o in runs])
    return ours, _word(ours.high >= claim.value), f"published: at least {claim.value:g}"


def _counted(holds: Callable[[float], bool], words: str) -> Callable[[Claim, Runs], Judgement]:
    def rule(claim: Claim, everything: Runs) -> Judgement:
        rates = everything.rates(claim.unit)
        if not rates:
            return NOTHING
        if len(rates) < _all(claim):
            return None, "not comparable", f"{len(rates)} of {_all(claim)} ranges were run"
        count = sum(map(holds, rates.values()))
        ours = Interval(count, count, count, len(rates), "count of ranges")
        return ours, _word(count == claim.value), f"{words} on {count} of {len(rates)} ranges"

    return rule


def _versus(
    holds: Callable[[float, float], bool], words: str, pair: tuple[str, str] | None = None
) -> Callable[[Claim, Runs], Judgement]:
    """On how many ranges a relation holds between the rates of two, named by the claim as "A vs B"."""

    def rule(claim: Claim, everything: Runs) -> Judgement:
        first, second = pair or claim.unit.split(" vs ")
        a, b = everything.rates(first), everything.rates(second)
        both = [where for where in a if where in b]
        if len(both) < _all(claim):
            return None, "not comparable", f"{len(both)} of {_all(claim)} ranges were run"
        count = sum(holds(a[where], b[where]) for where in both)
        ours = Interval(count, count, count, len(both), "count of ranges")
        return ours, _word(count == claim.value), f"{first} {words} {second} on {count} of {len(both)} ranges"

    return rule


def _difference(claim: Claim, everything: Runs) -> Judgement:
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
    return ours, _word(claim.value in ours), f"paired by seed, p = {found.p:.2g}"


def _near(claim: Claim, ours: Interval, slack: float = 0.0) -> bool:
    low = claim.value if claim.low is None else claim.low
    high = claim.value if claim.high is None else claim.high
    inside = ours.low - slack <= claim.value <= ours.high + slack
    return inside or low - slack <= ours.estimate <= high + slack


def _solved_at(claim: Claim, everything: Runs) -> Judgement:
    runs = [o for o in everything.of(claim.unit, claim.where) if o.solved and o.solved_at is not None]
    if not runs:
        return NOTHING if not everything.named else (None, "not comparable", "no solved run of ours")
    ours = stats.solved_at_published([o.solved_at for o in runs if o.solved_at is not None])
    slack = 1_000 if claim.low == claim.high else 0  # all runs of theirs between two evaluations
    return ours, _word(_near(claim, ours, slack)), "evaluated every 1,000 steps"


def _sparsity(claim: Claim, everything: Runs) -> Judgement:
    errors = [o.sparsity for o in everything.of(claim.unit, claim.where) if o.solved]
    if not errors:
        return NOTHING if not everything.named else (None, "not comparable", "no solved run of ours")
    ours = stats.sparsity_published(errors)
    return ours, _word(_near(claim, ours, ROUNDING)), f"equal below {ROUNDING:g}, the rounding of a weight"


def _threshold(claim: Claim, everything: Runs) -> Judgement:
    values = [o.threshold for o in everything.of(claim.unit, claim.where)]
    if not values:
        return NOTHING
    ours = Interval(values[0], min(values), max(values), len(values), "computed")
    holds = abs(ours.estimate - claim.value) <= SLACK * claim.value
    return ours, _word(holds), f"equal within {SLACK:.0%}"


RULES: dict[str, Callable[[Claim, Runs], Judgement]] = {
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
    "solved_at_mean": _solved_at,
    "sparsity_error_mean": _sparsity,
    "success_threshold_mse": _threshold,
}
