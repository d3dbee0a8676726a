"""Compare two sets of finished runs case by case, paired by seed, with Holm's correction of the p values."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

from nalm import stats
from nalm.config import Case
from nalm.config.labels import unit_of
from nalm.results.runs import Outcome
from nalm.stats import Difference, Interval

Results = Mapping[str, Sequence[Outcome]]  # experiment -> its finished runs
Seeds = dict[int, Outcome]

LEVEL = 0.05  # a case counts as changed if its adjusted p is below this
DIGITS = 1e-8  # relative; shipped tables keep nine digits
EXACT = ("outcome", "solved_at", "best_step", "steps", "resets", "formula")
NUMBERS = ("validation", "test", "sparsity", "threshold")


@dataclass(frozen=True)
class Change:
    """One case in A and in B; differences are B minus A, over the seeds that both have.

    A metric without a pair is None and has p = 1: success without a common seed, steps without a seed
    solved in both. The p of each metric are adjusted over all cases that were tested for it.
    """

    experiment: str
    case: Case
    missing: Literal["", "A", "B"] = ""  # the side that has no run of it
    seeds: int = 0  # in both
    only_a: int = 0  # seeds without a partner
    only_b: int = 0
    a: Interval | None = None  # success rates over the common seeds
    b: Interval | None = None
    success: Difference | None = None
    success_p: float = 1.0  # adjusted
    steps: Difference | None = None  # of solved-at
    steps_p: float = 1.0  # adjusted
    gained: int = 0  # seeds solved in B only
    lost: int = 0  # seeds solved in A only
    identical: bool = False  # the same seeds ended alike, to the digits that shipped tables keep

    @property
    def flipped(self) -> int:
        """The number of seeds that are solved on one side only."""
        return self.gained + self.lost

    @property
    def p(self) -> float:
        """The smaller of the two adjusted p."""
        return min(self.success_p, self.steps_p)

    @property
    def changed(self) -> bool:
        """True if the difference of one of the metrics is significant."""
        return self.p < LEVEL

    def plain(self) -> dict[str, Any]:
        """Return the values as JSON takes them; NaN becomes null."""
        case, names = self.case, ("missing", "seeds", "only_a", "only_b", "gained", "lost", "flipped")
        return {
            "experiment": self.experiment,
            "unit": unit_of(case),
            "operation": case.operation,
            "train": str(case.train),
            "inputs": case.inputs,
            "case": case.hash,
            **{name: getattr(self, name) for name in names},
            **{name: plain_interval(getattr(self, name)) for name in ("a", "b", "success", "steps")},
            **{name: getattr(self, name) for name in ("success_p", "steps_p", "changed", "identical")},
        }


def plain_interval(interval: Interval | None) -> dict[str, Any] | None:
    """Return an interval as JSON takes it; NaN and infinity become null."""
    if interval is None:
        return None
    values = asdict(interval).items()
    return {n: None if isinstance(v, float) and not math.isfinite(v) else v for n, v in values}


def compare(a: Results, b: Results) -> list[Change]:
    """Return the change from A to B of every case of either, the most changed first, missing ones last.

    Cases are matched by their hash; the names of experiments do not matter.
    """
    first, second = _cases(a), _cases(b)
    changes = []
    for key in first | second:
        if key in first and key in second:
            changes.append(_change(*first[key], second[key][2]))
        else:
            name, case, _ = first.get(key) or second[key]
            changes.append(Change(name, case, "B" if key in first else "A"))
    return sorted(_adjusted(changes), key=_order)


def _cases(results: Results) -> dict[str, tuple[str, Case, Seeds]]:
    """Group the runs by case and seed, with the first experiment that has the case."""
    found: dict[str, tuple[str, Case, Seeds]] = {}
    for name, runs in results.items():
        for run in runs:
            found.setdefault(run.case.hash, (name, run.case, {}))[2][run.seed] = run
    return found


def _change(name: str, case: Case, a: Seeds, b: Seeds) -> Change:
    """Compare one case that both sides have; its p values are not adjusted yet."""
    seeds = sorted(a.keys() & b.keys())
    alone = Change(name, case, only_a=len(a) - len(seeds), only_b=len(b) - len(seeds))
    if not seeds:
        return alone
    solved_a, solved_b = ([side[s].solved for s in seeds] for side in (a, b))
    success = stats.rate_difference(solved_b, solved_a)
    before, after = _steps([(a[s], b[s]) for s in seeds])
    steps = stats.paired_difference(after, before) if before else None
    return replace(
        alone,
        seeds=len(seeds),
        a=stats.success_rate(solved_a),
        b=stats.success_rate(solved_b),
        success=success,
        steps=steps,
        gained=sum(y and not x for x, y in zip(solved_a, solved_b, strict=True)),
        lost=sum(x and not y for x, y in zip(solved_a, solved_b, strict=True)),
        identical=a.keys() == b.keys() and all(_alike(a[s], b[s]) for s in seeds),
    )


def _steps(pairs: Iterable[tuple[Outcome, Outcome]]) -> tuple[list[int], list[int]]:
    """Return the steps at which the runs that are solved on both sides were solved."""
    before, after = [], []
    for x, y in pairs:
        if x.solved and y.solved and x.solved_at is not None and y.solved_at is not None:
            before.append(x.solved_at)
            after.append(y.solved_at)
    return before, after


def _alike(x: Outcome, y: Outcome) -> bool:
    """Return whether two runs have the same result; cost and device do not matter."""
    same = all(getattr(x, name) == getattr(y, name) for name in EXACT)
    return same and all(_equal(getattr(x, name), getattr(y, name)) for name in NUMBERS)


def _equal(x: float, y: float) -> bool:
    return math.isclose(x, y, rel_tol=DIGITS) or (math.isnan(x) and math.isnan(y))


def _adjusted(changes: Sequence[Change]) -> list[Change]:
    """Return the changes with Holm's adjusted p, per metric over the cases that have a test of it."""
    success, steps = _holm([c.success for c in changes]), _holm([c.steps for c in changes])
    return [replace(c, success_p=p, steps_p=q) for c, p, q in zip(changes, success, steps, strict=True)]


def _holm(tests: Sequence[Difference | None]) -> list[float]:
    """Return the adjusted p of each test; 1 where there is none."""
    adjusted = iter(stats.holm([test.p for test in tests if test is not None]))
    return [1.0 if test is None else next(adjusted) for test in tests]


def _order(c: Change) -> tuple[bool, bool, float, float, float]:
    lead = abs(c.success.estimate) if c.success else 0.0
    later = abs(c.steps.estimate) if c.steps else 0.0
    return bool(c.missing), c.identical, c.p, -lead, -later
