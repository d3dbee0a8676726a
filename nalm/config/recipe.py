"""How a case is trained, as a value."""

from dataclasses import dataclass
from typing import Literal

from nalm.config.images import Digits as Digits
from nalm.config.ranges import Range as Range
from nalm.config.ranges import grid as grid
from nalm.config.ranges import mirrored as mirrored
from nalm.config.ranges import parted as parted
from nalm.config.ranges import points as points
from nalm.config.ranges import sequence as sequence
from nalm.config.ranges import split as split
from nalm.config.ranges import truncated as truncated
from nalm.config.values import Value, later, require


@dataclass(frozen=True)
class Ramp(Value):
    """A weight that grows linearly from 0 at one step to its full value at another (thesis eq. 2.16).

    >>> [Ramp(10, 20_000, 35_000).at(step) for step in (0, 20_000, 27_500, 35_000, 50_000)]
    [0.0, 0.0, 5.0, 10.0, 10.0]
    """

    weight: float
    start: float = 0.0
    end: float = 0.0

    def check(self) -> None:
        require(self.start <= self.end, f"A ramp needs start <= end, got {self.start:g} and {self.end:g}.")

    def at(self, step: int) -> float:
        """The weight at a step; a ramp of no length is on from its start."""
        if self.end == self.start:
            return self.weight * (step >= self.start)
        return self.weight * min(1.0, max(0.0, (step - self.start) / (self.end - self.start)))


@dataclass(frozen=True)
class Growth(Value):
    """A weight multiplied by 10 every so many steps while below its end (or divided while above it).

    >>> [Growth(1e-9, 1e-7).at(step) for step in (0, 9_999, 10_000, 19_999, 20_000, 50_000)]
    [1e-09, 1e-09, 1e-08, 1e-08, 1e-07, 1e-07]
    """

    start: float
    end: float
    every: int = 10_000

    def check(self) -> None:
        require(self.start > 0 and self.end > 0, f"A growing weight is positive, got {self}.")
        require(self.every >= 1, f"A weight grows every step or more rarely, got every={self.every}.")

    def at(self, step: int) -> float:
        """The weight at a step, in exact decimals."""
        from decimal import Decimal

        value, end = Decimal(repr(self.start)), Decimal(repr(self.end))
        rising = value < end
        for _ in range(step // self.every):
            if (value < end) if rising else (value > end):
                value = value * 10 if rising else value / 10
        return float(value)


@dataclass(frozen=True)
class Recipe(Value):
    """How a case is trained."""

    steps: int = 50_000
    batch: int = 128
    lr: float = 1e-3
    optimiser: Literal["adam", "sgd", "rmsprop"] = "adam"
    momentum: float = 0.0
    schedule: Literal["constant", "cosine"] = "constant"
    loss: str = "mse"
    then: str = ""  # the loss from step `switch` on
    switch: int = 0
    penalties: tuple[tuple[str, Ramp], ...] = ()  # weights of the units' named penalties
    l1: Growth | None = None  # on the sum of absolute parameters
    l2: Growth | None = None  # on the sum of the tensors' 2-norms
    clip_norm: float = 0.0  # of a run's whole gradient; 0 is off
    clip_value: float = 0.0  # of each entry; 0 is off
    gradient_noise: float = 0.0  # eta of N(0, eta / (1 + step)^0.55)
    inalu: bool = False  # the iNALU's rule: penalty `weight` by 0.05 once it fits, reinitialise if stuck
    stop_when_solved: bool = False
    weight_decay: float = later(0.0)  # times a weight, added to its gradient, behind a reader of images
    grid: int = later(0)  # initial weights on a grid of so many points from 0 to 1, by the seed; 0 draws them
    decay: float = later(0.99)  # of RMSProp's mean of squares
    polish: int = later(0)  # steps of L-BFGS after the others, where a whole trajectory is fitted
    starts: tuple[tuple[str, float, float], ...] = later(())  # drawn between two numbers: ("1.gate", 1, 1)

    def check(self) -> None:
        require(
            self.steps >= 1 and self.batch >= 1, f"A recipe needs steps and batch of 1 or more, got {self}."
        )
        require(self.lr > 0, f"A learning rate is positive, got {self.lr!r}.")
        require(
            min(self.clip_norm, self.clip_value, self.gradient_noise, self.weight_decay) >= 0,
            f"{self} has a negative size.",
        )
        require(
            bool(self.then) == (self.switch > 0) and self.switch >= 0,
            f"A second loss needs a step to switch at, got then={self.then!r} and switch={self.switch}.",
        )
        require(self.grid == 0 or self.grid > 1, f"A grid has at least two points, got {self.grid}.")
        require(0 <= self.decay < 1, f"A mean of squares decays by 0 <= decay < 1, got {self.decay!r}.")
        for name, low, high in self.starts:
            require(
                low <= high, f"{name!r} starts between two numbers, low <= high; got {low:g} and {high:g}."
            )
        names = [name for name, _ in self.penalties]
        require(len(set(names)) == len(names), f"A penalty is named twice in {names}.")
