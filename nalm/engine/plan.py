"""Which runs share a program: a function of the cases alone."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from nalm.config import Case
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
        (case.inputs, case.subset, case.overlap, case.subsets, case.sample, case.data),
        (family(case.train), family(case.test)),
        (recipe.steps, recipe.batch, recipe.optimiser, recipe.momentum, recipe.schedule),
        (recipe.loss, recipe.then, recipe.switch),
        tuple(sorted(name for name, _ in recipe.penalties)),
        (recipe.l1 is not None, recipe.l2 is not None, recipe.inalu, recipe.stop_when_solved),
        (recipe.clip_norm > 0, recipe.clip_value > 0, recipe.gradient_noise > 0),
    )


def populations(cases: Sequence[Case], seeds: Sequence[int], numbers: int = 2**24) -> list[list[Run]]:
    """All runs of cases times seeds, grouped by program, in pieces whose batches hold at most so many numbers."""
    groups: dict[Hashable, list[Run]] = {}
    place = 0
    for case in cases:
        for seed in seeds:
            groups.setdefault(signature(case), []).append(Run(case, seed, place))
            place += 1
    pieces = []
    for group in groups.values():
        case = group[0].case
        largest = max(1, numbers // (case.recipe.batch * case.inputs))
        pieces += [group[i : i + largest] for i in range(0, len(group), largest)]
    return pieces
