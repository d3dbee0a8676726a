"""Compare two units by counts, where more runs were counted in tallies than can be paired."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from typing import Any

from nalm import stats
from nalm.results.contest import Named, Spot, sides
from nalm.results.runs import Outcome
from nalm.results.tally import Tally
from nalm.stats import Interval
from nalm.stats.two_rates import fisher


@dataclass(frozen=True)
class Counted:
    """Two units on one task with all runs of each, which need not have the same seeds."""

    spot: Spot
    a: Interval  # success rates
    b: Interval
    p: float  # of Fisher's exact test
    corrected: float  # by Holm's method over the tasks

    def plain(self) -> dict[str, Any]:
        """Return the values as JSON takes them."""
        task = {"experiment": self.spot.experiment, "task": self.spot.name}
        return task | {"a": asdict(self.a), "b": asdict(self.b), "p": self.p, "p_holm": self.corrected}


def counted(named: Named, tallies: Iterable[Tally], first: str, second: str) -> list[Counted]:
    """Compare the success rates of two units on every task of which a tally has more runs than there are here."""
    known = {tally.case.hash: tally for tally in tallies}
    (a, b), _ = sides(named, first, second)
    rows = []
    for spot in a.keys() & b.keys():
        counts = [_counts(side[spot], known) for side in (a, b)]
        if any(n > len(side[spot]) for (_, n), side in zip(counts, (a, b), strict=True)):
            (x, m), (y, n) = counts
            p = float(fisher(x, m, [y], n)[0])
            rows.append(Counted(spot, stats.wilson(x, m), stats.wilson(y, n), p, p))
    holm = stats.holm([row.p for row in rows])
    found = [replace(row, corrected=p) for row, p in zip(rows, holm, strict=True)]
    return sorted(found, key=lambda row: (row.p, row.spot.name))


def _counts(runs: dict[int, Outcome], known: dict[str, Tally]) -> tuple[int, int]:
    """Return how many runs of a case are solved, and of how many: those of its tally if that has more."""
    case = next(iter(runs.values())).case
    tally = known.get(case.hash)
    if tally is not None and tally.runs > len(runs):
        return tally.solved, tally.runs
    return sum(o.solved for o in runs.values()), len(runs)
