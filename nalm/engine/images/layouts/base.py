"""What the training loop asks of a layout of images."""

from typing import Protocol

import torch
from torch import Tensor, nn

from nalm.config import Case
from nalm.engine.images.data import Resident


class Layout(Protocol):
    """What the training loop asks of a layout; rows are places of images, (samples, images of a sample)."""

    def __init__(self, case: Case): ...

    @staticmethod
    def check(case: Case) -> None:
        """Raise a NALMError if the model of a case does not fit the layout."""
        ...

    @property
    def measures(self) -> tuple[str, ...]:
        """What is said of every sample of a set that is evaluated; means over the set are kept."""
        ...

    @property
    def tables(self) -> dict[str, tuple[int, ...]]:
        """What is counted over a set, by name and shape: confusion matrices."""
        ...

    def network(self, precision: torch.dtype) -> nn.Module:
        """The network: forward(x) -> (output, digits), penalised(x, names), project(); layers in ``arithmetic``."""
        ...

    def sets(self, seed: int, pictures: Resident) -> dict[str, Tensor]:
        """Rows by name: ``train``, and the sets that are evaluated, ``seen`` and ``test`` among them."""
        ...

    def inputs(self, images: Tensor, key: Tensor, step: Tensor) -> Tensor:
        """What the network sees of images (batch, images, 28, 28) of bytes; with the run's key, if it is drawn."""
        ...

    def target(self, digits: Tensor) -> Tensor:
        """The right output for true digits (batch, images)."""
        ...

    def judged(self, output: Tensor, read: Tensor, digits: Tensor) -> tuple[Tensor, Tensor]:
        """Of every sample the measures (batch, measures), and its counts (batch, entries of all tables)."""
        ...

    def error(self, means: dict[str, float], test: bool) -> float:
        """What a run is judged by, of all that was measured: on what it may be chosen by, or in the test."""
        ...
