"""Recipes: the settings of training, and weights that change while it runs."""

from collections.abc import Callable, Hashable
from dataclasses import dataclass, fields
from typing import Literal

from nalm.config.settings import equal, per_run, present, setting
from nalm.config.values import Value, require


@dataclass(frozen=True)
class Ramp(Value):
    """A weight that grows linearly from 0 at one step to its full value at another (Mistry 2023, equation 2.16).

    >>> [Ramp(10, 20_000, 35_000).at(step) for step in (0, 20_000, 27_500, 35_000, 50_000)]
    [0.0, 0.0, 5.0, 10.0, 10.0]
    """

    weight: float
    start: float = 0.0
    end: float = 0.0

    def check(self) -> None:
        require(self.start <= self.end, f"A ramp needs start <= end, got {self.start:g} and {self.end:g}.")

    def at(self, step: int) -> float:
        """Return the weight at a step; a ramp of no length has its full weight from its start on."""
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
        """Return the weight at a step, computed in exact decimals."""
        from decimal import Decimal

        value, end = Decimal(repr(self.start)), Decimal(repr(self.end))
        rising = value < end
        for _ in range(step // self.every):
            if (value < end) if rising else (value > end):
                value = value * 10 if rising else value / 10
        return float(value)


def _names(penalties: "tuple[tuple[str, Ramp], ...]") -> Hashable:
    """Return the names of the penalties: cases share a program only if these are equal."""
    return tuple(sorted(name for name, _ in penalties))


def _parameters(starts: tuple[tuple[str, float, float], ...]) -> Hashable:
    """Return the names of parameters with normal starts: cases share a program only if these are equal."""
    return tuple(name for name, *_ in starts)


def _normal(starts: tuple[tuple[str, float, float], ...]) -> str:
    """Return the label of normal starts: means and deviations of a layer's parameters; equal layers are named once."""
    layers: dict[str, list[tuple[float, float]]] = {}
    for name, mean, deviation in starts:
        layers.setdefault(name.partition(".")[0], []).append((mean, deviation))
    texts = []
    for layer in layers.values():
        means, deviations = ([f"{number:g}" for number in numbers] for numbers in zip(*layer, strict=True))
        one = deviations[:1] if len(set(deviations)) == 1 else deviations
        texts.append(f"{' '.join(means)} sd {' '.join(one)}")
    return f"start {' then '.join(dict.fromkeys(texts))}" if starts else ""


def _growth(name: str) -> Callable[[Growth | None], str]:
    """Return the label of a growing weight."""
    return lambda growth: "" if growth is None else f"{name} {growth.start:g} to {growth.end:g}"


def _safety(norm: str) -> str:
    """Return the label of a norm."""
    return "safe clip" if norm == "scaled" else ""


@dataclass(frozen=True)
class Recipe(Value):
    """The settings with which a case is trained.

    A new field is written here alone: ``setting`` says beside it what it means for programs and labels.
    """

    steps: int = setting(50_000, equal, lambda steps: f"{steps:,} steps")
    batch: int = setting(128, equal, lambda batch: f"batches of {batch}")
    lr: float = setting(1e-3, per_run, lambda lr: f"lr {lr:g}")
    optimiser: Literal["adam", "sgd", "rmsprop", "tf_rmsprop"] = setting("adam", equal, "optimiser")
    momentum: float = setting(0.0, equal, "optimiser")
    schedule: Literal["constant", "cosine"] = setting("constant", equal, str)
    loss: str = setting("mse", equal, "loss")
    then: str = setting("", equal, "loss")  # the loss from step `switch` on
    switch: int = setting(0, equal)
    # weights of the units' named penalties
    penalties: tuple[tuple[str, Ramp], ...] = setting((), _names, "penalties")
    l1: Growth | None = setting(None, present, _growth("L1"))  # noqa: RUF009  # on the sum of absolute parameters
    l2: Growth | None = setting(None, present, _growth("L2"))  # noqa: RUF009  # on the sum of the tensors' 2-norms
    clip_norm: float = setting(0.0, present, "clip")  # of a run's whole gradient; 0 is off
    clip_value: float = setting(0.0, present, "clip")  # of each entry; 0 is off
    # eta of N(0, eta / (1 + step)^0.55)
    gradient_noise: float = setting(0.0, present, lambda eta: f"gradient noise {eta:g}" if eta else "")
    # the iNALU's rule: penalty `weight` by 0.05 once it fits, reinitialise if stuck
    inalu: bool = setting(False, equal)
    stop_when_solved: bool = setting(False, equal)
    # times a weight, added to its gradient, behind a reader of images
    weight_decay: float = setting(0.0, per_run, added_later=True)
    # initial weights on a grid of so many points from 0 to 1, by the seed; 0 draws them
    grid: int = setting(0, equal, added_later=True)
    decay: float = setting(0.99, equal, added_later=True)  # of RMSProp's mean of squares
    polish: int = setting(0, equal, added_later=True)  # steps of L-BFGS after the others, for systems
    # parameters that are drawn between two numbers: ("1.gate", 1, 1)
    starts: tuple[tuple[str, float, float], ...] = setting((), equal, added_later=True)
    # of clip_norm: the root of the sum of squares, which overflows beyond 1e19 as in torch; or the same of entries that
    # are first divided by the largest one
    norm: Literal["plain", "scaled"] = setting("plain", equal, _safety, added_later=True)
    # parameters that are drawn from a normal distribution: ("0.w_hat", mean, deviation)
    normal_starts: tuple[tuple[str, float, float], ...] = setting((), _parameters, _normal, added_later=True)
    # the training of Schlör 2020, as its code has it: weights and gates in turns, penalties in steps of their own,
    # new starts from U(-2, 2)
    rules: Literal["", "schloer"] = setting(
        "", equal, lambda name: "in turns" if name else "", added_later=True
    )

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
        for name, _, deviation in self.normal_starts:
            require(deviation >= 0, f"{name!r} starts with a deviation of 0 or more, got {deviation:g}.")
        require(
            not (self.rules and (self.inalu or self.penalties)),
            f"The rules {self.rules!r} bring their own penalty: leave out inalu and penalties.",
        )
        names = [name for name, _ in self.penalties]
        require(len(set(names)) == len(names), f"A penalty is named twice in {names}.")

    def stretched(self, steps: int) -> "Recipe":
        """Return the recipe for another number of steps, with everything that happens at a step moved in proportion.

        >>> Recipe(penalties=(("weight", Ramp(10, 20_000, 35_000)),)).stretched(5_000).penalties
        (('weight', Ramp(weight=10.0, start=2000.0, end=3500.0)),)
        """
        ratio = steps / self.steps

        def moved(step: float) -> int:
            return max(1, round(step * ratio))

        ramps = tuple(
            (name, ramp.replace(start=ramp.start * ratio, end=ramp.end * ratio))
            for name, ramp in self.penalties
        )
        l1, l2 = (g and g.replace(every=moved(g.every)) for g in (self.l1, self.l2))
        switch = moved(self.switch) if self.switch else 0
        return self.replace(steps=steps, penalties=ramps, l1=l1, l2=l2, switch=switch)

    @property
    def scheduled(self) -> bool:
        """True if something happens at a step, so that the length of the training matters for it."""
        return any(ramp.end for _, ramp in self.penalties) or bool(self.l1 or self.l2 or self.switch)

    def signature(self) -> Hashable:
        """Return what shapes the compiled step; recipes with equal signatures differ in numbers of each run only."""
        return tuple(f.metadata["groups"](getattr(self, f.name)) for f in fields(self))
