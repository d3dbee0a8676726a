"""Initialisation of parameters: a shape and a distribution, as data.

A layer that a user constructs samples them with a ``torch.Generator``; the engine samples them for a population from
draws that depend only on the seed of each run.
"""

from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Generator, Tensor

from nalm.errors import NALMError


class RandomSource(Protocol):
    """A source of random float64 tensors of a shape, or for many runs at once (runs, *shape)."""

    def uniform(self, shape: tuple[int, ...]) -> Tensor:
        """Return uniform numbers in [0, 1)."""
        ...

    def normal(self, shape: tuple[int, ...]) -> Tensor:
        """Return standard normal numbers."""
        ...


@dataclass(frozen=True)
class FromGenerator:
    """A torch generator as a source; without one, torch's global generator of the CPU."""

    generator: Generator

    @classmethod
    def of(cls, generator: Generator | None) -> "FromGenerator":
        if not isinstance(generator, Generator | None):
            raise NALMError(
                f"A generator is needed, got {generator!r}: use torch.Generator().manual_seed(0)."
            )
        return cls(torch.default_generator if generator is None else generator)

    def uniform(self, shape: tuple[int, ...]) -> Tensor:
        return torch.rand(shape, generator=self.generator, dtype=torch.float64, device=self.generator.device)

    def normal(self, shape: tuple[int, ...]) -> Tensor:
        return torch.randn(shape, generator=self.generator, dtype=torch.float64, device=self.generator.device)


@dataclass(frozen=True)
class Uniform:
    """Uniform between low and high."""

    shape: tuple[int, ...]
    low: float
    high: float

    def sample(self, source: RandomSource) -> Tensor:
        return self.low + (self.high - self.low) * source.uniform(self.shape)


@dataclass(frozen=True)
class Normal:
    """Normal with a mean and a standard deviation."""

    shape: tuple[int, ...]
    mean: float
    std: float

    def sample(self, source: RandomSource) -> Tensor:
        return self.mean + self.std * source.normal(self.shape)


@dataclass(frozen=True)
class Constant:
    """The same number everywhere."""

    shape: tuple[int, ...]
    value: float

    def sample(self, source: RandomSource) -> Tensor:
        return torch.full(self.shape, self.value, dtype=torch.float64)


@dataclass(frozen=True)
class Orthogonal:
    """A matrix with orthonormal rows or columns, uniformly distributed; identity when square and asked for."""

    shape: tuple[int, int]
    identity_if_square: bool = False

    def sample(self, source: RandomSource) -> Tensor:
        rows, columns = self.shape
        if self.identity_if_square and rows == columns:
            return torch.eye(rows, dtype=torch.float64)
        q, r = torch.linalg.qr(source.normal((max(rows, columns), min(rows, columns))))
        # The signs make the distribution uniform (Mezzadri 2007).
        q = q * r.diagonal(dim1=-2, dim2=-1).sign().unsqueeze(-2)
        return q if rows >= columns else q.mT


Start = Uniform | Normal | Constant | Orthogonal
