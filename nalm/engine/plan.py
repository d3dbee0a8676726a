"""Which runs share a program: a function of the cases alone."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from nalm.config import Case
from nalm.operations import LISTS
from nalm.tasks.samples import family


@dataclass(frozen=True)
class Run:
    """A case with one seed, and its place in what was asked for."""

    case: Case
    seed: int
    place: int


def signature(case: Case) -> Hashable:
    """Everything that shapes the compiled step; what differs between runs of a group is numbers only."""
    recipe = case.recipe
    return (
        case.model,
        (case.inputs, case.subset, case.overlap, case.subsets, case.sample, case.data, case.test_inputs),
        (case.operation if case.operation in LISTS else "", case.threshold.metric),
        (family(case.train), family(case.test)),
        (recipe.steps, recipe.batch, recipe.optimiser, recipe.momentum, recipe.schedule),
        (recipe.loss, recipe.then, recipe.switch),
        tuple(sorted(name for name, _ in recipe.penalties)),
        (recipe.l1 is not None, recipe.l2 is not None, recipe.inalu, recipe.stop_when_solved),
        (recipe.clip_norm > 0, recipe.clip_value > 0, recipe.gradient_noise > 0),
    )


def product(cases: Sequence[Case], seeds: Sequence[int]) -> list[Run]:
    """Every case with every seed, seeds within cases."""
    return [
        Run(case, seed, i * len(seeds) + k) for i, case in enumerate(cases) for k, seed in enumerate(seeds)
    ]


def populations(runs: Sequence[Run], numbers: int = 2**24) -> list[list[Run]]:
    """The runs grouped by program, in pieces whose batches hold at most so many numbers."""
    groups: dict[Hashable, list[Run]] = {}
    signatures: dict[Case, Hashable] = {}
    for run in runs:
        if run.case not in signatures:
            signatures[run.case] = signature(run.case)
        groups.setdefault(signatures[run.case], []).append(run)
    pieces = []
    for group in groups.values():
        case = group[0].case
        largest = max(1, numbers // (case.recipe.batch * case.inputs))
        pieces += [group[i : i + largest] for i in range(0, len(group), largest)]
    return pieces
