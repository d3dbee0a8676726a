"""Optimisers over populations: each run has its own learning rate and its own clip; pure functions of tensors.

Parameters, gradients and states are dictionaries of tensors (runs, ...). Equal to ``torch.optim`` to rounding.
"""

import math
from collections.abc import Callable
from typing import Protocol

import torch
from torch import Tensor

from nalm import draws
from nalm.errors import unknown

Tensors = dict[str, Tensor]


class Optimiser(Protocol):
    """Slots of state per parameter, the number that they start at, and one update."""

    slots: tuple[str, ...]
    first: float

    def __call__(
        self, gradient: Tensor, state: list[Tensor], lr: Tensor, step: Tensor
    ) -> tuple[Tensor, list[Tensor]]:
        """Return what is subtracted from a parameter, and the new state."""
        ...


def per_run(values: Tensor, like: Tensor) -> Tensor:
    """Reshape values (runs,) to multiply a tensor (runs, ...)."""
    return values.reshape(-1, *[1] * (like.ndim - 1))


class Adam:
    """Adam (Kingma & Ba 2015) with torch's defaults."""

    slots: tuple[str, ...] = ("mean", "square")
    first = 0.0
    beta1, beta2, eps = 0.9, 0.999, 1e-8

    def __call__(
        self, gradient: Tensor, state: list[Tensor], lr: Tensor, step: Tensor
    ) -> tuple[Tensor, list[Tensor]]:
        mean = state[0] + (gradient - state[0]) * (1 - self.beta1)
        square = state[1] * self.beta2 + gradient * gradient * (1 - self.beta2)
        count = step.to(lr.dtype) + 1
        # 1 - beta^count, precise for small counts; of the step alone, so once per step and not per run
        first = draws.stored(-torch.expm1(count * math.log(self.beta1)), gradient.numel())
        second = draws.stored(-torch.expm1(count * math.log(self.beta2)), gradient.numel())
        denominator = (square / second).sqrt() + self.eps
        return per_run(lr / first, gradient) * mean / denominator, [mean, square]


class SGD:
    """Gradient descent, with momentum if asked for."""

    first = 0.0

    def __init__(self, momentum: float = 0.0):
        self.momentum = momentum
        self.slots: tuple[str, ...] = ("velocity",) if momentum else ()

    def __call__(
        self, gradient: Tensor, state: list[Tensor], lr: Tensor, step: Tensor
    ) -> tuple[Tensor, list[Tensor]]:
        if not self.momentum:
            return per_run(lr, gradient) * gradient, []
        velocity = self.momentum * state[0] + gradient
        return per_run(lr, gradient) * velocity, [velocity]


class RMSProp:
    """RMSProp; torch's decay is 0.99, Flux's 0.9."""

    slots: tuple[str, ...] = ("square",)
    first = 0.0
    eps = 1e-8

    def __init__(self, decay: float = 0.99):
        self.decay = decay

    def __call__(
        self, gradient: Tensor, state: list[Tensor], lr: Tensor, step: Tensor
    ) -> tuple[Tensor, list[Tensor]]:
        square = state[0] * self.decay + gradient * gradient * (1 - self.decay)
        return per_run(lr, gradient) * gradient / (square.sqrt() + self.eps), [square]


class TensorFlowRMSProp(RMSProp):
    """RMSProp of TensorFlow 1: the mean of squares starts at 1, and epsilon is added before the root is taken."""

    first = 1.0
    eps = 1e-10

    def __call__(
        self, gradient: Tensor, state: list[Tensor], lr: Tensor, step: Tensor
    ) -> tuple[Tensor, list[Tensor]]:
        square = state[0] * self.decay + gradient * gradient * (1 - self.decay)
        return per_run(lr, gradient) * gradient / (square + self.eps).sqrt(), [square]


OPTIMISERS: dict[str, Callable[[float, float], Optimiser]] = {
    "adam": lambda momentum, decay: Adam(),
    "sgd": lambda momentum, decay: SGD(momentum),
    "rmsprop": lambda momentum, decay: RMSProp(decay),
    "tf_rmsprop": lambda momentum, decay: TensorFlowRMSProp(decay),
}


def optimiser(name: str, momentum: float = 0.0, decay: float = 0.99) -> Optimiser:
    """Return the optimiser of that name; raise an error that suggests one if there is none."""
    if name not in OPTIMISERS:
        raise unknown("optimiser", name, OPTIMISERS)
    return OPTIMISERS[name](momentum, decay)


def slots(rule: Optimiser, parameter: Tensor) -> list[Tensor]:
    """Return the state of an optimiser for a parameter before the first update."""
    return [torch.full_like(parameter, rule.first) for _ in rule.slots]


def cosine(lr: Tensor, step: Tensor, steps: int) -> Tensor:
    """Return a learning rate that falls to zero along half a cosine."""
    return lr * 0.5 * (1 + torch.cos(math.pi * step.to(lr.dtype) / steps))


def clip_norm(gradients: Tensors, largest: Tensor) -> Tensors:
    """Scale each run's gradient, over all its parameters, to at most a norm (runs,); infinity leaves it.

    As in torch, a sum of squares beyond the range of float32 makes the gradient 0: the run takes no step.
    """
    square = torch.stack([g.square().flatten(1).sum(-1) for g in gradients.values()]).sum(0)
    factor = torch.where(largest.isinf(), 1.0, (largest / (square.sqrt() + 1e-6)).clamp_max(1.0))
    return {name: g * per_run(factor, g) for name, g in gradients.items()}


def clip_scaled_norm(gradients: Tensors, largest: Tensor) -> Tensors:
    """Clip as ``clip_norm`` does, by a norm that does not overflow: the largest entry is divided out before squaring.

    A gradient that is not finite is left as it is.
    """
    top = torch.stack([g.abs().flatten(1).amax(-1) for g in gradients.values()]).amax(0)
    unit = torch.where(top > 0, top, 1.0)
    parts = {name: g / per_run(unit, g) for name, g in gradients.items()}
    root = torch.stack([p.square().flatten(1).sum(-1) for p in parts.values()]).sum(0).sqrt()
    size = largest / (root + 1e-6 / unit)  # of the largest entry, once the norm is at its bound
    return {
        name: torch.where(per_run(size < unit, g), parts[name] * per_run(size, g), g)
        for name, g in gradients.items()
    }


CLIPS: dict[str, Callable[[Tensors, Tensor], Tensors]] = {"plain": clip_norm, "scaled": clip_scaled_norm}


def clip_value(gradients: Tensors, largest: Tensor) -> Tensors:
    """Clip each entry of a run's gradient to within plus and minus a value (runs,)."""
    return {
        name: g.maximum(-per_run(largest, g)).minimum(per_run(largest, g)) for name, g in gradients.items()
    }


def noisy(gradients: Tensors, eta: Tensor, key: Tensor, step: Tensor) -> Tensors:
    """Add annealed noise N(0, eta / (1 + step)^0.55) to each entry (Neelakantan et al. 2015)."""
    deviation = eta.sqrt() * (1 + step.to(eta.dtype)) ** -0.275
    result, start = {}, 0
    for name, g in gradients.items():
        size = g[0].numel()
        position = torch.arange(start, start + size, dtype=torch.int32, device=g.device)
        start += size
        noise = draws.normal(draws.bits(key, step, position), g.dtype).reshape(g.shape)
        result[name] = g + per_run(deviation, g) * noise
    return result
