"""Runs, and their grouping into populations that share a program and fit into memory."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from nalm.config import Case
from nalm.config.grouping import signature


@dataclass(frozen=True)
class Run:
    """A case with one seed, and its index among all runs of the call."""

    case: Case
    seed: int
    index: int


def product(cases: Sequence[Case], seeds: Sequence[int]) -> list[Run]:
    """Return every case with every seed, seeds within cases."""
    return [
        Run(case, seed, i * len(seeds) + k) for i, case in enumerate(cases) for k, seed in enumerate(seeds)
    ]


def populations(runs: Sequence[Run], numbers: int = 2**24) -> list[list[Run]]:
    """Group the runs by program, in populations whose batches hold at most so many numbers."""
    groups: dict[Hashable, list[Run]] = {}
    signatures: dict[Case, Hashable] = {}
    for run in runs:
        if run.case not in signatures:
            signatures[run.case] = signature(run.case)
        groups.setdefault(signatures[run.case], []).append(run)
    pieces = []
    for group in groups.values():
        case = group[0].case
        each = case.recipe.batch * case.task.size
        largest = max(1, numbers // each)
        pieces += [group[i : i + largest] for i in range(0, len(group), largest)]
    return pieces
