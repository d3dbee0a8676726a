"""Noise in a forward pass, computed from a key and a counter instead of a random generator."""

import math

import torch
from torch import Tensor, nn

from nalm import draws
from nalm.units.start import RandomSource


class Noise(nn.Module):
    """New random numbers at every call, computed from two buffers.

    The numbers are a hash of (key, counter, position). They are the same on every device, alone and in a population,
    and are saved and restored with the layer. This works in any network and under ``functional_call``, ``vmap`` over
    members, ``torch.compile`` and ``stack``.

    Limits: activation checkpointing runs the forward pass twice and so sees two values of the counter; a
    ``deepcopy`` repeats the original's numbers until ``reset`` draws another key; under a per-sample ``vmap`` all
    samples see the same numbers, because a sample does not know its position.
    """

    key: Tensor  # (*runs, 2)
    counter: Tensor  # (*runs,)

    def __init__(self, *, device: torch.device | str | None = None):
        super().__init__()
        self.register_buffer("key", torch.zeros(2, dtype=torch.int32, device=device))
        self.register_buffer("counter", torch.zeros((), dtype=torch.int32, device=device))

    @torch.no_grad()
    def reset(self, source: RandomSource) -> None:
        """Draw a new key and set the counter to zero."""
        key = (source.uniform(tuple(self.key.shape)) * 2.0**32 - 2.0**31).floor()
        self.key.copy_(key.to(torch.int32))
        self.counter.zero_()

    def bits(self, shape: tuple[int, ...]) -> Tensor:
        """Return random bits of that shape, which begins with the axes of runs, and increase the counter."""
        position = torch.arange(
            math.prod(shape[self.counter.ndim :]), dtype=torch.int32, device=self.key.device
        )
        bits = draws.bits(self.key, self.counter, position).reshape(shape)
        # Not in place, since torch.func forbids changing a captured tensor.
        self.counter = without_gradient_wrapper(self.counter + 1)
        return bits

    def uniform(self, shape: tuple[int, ...], dtype: torch.dtype) -> Tensor:
        """Return uniform numbers in (0, 1)."""
        return draws.symmetric(self.bits(shape), dtype) * 0.5 + 0.5

    def normal(self, shape: tuple[int, ...], dtype: torch.dtype) -> Tensor:
        """Return standard normal numbers."""
        return draws.normal(self.bits(shape), dtype)


def without_gradient_wrapper(tensor: Tensor) -> Tensor:
    """Return the tensor inside the wrappers of ``torch.func.grad``, which must not outlive the transform.

    The only use of torch's private functorch interface (docs/torch-internals.md).
    """
    functorch = torch._C._functorch
    while not torch.compiler.is_compiling() and functorch.is_gradtrackingtensor(tensor):
        tensor = functorch.get_unwrapped(tensor)
    return tensor
