"""Experiments as values: frozen, comparable, JSON in and out, known by the hash of their content.

Names (of units, losses, operations) are strings here and are resolved by the engine, so that reading a
configuration needs nothing but the standard library.
"""

from dataclasses import dataclass, field
from typing import Any, Literal

from nalm.config.images import Digits
from nalm.config.ranges import Range
from nalm.config.recipe import Recipe
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
