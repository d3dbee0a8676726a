"""Noise inside a forward pass: a key and a counter, and a pure function of both."""

import math

import torch
from torch import Tensor, nn

from nalm import draws
from nalm.units.start import Source


class Noise(nn.Module):
    """Fresh numbers at every call, from two buffers and no random generator.

    The numbers are a hash of (key, counter, position), so they are the same on every device,
    alone and in a population, and are saved and restored with the layer. It works in any
    network and under ``functional_call``, ``vmap`` over members, ``torch.compile`` and ``stack``.

    What it cannot do: activation checkpointing runs the forward pass twice and so sees two values
    of the counter; a ``deepcopy`` repeats the original's numbers until ``reset`` draws another key;
    under a per-sample ``vmap`` all samples see the same numbers, since none knows its place.
    """

    key: Tensor  # (*runs, 2)
    counter: Tensor  # (*runs,)

    def __init__(self, *, device: torch.device | str | None = None):
        super().__init__()
        self.register_buffer("key", torch.zeros(2, dtype=torch.int32, device=device))
        self.register_buffer("counter", torch.zeros((), dtype=torch.int32, device=device))

    @torch.no_grad()
    def reset(self, source: Source) -> None:
        """Draw another key and count from zero."""
        key = (source.uniform(tuple(self.key.shape)) * 2.0**32 - 2.0**31).floor()
        self.key.copy_(key.to(torch.int32))
        self.counter.zero_()

    def bits(self, shape: tuple[int, ...]) -> Tensor:
        """Bits of that shape, which begins with the axes of runs; the counter moves on by one."""
        position = torch.arange(
            math.prod(shape[self.counter.ndim :]), dtype=torch.int32, device=self.key.device
        )
        bits = draws.bits(self.key, self.counter, position).reshape(shape)
        self.counter = _settled(
            self.counter + 1
        )  # not in place: torch.func forbids changing a captured tensor
        return bits

    def uniform(self, shape: tuple[int, ...], dtype: torch.dtype) -> Tensor:
        """Uniform in (0, 1)."""
        return draws.symmetric(self.bits(shape), dtype) * 0.5 + 0.5

    def normal(self, shape: tuple[int, ...], dtype: torch.dtype) -> Tensor:
        """Standard normal."""
        return draws.normal(self.bits(shape), dtype)


def _settled(tensor: Tensor) -> Tensor:
    """The tensor without the wrapper of a gradient transform, which must not outlive it."""
    functorch = torch._C._functorch
    while not torch.compiler.is_compiling() and functorch.is_gradtrackingtensor(tensor):
        tensor = functorch.get_unwrapped(tensor)
    return tensor
