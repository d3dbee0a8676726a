"""Shipped tallies and runs, and how cases are compared seed by seed: what the tables of future-work.md share."""

import functools
import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from tables import counts

from nalm.config import Case
from nalm.results import files as shipped
from nalm.results import tally_files
from nalm.results.runs import Outcome
from nalm.results.tally import Tally, tallies
from nalm.stats import holm, rate_difference

RESULTS = Path(__file__).parents[1] / "results"
Key = TypeVar("Key", bound=Hashable)
NOT_SHIPPED = "No runs of `{name}` are shipped: `nalm run {name}` makes them.\n"


@functools.cache
def counted(experiment: str) -> tuple[Tally, ...]:
    """Return the shipped tallies of an experiment, or those of its runs where there are none."""
    beside = (RESULTS / f"{experiment}.csv").with_suffix(shipped.TALLY)
    if beside.is_file():
        return tuple(tally_files.read(beside))
    return tuple(tallies(runs_of(experiment)))


def runs_of(experiment: str) -> list[Outcome]:
    """Return the shipped runs of an experiment; none if it is not shipped."""
    path = RESULTS / f"{experiment}.csv"
    return shipped.read(path) if path.is_file() else []


def tally_of(experiment: str, case: str) -> Tally | None:
    """Return the tally of a case, by its hash; None if it is not shipped."""
    return next((tally for tally in counted(experiment) if tally.case.hash == case), None)


def by_seed(experiment: str, case: str) -> dict[int, bool]:
    """Return which seeds of a case are solved, by its hash; empty if that is not known of all counted runs."""
    tally = tally_of(experiment, case)
    return tally.by_seed if tally else {}


def seeds_of(experiment: str, case: str) -> tuple[tuple[int, int], ...]:
    """Return the spans of the seeds that were run of a case, by its hash; empty if it is not shipped."""
    tally = tally_of(experiment, case)
    return tally.seeds if tally else ()


def formulas_of(experiment: str, case: str) -> dict[str, int]:
    """Return the five commonest formulas of a case, by its hash, and their runs; empty if it is not shipped."""
    tally = tally_of(experiment, case)
    return dict(tally.formulas) if tally else {}


def without_threshold(experiment: str, case: str) -> bool:
    """Return whether the threshold of a case, by its hash, is infinite, so that solved runs say nothing."""
    tally = tally_of(experiment, case)
    return tally is not None and tally.thresholds[1] == math.inf


def paired(a: Mapping[Key, bool], b: Mapping[Key, bool], n: int) -> float | None:
    """Return p of McNemar's exact test for two cases of which n runs each have the same keys (seeds), else None."""
    if not a or a.keys() != b.keys() or len(a) != n:
        return None
    return rate_difference([a[seed] for seed in a], [b[seed] for seed in a]).p


def share(tally: Tally) -> str:
    """Return the solved runs of a case with Wilson's interval of their share, as 25 of 1,000 [0.017, 0.037]."""
    return counts(tally.solved, tally.runs)


def corrected(tests: Sequence[float | None]) -> list[float | None]:
    """Correct the known p values by Holm's method; None stays None."""
    known = iter(holm([p for p in tests if p is not None]))
    return [None if p is None else next(known) for p in tests]


def first_of(found: Sequence[Tally], task: Callable[[Case], Hashable]) -> list[Tally | None]:
    """Return for each case the first one of the same task; None for those that are the first."""
    first: dict[Hashable, Tally] = {}
    for tally in found:
        first.setdefault(task(tally.case), tally)
    return [None if tally is first[task(tally.case)] else first[task(tally.case)] for tally in found]


def against(found: Sequence[Tally], beside: Sequence[Tally | None]) -> list[str]:
    """Return p of McNemar's exact test of each case against the one beside it, after Holm's correction.

    Cases with nothing beside them have none, nor have those whose runs are not known seed by seed.
    """
    tests = [
        paired(other.by_seed, tally.by_seed, tally.runs) if other else None
        for tally, other in zip(found, beside, strict=True)
    ]
    return ["" if p is None else f"{p:.2g}" for p in corrected(tests)]
