"""The ways to train a population, and which kind of task is trained by which.

To add a trainer: write a class with these methods in a folder of its own, and name it in ``TRAINERS``.
"""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import torch
from torch import Tensor

from nalm.config import (
    Arithmetic,
    Case,
    Colour,
    ImageSequence,
    Lists,
    Recurrent,
    Rows,
    SystemTask,
    Task,
    TwoDigits,
)
from nalm.engine import images, numbers, systems
from nalm.engine.plan import Run
from nalm.results.runs import Runs


class Trainer(Protocol):
    """Trains one population, which is runs of equal signature. It can be saved after any call and restored exactly."""

    def __init__(
        self,
        runs: Sequence[Run],
        device: torch.device,
        *,
        compiled: bool = True,
        data: str = "",
        precision: str = "",
    ):
        """Draw the initial weights; ``data``, the folder of MNIST's files, and ``precision`` are for images only."""
        ...

    @staticmethod
    def check(case: Case) -> None:
        """Raise a NALMError if the case cannot be trained by this class."""
        ...

    @staticmethod
    def was_compiled(mode: str) -> bool:
        """Return whether a run with this stored mode ("eager", "compiled", "captured", ...) used compiled steps."""
        ...

    @property
    def at(self) -> int:
        """The mean number of steps of its runs so far; images are trained one run after another."""
        ...

    @property
    def finished(self) -> bool:
        """True if nothing is left to train."""
        ...

    def solved_now(self) -> np.ndarray:
        """Return for each run whether its test error at the last evaluation is below its threshold."""
        ...

    def advance(self) -> None:
        """Train until the next evaluation, or a part of the way, and record the evaluation."""
        ...

    def state(self) -> dict[str, Tensor]:
        """Return everything that a later process needs to continue, as named tensors."""
        ...

    def final_state(self) -> dict[str, Tensor] | None:
        """Return the state from which a finished population can be trained for more steps, or None."""
        ...

    def restore(self, tensors: dict[str, Tensor]) -> None:
        """Load a state of the same population; the next ``advance`` continues from it."""
        ...

    def results(self) -> Runs:
        """Return what was recorded, as plain arrays."""
        ...


TRAINERS: dict[type[Task], type[Trainer]] = {
    Arithmetic: numbers.NumberTrainer,
    Recurrent: numbers.NumberTrainer,
    Lists: numbers.NumberTrainer,
    Rows: numbers.RowTrainer,
    SystemTask: systems.SystemTrainer,
    TwoDigits: images.ImageTrainer,
    Colour: images.ImageTrainer,
    ImageSequence: images.ImageTrainer,
}


def trainer_for(case: Case) -> type[Trainer]:
    """Return the class that trains a case."""
    return TRAINERS[type(case.task)]


def trainer(
    runs: Sequence[Run],
    device: torch.device,
    *,
    compiled: bool = True,
    data: str = "",
    precision: str = "",
) -> Trainer:
    """Return the training of a population, from its start."""
    kind = trainer_for(runs[0].case)
    return kind(runs, device, compiled=compiled, data=data, precision=precision)
