"""The interface of a layout: how images make an example."""

from typing import Protocol

import torch
from torch import Tensor, nn

from nalm.config import Case
from nalm.engine.images.data import Resident


class Layout(Protocol):
    """How images make an example; rows are indices of images, (samples, images of a sample)."""

    halves: bool  # whether a GPU reads in bfloat16 unless told otherwise

    def __init__(self, case: Case): ...

    @staticmethod
    def check(case: Case) -> None:
        """Raise a NALMError if the model of a case does not fit the layout."""
        ...

    @property
    def measures(self) -> tuple[str, ...]:
        """The names of what is measured of every sample of an evaluated set; means over the set are kept."""
        ...

    @property
    def tables(self) -> dict[str, tuple[int, ...]]:
        """The names and shapes of what is counted over a set: confusion matrices."""
        ...

    def network(self, precision: torch.dtype) -> nn.Module:
        """Return the network: forward(x) -> (output, digits), penalised(x, names), project(), ``arithmetic``."""
        ...

    def sets(self, seed: int, pictures: Resident) -> dict[str, Tensor]:
        """Return rows by name: ``train``, and the sets that are evaluated, ``seen`` and ``test`` among them."""
        ...

    def inputs(self, images: Tensor, key: Tensor, step: Tensor) -> Tensor:
        """Return what the network sees of images (batch, images, 28, 28) of bytes; the key is for random poses."""
        ...

    def target(self, digits: Tensor) -> Tensor:
        """Return the right output for true digits (batch, images)."""
        ...

    def judged(self, output: Tensor, read: Tensor, digits: Tensor) -> tuple[Tensor, Tensor]:
        """Return the measures of every sample (batch, measures), and its counts (batch, entries of all tables)."""
        ...

    def error(self, means: dict[str, float], test: bool) -> float:
        """Return the error that counts, of all that was measured: in the test, or on the set that chooses the epoch."""
        ...
