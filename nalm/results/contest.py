"""Compare two units within one folder: runs paired by task and seed, with Holm's correction."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from nalm import stats
from nalm.config import Case, Task
from nalm.config.labels import without_hash
from nalm.errors import NALMError, unknown
from nalm.results.compare import LEVEL, Results, plain_interval
from nalm.results.runs import Outcome
from nalm.stats import Difference, Interval

Labels = tuple[Mapping[Case, str], Mapping[Case, str]]  # the name of each case, and its place on the axis


@dataclass(frozen=True)
class Spot:
    """A task of an experiment, and the place on the axis where otherwise equal cases differ, such as lr 0.01.

    ``model`` is the model around two compared units, such as NAU-*; empty if they are compared as they are named.
    """

    experiment: str
    task: Task
    place: str = ""
    model: str = ""

    @property
    def name(self) -> str:
        """The task in words."""
        words = f"{self.task.operation} {self.task.train}, {self.task.inputs} inputs"
        if self.place not in (str(self.task.train), f"{self.task.inputs} inputs", "none"):
            words = f"{words}, {self.place}"
        return f"{words}, in {self.model}" if self.model else words


Side = dict[Spot, dict[int, Outcome]]  # task -> seed -> run
Named = dict[str, Side]  # by label


@dataclass(frozen=True)
class Pairing:
    """Two units on one task: differences are the first minus the second, over the seeds that both have."""

    spot: Spot
    a: Interval  # success rates
    b: Interval
    success: Difference
    success_p: float  # corrected over all tasks
    gained: int  # seeds that only the first solves
    lost: int
    steps: Difference | None = None  # of solved-at, over seeds that both solve
    steps_p: float = 1.0
    needed: int | None = None  # seeds that would tell, if the rates stay as they are

    @property
    def seeds(self) -> int:
        """The number of seeds that both have."""
        return self.success.n


@dataclass(frozen=True)
class Contest:
    """Two units on all tasks that both were trained on."""

    first: str
    second: str
    pairings: tuple[Pairing, ...]
    overall: Difference  # of the success rates, over all pairs of runs
    needed: int | None  # seeds per task that would tell, where that cannot be told yet
    alone: int = 0  # tasks that only one of them has runs of
    left: tuple[str, ...] = ()  # models with one of them for which there is none with the other

    @property
    def verdict(self) -> str:
        """The result in one sentence."""
        lead = self.overall
        tasks = "1 task" if len(self.pairings) == 1 else f"{len(self.pairings)} tasks"
        size = f"{lead.estimate:+.3f} [{lead.low:+.3f}, {lead.high:+.3f}], p = {lead.p:.2g}"
        over = f"over {tasks} and {lead.n} pairs of runs ({size})"
        if lead.p < LEVEL:
            better, worse = (self.first, self.second) if lead.estimate > 0 else (self.second, self.first)
            return f"{better} is solved more often than {worse} {over}."
        if self.needed is None:
            return f"Nothing tells {self.first} from {self.second} {over}."
        more = f"{self.needed:,} seeds per task would tell, if the rates stay as they are"
        return f"Nothing tells {self.first} from {self.second} {over}; {more}."

    def plain(self) -> dict[str, Any]:
        """Return the values as JSON takes them."""
        rows = [
            {
                "experiment": p.spot.experiment,
                "operation": p.spot.task.operation,
                "train": str(p.spot.task.train),
                "inputs": p.spot.task.inputs,
                "place": p.spot.place,
                "model": p.spot.model,
                "seeds": p.seeds,
                **{name: plain_interval(getattr(p, name)) for name in ("a", "b", "success", "steps")},
                **{name: getattr(p, name) for name in ("success_p", "steps_p", "gained", "lost", "needed")},
            }
            for p in self.pairings
        ]
        told: dict[str, Any] = {
            "first": self.first,
            "second": self.second,
            "verdict": self.verdict,
            "needed": self.needed,
        }
        told |= {"left_out": list(self.left)}
        return told | {"overall": plain_interval(self.overall), "tasks": rows}


def by_name(results: Results, labels: Mapping[str, Labels]) -> Named:
    """Group finished runs by label, task and seed; a case of several experiments counts once."""
    found: Named = {}
    known: set[str] = set()
    for experiment, runs in results.items():
        cases: dict[Case, dict[int, Outcome]] = {}
        for o in runs:
            cases.setdefault(o.case, {})[o.seed] = o
        for case, seeds in cases.items():
            if case.hash in known:
                continue
            known.add(case.hash)
            names, places = labels[experiment]
            found.setdefault(names[case], {})[Spot(experiment, case.task, places[case])] = seeds
    return found


def contest(named: Named, first: str, second: str) -> Contest:
    """Compare two units on every task that both have runs of, paired by seed.

    Units are also compared inside models: with MyUnit and NMU, NAU-MyUnit is compared with NAU-NMU.
    """
    (a, b), left = sides(named, first, second)
    pairs = {key: sorted(a[key].keys() & b[key].keys()) for key in a if key in b}
    pairs = {key: seeds for key, seeds in pairs.items() if seeds}
    if not pairs:
        raise NALMError(
            f"{first} and {second} have no task and seed in common: run both with the same command."
        )
    rows = [
        _pairing(key, [(a[key][s], b[key][s]) for s in seeds], len(pairs)) for key, seeds in pairs.items()
    ]
    rows = _corrected(rows)
    flags = [(a[key][s].solved, b[key][s].solved) for key, seeds in pairs.items() for s in seeds]
    overall = stats.rate_difference([x for x, _ in flags], [y for _, y in flags])
    gain, loss = (sum(x > y for x, y in flags) / len(flags), sum(x < y for x, y in flags) / len(flags))
    needed = stats.pairs_needed(gain, loss, len(flags)) if overall.p >= LEVEL else None
    per_task = None if needed is None else -(-needed // len(pairs))
    alone = len(a.keys() ^ b.keys())
    rows = sorted(rows, key=lambda p: p.success_p)
    return Contest(first, second, tuple(rows), overall, per_task, alone, left)


def sides(named: Named, first: str, second: str) -> tuple[list[Side], tuple[str, ...]]:
    """Return the runs of two units, alone and inside models, and the models without a counterpart."""
    inside = [_models_with(name, named) for name in (first, second)]
    both = inside[0].keys() & inside[1].keys()
    sides: list[Side] = []
    for name, models in zip((first, second), inside, strict=True):
        side = {
            replace(spot, model=f"{model}{rest}"): seeds
            for (model, rest), label in models.items()
            if (model, rest) in both
            for spot, seeds in named[label].items()
        }
        label = _found(name, named, needed=not both)
        sides.append(side | (named[label] if label else {}))
    left = [label for models in inside for key, label in models.items() if key not in both]
    return sides, tuple(map(without_hash, left))


def _models_with(name: str, named: Named) -> dict[tuple[str, str], str]:
    """Return the labels of models of several layers with this unit, by the model around it: NAU-* for NAU-NMU."""
    found: dict[tuple[str, str], str] = {}
    for label in named:
        model, bracket, rest = without_hash(label).partition(" (")
        parts = model.split("-")
        if len(parts) == 1 or name not in (*parts, *label.partition(" (")[0].split("-")) or name == model:
            continue
        unit = without_hash(name)
        key = "-".join("*" if part == unit else part for part in parts), f"{bracket}{rest}"
        if key in found:
            raise NALMError(
                f"{name} was trained in {model} with several files: choose one of {found[key]!r}, {label!r}."
            )
        found[key] = label
    return found


def _found(name: str, named: Named, needed: bool = True) -> str:
    """Return the label that a person means: in full, without hash, or the one of that unit; empty if not needed."""
    same = [label for label in named if name in (label, without_hash(label))]
    same = same or [label for label in named if without_hash(label).partition(" (")[0] == name]
    if len(same) > 1:
        raise NALMError(
            f"{name} was trained in {len(same)} ways: choose one of {', '.join(map(repr, same))}."
        )
    if not same and needed:
        raise unknown("unit in these results", name, named)
    return same[0] if same else ""


def _pairing(spot: Spot, pairs: Sequence[tuple[Outcome, Outcome]], tasks: int) -> Pairing:
    """Compare two units on one task; the p values are not corrected yet, and power is for the corrected level."""
    x, y = [a.solved for a, _ in pairs], [b.solved for _, b in pairs]
    success = stats.rate_difference(x, y)
    steps = [(a.solved_at, b.solved_at) for a, b in pairs if a.solved and b.solved]
    known = [(p, q) for p, q in steps if p is not None and q is not None]
    gained, lost = (
        sum(p > q for p, q in zip(x, y, strict=True)),
        sum(p < q for p, q in zip(x, y, strict=True)),
    )
    level = LEVEL / tasks
    told = success.p < level
    needed = None if told else stats.pairs_needed(gained / len(pairs), lost / len(pairs), len(pairs), level)
    return Pairing(
        spot=spot,
        a=stats.success_rate(x),
        b=stats.success_rate(y),
        success=success,
        success_p=success.p,
        gained=gained,
        lost=lost,
        steps=stats.paired_difference([p for p, _ in known], [q for _, q in known]) if known else None,
        needed=needed,
    )


def _corrected(rows: Sequence[Pairing]) -> list[Pairing]:
    """Correct the p values by Holm's method, those of success and those of steps each by themselves."""
    success = stats.holm([row.success.p for row in rows])
    steps = iter(stats.holm([row.steps.p for row in rows if row.steps is not None]))
    return [
        replace(row, success_p=p, steps_p=next(steps) if row.steps is not None else 1.0)
        for row, p in zip(rows, success, strict=True)
    ]
