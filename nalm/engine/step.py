"""Parts of a training step that programs on numbers and on images share, as functions of tensors."""

from collections.abc import Callable

from torch import Tensor

from nalm.config import Ramp
from nalm.engine.optim import Optimiser

Tensors = dict[str, Tensor]


def start_and_slope(ramp: Ramp) -> tuple[float, float]:
    """Return the start of a ramp and its slope; one of no length begins half a step earlier and is very steep."""
    if ramp.end > ramp.start:
        return ramp.start, 1 / (ramp.end - ramp.start)
    return ramp.start - 0.5, 1e9


def grown(step: Tensor, start: Tensor | float, slope: Tensor | float) -> Tensor:
    """Return the share of its weight that a ramp has reached at a step: 0 before its start, 1 from its end on."""
    return ((step - start) * slope).clamp(0, 1)


def update(
    params: Tensors,
    gradients: Tensors,
    slots: dict[str, list[Tensor]],
    rule: tuple[Optimiser, Tensor],
    step: Tensor,
    project: Callable[[Tensors], object],
) -> None:
    """Take one step of an optimiser in place; ``rule`` is the optimiser and the learning rates of the runs.

    ``project`` gets the new parameters and moves them into their bounds in place, before they are copied.
    """
    optimiser, lr = rule
    moved: Tensors = {}
    for name, p in params.items():
        change, state = optimiser(gradients[name], slots[name], lr, step)
        moved[name] = p - change
        for old, new in zip(slots[name], state, strict=True):
            old.copy_(new)
    project(moved)
    for name, p in params.items():
        p.copy_(moved[name])
    step.add_(1)
