"""Measures of trained models beside the test error: errors over whole grids, and how many parameters are left."""

import itertools
from collections.abc import Callable

import torch
from torch import Tensor

from nalm.config import Case, Range
from nalm.operations import outputs
from nalm.tasks.operands import apply
from nalm.tasks.sampler import marks

Measured = dict[str, Tensor]  # by name, one number per run
ROWS = 4_096  # points of a grid predicted at a time


def lattice(points: Range, inputs: int, device: torch.device) -> Tensor:
    """Return every point of a grid over all inputs, (points, in)."""
    axis = torch.tensor(marks(points), dtype=torch.float64).float().tolist()
    return torch.tensor(list(itertools.product(axis, repeat=inputs)), device=device)


def grid_errors(case: Case, predict: Callable[[Tensor], Tensor], runs: int, device: torch.device) -> Measured:
    """Return the mean absolute errors (runs,) of a case's operations, each over its grid."""
    names, found = outputs(case.operation), {}
    for name, points in case.task.grids:
        x = lattice(points, case.inputs, device)
        y = apply(name, x.double().unbind(-1))
        parts = [
            (predict(rows.expand(runs, *rows.shape))[..., names.index(name)].double() - truth).abs().sum(-1)
            for rows, truth in zip(x.split(ROWS), y.split(ROWS), strict=True)
        ]
        found[name] = torch.stack(parts).sum(0) / len(x)
    return found


def counted(params: Measured, sizes: tuple[float, ...]) -> Measured:
    """Count the parameters of each run whose absolute value is larger than each size."""
    return {
        f"nonzero {size:g}": torch.stack([(p.abs() > size).flatten(1).sum(-1) for p in params.values()]).sum(
            0
        )
        for size in sizes
    }
