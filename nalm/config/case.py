"""Experiments as values: frozen, comparable, JSON in and out, known by the hash of their content.

Names (of units, losses, operations) are strings here and are resolved by the engine, so that reading a
configuration needs nothing but the standard library.
"""

from dataclasses import dataclass, field
from typing import Any, Literal

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

MADE_OF = ("units", "widths", "redundancy", "scale")  # options that make a network another one


@dataclass(frozen=True)
class Layer(Value):
    """A unit or baseline by name, its number of outputs, and its own options."""

    unit: str
    out: int = 1
    options: tuple[tuple[str, Any], ...] = ()

    def check(self) -> None:
        require(self.out >= 1, f"A layer has at least one output, got {self.out}.")

    @property
    def label(self) -> str:
        """The unit's name, and in brackets what makes it another one: NSR(10,1.0)."""
        said = [value for name, value in self.options if name in MADE_OF]
        parts = [part for value in said for part in (value if isinstance(value, tuple) else (value,))]
        return self.unit + (f"({','.join(map(str, parts))})" if parts else "")


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


@dataclass(frozen=True)
class Threshold(Value):
    """When a run is solved: its test error is below that of a model that is off by epsilon, or a number.

    ``single`` and ``sums`` simulate a unit, or a layer of sums before an exact unit, whose weights are
    off by epsilon (thesis 3.3.1.1); ``fixed`` is the number itself; ``gold`` is the error of the unit with
    gold weights on the published test set, plus float32's epsilon (thesis 5.8). ``widened`` counts one element
    more in each subset, as the script behind the published thresholds of two-layer tasks does.
    The test error is ``mse``, or for targets that are whole numbers (truth values, counts) the share of
    predictions that do not round to the target: ``mistakes``, or ``rule`` for those of the snapped network.
    """

    kind: Literal["single", "sums", "fixed", "gold"] = "single"
    epsilon: float = 1e-5
    value: float = 1e-5
    metric: Literal["mse", "mistakes", "rule"] = "mse"
    widened: bool = False

    def check(self) -> None:
        require(0 < self.epsilon < 1, f"A threshold needs 0 < epsilon < 1, got {self.epsilon!r}.")
        require(self.value > 0, f"A threshold is positive, got {self.value!r}.")
        require(
            self.metric == "mse" or self.kind == "fixed",
            f"A share of mistakes has a fixed threshold, got {self}.",
        )


