"""The training of Schlör 2020 as its code has it: turns, a penalty with steps of its own, starts anew.

- Of ten steps eight move the weights and two the gates (parameters called gate).
- From epoch 11 on, while the error of the batch is below 1, a second step of the optimiser follows, which moves every
  parameter away from 0 up to 20. It shares the optimiser's state, so its weight hardly matters.
- In every tenth epoch a run begins again from U(-2, 2) if the second half of its batches since it last began has an
  error above 1 that is not a deviation below that of the first half, and these are 10,000 batches or more.

Departs from the code: a run is looked at before and after such an epoch, not at each of its 1,000 steps.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from nalm.engine.model import Network
from nalm.engine.numbers.inalu import halves, weighted
from nalm.engine.optim import Optimiser, per_run

TURN, WEIGHTS = 10, 8  # steps of a turn, and those of them that move weights
# steps of an epoch, epochs between looks, the first epoch with a penalty
EPOCH, EPOCHS, FIRST = 1_000, 10, 11
WEIGHT, SATURATION = 0.05, 20.0
LEAST = 10  # epochs of batches that are needed to begin again

Tensors = dict[str, Tensor]


def update(
    params: Tensors,
    gradients: Tensors,
    slots: dict[str, list[Tensor]],
    rule: tuple[Optimiser, Tensor],
    step: Tensor,
    losses: Tensor,
) -> None:
    """Take one step in place, and one of the penalty for the runs whose ``losses`` (runs,) on the batch are low."""
    optimiser, lr = rule
    gates = torch.remainder(step, TURN) >= WEIGHTS
    pressed = (losses < 1) & (step >= FIRST * EPOCH)
    for name, p in params.items():
        mine = gates if name.rpartition(".")[2].startswith("gate") else ~gates
        change, state = optimiser(gradients[name], slots[name], lr, step)
        moved = torch.where(mine, p - change, p)
        kept = [torch.where(mine, new, old) for new, old in zip(state, slots[name], strict=True)]
        away = -WEIGHT / moved[0].numel() * moved.sign() * (moved.abs() < SATURATION)
        change, state = optimiser(away, kept, lr, step)
        on = per_run(pressed, p)
        for old, new, same in zip(slots[name], state, kept, strict=True):
            old.copy_(torch.where(on, new, same))
        p.copy_(torch.where(on, moved - change, moved))
    step.add_(1)


def starts(network: Network, seeds: Sequence[int], resets: Tensor, names: Sequence[str]) -> Tensors:
    """Return parameters of these names from U(-2, 2), for runs that begin again."""
    return network.starts(
        seeds, resets, between=[(name.removeprefix("layers."), -2.0, 2.0) for name in names]
    )


class Losses:
    """Errors of batches: their sum and sum of squares in each epoch, (runs, 2)."""

    def __init__(self) -> None:
        self.epochs: list[Tensor] = []

    def add(self, sums: Tensor) -> None:
        """Store the sums of an epoch, and set them to 0 for the next."""
        self.epochs.append(sums.to("cpu", copy=True))
        sums.zero_()

    def stuck(self, since: Tensor) -> Tensor:
        """Return which runs begin again; ``since`` (runs,) is the epoch in which each last began."""
        now = len(self.epochs)
        if now < LEAST or now % EPOCHS > 1:
            return torch.zeros_like(since, dtype=torch.bool)
        mean, square = (torch.stack(self.epochs) / EPOCH).unbind(-1)  # (epochs, runs)
        old, new = halves(now, since)
        recent = weighted(mean, new)
        spread = (weighted(square, new) - recent.square()).clamp_min(0).sqrt()
        return (now - since >= LEAST) & (weighted(mean, old) <= recent + spread) & (recent > 1)

    def state(self, settings: Tensors) -> Tensors:
        """Return the sums so far, as named tensors; none where a step does not count errors."""
        if "losses" not in settings:
            return {}
        past = {f"epochs.{i}": sums for i, sums in enumerate(self.epochs)}
        return past | {"losses": settings["losses"].clone()}

    def restore(self, tensors: Tensors, settings: Tensors) -> None:
        """Continue from the sums that ``state`` returned."""
        if "losses" in settings:
            settings["losses"].copy_(tensors["losses"])
            count = sum(name.startswith("epochs.") for name in tensors)
            self.epochs = [tensors[f"epochs.{i}"] for i in range(count)]
