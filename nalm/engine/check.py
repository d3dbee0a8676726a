"""Checks of cases before anything is trained."""

from collections.abc import Sequence

import torch

from nalm.config import Case
from nalm.engine.model import Network
from nalm.engine.trainer import trainer_for
from nalm.errors import NALMError
from nalm.losses import loss as find_loss
from nalm.operations import operation as find_operation


def check(cases: Sequence[Case]) -> None:
    """Resolve every name of the cases and build their models, so that a mistake is found before training."""
    for case in dict.fromkeys(cases):
        for name in case.task.operations:
            find_operation(name)
        for name in filter(None, (case.recipe.loss, case.recipe.then)):
            find_loss(name)
        network = Network(case.model, case.inputs, bool(case.task.times))
        _outputs(case)
        if case.recipe.starts or case.recipe.normal_starts:
            normals = [case.recipe.normal_starts]
            network.starts([0], torch.zeros(1), between=case.recipe.starts, normals=normals)
        _penalties(case, network.penalty_names() | {*case.task.penalties})
        trainer_for(case).check(case)


def _outputs(case: Case) -> None:
    """Refuse a model with another number of outputs than the task has targets."""
    targets, out = case.task.targets, case.model[-1].out
    if targets is not None and out != targets:
        wanted = "one target" if targets == 1 else f"{targets} targets"
        raise NALMError(f"A task has {wanted}, the model of {case.name!r} ends in {out} outputs.")


def _penalties(case: Case, have: set[str]) -> None:
    """Refuse a recipe that names a penalty which the model does not have."""
    for name, _ in case.recipe.penalties:
        if name not in have:
            known = ", ".join(sorted(have)) or "none"
            raise NALMError(f"The model of {case.name!r} has no penalty called {name!r}. It has: {known}.")
    if case.recipe.inalu and "weight" not in have:
        raise NALMError(f"The iNALU's rule needs a penalty called 'weight', which {case.name!r} has not.")