@dataclass(frozen=True)
class Case(Value):
    """One model, one task, one recipe: one bar of a chart.

    The operands are sums over subsets of neighbouring inputs: ``subset`` elements each (1: single inputs),
    the next subset overlapping the last by ``overlap``. Which inputs they are depends on the run's seed.
    ``operands`` says instead which inputs they are, as (first, one past the last) each, for every seed.
    ``data="authors"`` takes operand positions and evaluation sets from the generators of the published code.
    ``scaling`` shows the model scaled inputs and scales its outputs back, by the statistics of training data.
    ``times`` makes an example a sequence, so long in training and so long in the test: operands are sums over it too,
    and the first layer is a cell that sees each part in turn beside its own last output, which starts at 0.
    A list is all inputs; ``test_inputs`` is its length beyond training (0: as many).
    An operation may be several, joined by ", ": a model then has as many outputs. ``grids`` asks at the end for the
    mean absolute error of an operation over every point of a grid, ``counts`` for how many parameters exceed a size.
    With ``digits`` the inputs are read from images by a network in front of the model; ``train`` says which digits.
    """

    model: tuple[Layer, ...]
    operation: str
    train: Range
    test: Range
    recipe: Recipe = field(default_factory=Recipe)
    inputs: int = 2
    subset: int = 1
    overlap: int = 0
    subsets: int = 2
    sample: int = 0  # rows of a fixed training sample; 0 draws fresh batches
    threshold: Threshold = field(default_factory=Threshold)
    data: Literal["draws", "authors"] = "draws"
    scaling: Literal["", "minmax", "zscore"] = later("")
    times: tuple[int, ...] = later(())
    operands: tuple[tuple[int, int], ...] = later(())
    test_inputs: int = later(0)
    grids: tuple[tuple[str, Range], ...] = later(())
    counts: tuple[float, ...] = later(())
    digits: Digits | None = later(None)  # noqa: RUF009

    def check(self) -> None:
        require(len(self.model) >= 1, "A case needs a model of at least one layer.")
        gold = "A gold threshold is measured on the published test set: it needs data='authors'."
        require(self.threshold.kind != "gold" or self.data == "authors", gold)
        require(self.subsets >= 1, f"A task has at least one operand, got {self.subsets}.")
        require(
            self.subset >= 1 and 0 <= self.overlap <= self.subset,
            f"Subsets of {self.subset} cannot overlap by {self.overlap}.",
        )
        require(
            not self.times or (len(self.times) == 2 and min(self.times) >= 1),
            f"Sequences have a length in training and one in the test, each 1 or more; got {self.times}.",
        )
        require(self.used <= self.inputs, f"The operands take {self.used} inputs, there are {self.inputs}.")
        require(
            all(0 <= first < end for first, end in self.operands),
            f"An operand is (first, one past the last) of its inputs, got {self.operands}.",
        )
        require(self.sample >= 0, f"A sample has 0 or more rows, got {self.sample}.")
        require(self.test_inputs >= 0, f"A test list has 0 or more inputs, got {self.test_inputs}.")
        require(not (self.test_inputs and self.times), "A test list is no sequence: test_inputs or times.")
        several = ", " in self.operation
        require(not several or self.threshold.kind == "fixed", "Several operations need a fixed threshold.")
        for name, marks in self.grids:
            require(
                name in self.operation.split(", ") and marks.kind == "grid",
                f"An error is measured over a grid, of one of {self.operation!r}; got {name!r} over {marks}.",
            )
        plain = self.digits is None
        digits = f"Digits are whole numbers from 0 to 9, such as grid(0, 10); got {self.train}."
        require(plain or self.train.low in range(10), digits)
        require(not plain or not self.recipe.weight_decay, "Only networks of images have weight decay.")

    @property
    def used(self) -> int:
        """How many neighbouring inputs the operands cover."""
        if self.operands:
            return max(end for _, end in self.operands)
        return self.subset + (self.subsets - 1) * (self.subset - self.overlap)

    @property
    def epoch(self) -> int:
        """Steps in which training images are seen once; 1 where there are none."""
        return 1 if self.digits is None else self.digits.epoch(int(self.train.low), self.recipe.batch)

    @property
    def trunk(self) -> "Case":
        """The case however long it is trained: of two lengths, the shorter is the beginning of the longer."""
        return self.replace(recipe=self.recipe.replace(steps=1))

    @property
    def name(self) -> str:
        """A short name for people: NMU multiply U[1,2)."""
        units = "-".join(layer.label for layer in self.model)
        return f"{units} {self.operation} {self.train}"


@dataclass(frozen=True)
class Claim(Value):
    """A published number, with where it stands and what it is about.

    ``unit``, ``operation`` and ``where`` (a training range or a setting) are the library's names for it.
    ``cases`` are the hashes of the cases it is about; without them it is about those of that unit and range.
    """

    source: str
    metric: str
    value: float
    low: float | None = None
    high: float | None = None
    n: int | None = None
    note: str = ""
    place: str = ""  # the table, figure or section
    task: str = ""
    unit: str = ""
    operation: str = ""
    where: str = ""
    cases: tuple[str, ...] = ()


@dataclass(frozen=True)
class Experiment(Value):
    """A paper's set of cases, with the seeds they were run with and what was published of them."""

    name: str
    title: str
    cases: tuple[Case, ...]
    seeds: tuple[int, ...]
    claims: tuple[Claim, ...] = ()

    def check(self) -> None:
        require(len(set(self.cases)) == len(self.cases), f"A case stands twice in {self.name!r}.")
        require(len(set(self.seeds)) == len(self.seeds), f"A seed stands twice in {self.name!r}.")
