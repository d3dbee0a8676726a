"""Rank the units of a study; those that cannot be told apart share a place."""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from nalm import stats
from nalm.results.compare import LEVEL
from nalm.results.contest import Named, Spot
from nalm.results.runs import Outcome
from nalm.stats import Difference, Interval


@dataclass(frozen=True)
class Standing:
    """The place of a unit among others: 1 plus the number of units that are solved significantly more often."""

    label: str
    place: int
    success: Interval  # over all its runs
    median: Interval  # of the steps at which runs were solved
    ties: tuple[str, ...]  # units that cannot be told from it
    tasks: int


def ranking(named: Named) -> dict[tuple[str, str, int], list[Standing]]:
    """Rank the units of each study: experiment, operation and number of inputs.

    Units are compared in pairs over all tasks of the study, run by run, and the p values of all pairs are corrected by
    Holm's method. A unit without runs on one of the tasks is left out.
    """
    groups: dict[tuple[str, str, int], set[Spot]] = {}
    for spots in named.values():
        for spot in spots:
            groups.setdefault((spot.experiment, spot.task.operation, spot.task.inputs), set()).add(spot)
    found = {}
    for group, wanted in groups.items():
        full = [label for label, tasks in named.items() if wanted <= tasks.keys()]
        if len(full) > 1:
            found[group] = _ranked(named, full, sorted(wanted, key=str))
    return found


def _ranked(named: Named, labels: Sequence[str], wanted: Sequence[Spot]) -> list[Standing]:
    pairs = list(itertools.combinations(labels, 2))
    tests = [_test(named[x], named[y], wanted) for x, y in pairs]
    better: dict[str, set[str]] = {label: set() for label in labels}
    ties: dict[str, list[str]] = {label: [] for label in labels}
    for (x, y), test, p in zip(pairs, tests, stats.holm([t.p for t in tests]), strict=True):
        if p < LEVEL and test.estimate:
            winner, loser = (x, y) if test.estimate > 0 else (y, x)
            better[loser].add(winner)
        else:
            ties[x].append(y)
            ties[y].append(x)
    rows = []
    for label in labels:
        runs = [o for key in wanted for o in named[label][key].values()]
        steps = [o.solved_at for o in runs if o.solved and o.solved_at is not None]
        rate = stats.success_rate([o.solved for o in runs])
        rows.append(
            Standing(
                label, 1 + len(better[label]), rate, stats.median(steps), tuple(ties[label]), len(wanted)
            )
        )
    return sorted(rows, key=lambda s: (s.place, -s.success.estimate, s.label))


def _test(
    a: Mapping[Spot, Mapping[int, Outcome]], b: Mapping[Spot, Mapping[int, Outcome]], spots: Sequence[Spot]
) -> Difference:
    """Compare the success of two units over several tasks."""
    seeds = [(key, s) for key in spots for s in sorted(a[key].keys() & b[key].keys())]
    pairs = [(a[key][s].solved, b[key][s].solved) for key, s in seeds]
    if not pairs:
        return Difference(0.0, 0.0, 0.0, 0, "no common seed", 1.0)
    return stats.rate_difference([x for x, _ in pairs], [y for _, y in pairs])
