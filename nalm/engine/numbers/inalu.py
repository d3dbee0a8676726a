"""The iNALU's rules of training, with the settings of nalm-benchmark: when its penalty acts, when a run restarts."""

from collections.abc import Sequence

import torch
from torch import Tensor

WEIGHT, START, WINDOW = 0.05, 10_000, 5_000


def weight(validation: Tensor, step: int) -> Tensor:
    """Return the weight of the penalty for each run: from step 10,000 on, while its error is below 1."""
    return WEIGHT * ((validation < 1) & (step >= START))


def stuck(validation: Sequence[Tensor], since: Tensor, every: int) -> Tensor:
    """Return which runs start again: over 5,000 steps the error is above 1 and does not fall.

    ``validation`` are errors (runs,) at all evaluations, ``since`` the evaluation at which a run last started. The
    published code looks every 10 steps at errors that change every 1,000; this looks every 1,000.
    """
    if len(validation) < 2:
        return torch.zeros_like(since, dtype=torch.bool)
    history = torch.stack(list(validation[:-1]))  # (evaluations, runs); the last counts from now on
    old, new = halves(len(history), since)
    recent = weighted(history, new)
    spread = weighted((history - recent).square(), new).sqrt()
    falls = weighted(history, old) > recent + spread
    return ((len(history) - since) * every > WINDOW) & ~falls & (recent > 1)


def halves(length: int, since: Tensor) -> tuple[Tensor, Tensor]:
    """Return the weights (length, runs) of the first and second half of a history that counts from ``since`` on.

    In steps, a history halves in the middle of a block where their number is odd: each block counts in halves.
    """
    age = 2 * (torch.arange(length)[:, None] - since)
    old = (length - since - age).clamp(0, 2) * (age >= 0)
    return old, 2 * (age >= 0) - old


def weighted(values: Tensor, weights: Tensor) -> Tensor:
    """Return the mean (runs,) of values (length, runs), each counted by its weight."""
    return torch.where(weights > 0, values, 0.0).mul(weights).sum(0) / weights.sum(0)
