"""Tasks on numbers that are drawn, and on rows of one's own: one class for each kind."""

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Literal, Self

from nalm.config.layer import Layer
from nalm.config.ranges import Range
from nalm.config.recipe import Recipe
from nalm.config.task import Task
from nalm.config.threshold import Threshold
from nalm.config.values import require
from nalm.operations import LISTS, SYSTEMS


@dataclass(frozen=True)
class _OfOperands(Task):
    """Fields of tasks on operands.

    The operands are sums over subsets of neighbouring inputs: ``subset`` elements each (1: single inputs),
    the next subset overlapping the last by ``overlap``. Which inputs they are depends on the run's seed.
    ``operands`` says instead which inputs they are, as (first, one past the last) each, for every seed.
    """

    operation: str
    train: Range
    test: Range
    inputs: int = 2
    subset: int = 1
    overlap: int = 0
    subsets: int = 2
    operands: tuple[tuple[int, int], ...] = ()
    threshold: Threshold = field(default_factory=Threshold)

    def check(self) -> None:
        for name, kind in (*((n, "Lists") for n in LISTS), *((n, "SystemTask") for n in SYSTEMS)):
            require(
                self.operation != name, f"{name!r} needs a task of another kind: write {kind}({name!r}, ...)."
            )
        require(self.subsets >= 1, f"A task has at least one operand, got {self.subsets}.")
        require(
            self.subset >= 1 and 0 <= self.overlap <= self.subset,
            f"Subsets of {self.subset} cannot overlap by {self.overlap}.",
        )
        require(self.used <= self.inputs, f"The operands take {self.used} inputs, there are {self.inputs}.")
        require(
            all(0 <= first < end for first, end in self.operands),
            f"An operand is (first, one past the last) of its inputs, got {self.operands}.",
        )
        require(
            len(self.operations) == 1 or self.threshold.kind == "fixed",
            f"Several operations need a fixed threshold, got {self.operation!r}.",
        )


@dataclass(frozen=True)
class Arithmetic(_OfOperands):
    """An operation on operands; several operations, joined by ", ", are as many outputs of the model.

    ``sample`` is the number of rows of a fixed training sample; 0 draws fresh batches. ``data="authors"`` takes
    operand positions and evaluation sets from the generators of the published code. ``scaling`` shows the model
    scaled inputs and scales its outputs back, by the statistics of training data; with ``minmax-evaluated`` the width
    of inputs is that of the data that is evaluated. ``grids`` asks at the end for the mean absolute error of an
    operation over every point of a grid, ``counts`` for how many parameters exceed a size. ``noise`` is the standard
    deviation of normal noise on training targets, in standard deviations of the targets of a batch.
    """

    sample: int = 0
    data: Literal["draws", "authors"] = "draws"
    scaling: Literal["", "minmax", "minmax-evaluated", "zscore"] = ""
    grids: tuple[tuple[str, Range], ...] = ()
    counts: tuple[float, ...] = ()
    noise: float = 0.0

    def check(self) -> None:
        super().check()
        require(self.noise >= 0, f"Noise on targets is 0 or more, got {self.noise!r}.")
        gold = "A gold threshold is measured on the published test set: it needs data='authors'."
        require(self.threshold.kind != "gold" or self.data == "authors", gold)
        require(self.sample >= 0, f"A sample has 0 or more rows, got {self.sample}.")
        for name, marks in self.grids:
            require(
                name in self.operations and marks.kind == "grid",
                f"An error is measured over a grid, of one of {self.operation!r}; got {name!r} over {marks}.",
            )

    def simulated(self) -> Self:
        """Return the task as fresh batches of numbers that are not scaled."""
        return self.replace(train=Range(), sample=0, data="draws", scaling="", grids=(), counts=(), noise=0.0)


@dataclass(frozen=True)
class Recurrent(_OfOperands):
    """An operation on sums over a sequence; the first layer is a cell that sees one part of it after another.

    ``times`` is the length of a sequence in training and in the test. The cell sees each part beside its own last
    output, which starts at 0; operands are sums over the sequence too.
    """

    times: tuple[int, ...] = (1, 1)

    def check(self) -> None:
        super().check()
        require(
            len(self.times) == 2 and min(self.times) >= 1,
            f"Sequences have a length in training and one in the test, each 1 or more; got {self.times}.",
        )


@dataclass(frozen=True)
class Lists(Task):
    """An operation on a whole list of numbers; ``test_inputs`` is its length in the test (0: as in training)."""

    per_run = ("train", "test", "threshold")

    operation: str
    train: Range
    test: Range
    inputs: int = 2
    test_inputs: int = 0
    threshold: Threshold = field(default_factory=Threshold)

    def check(self) -> None:
        require(
            self.operation in LISTS, f"A list is asked for {', '.join(LISTS)}, not for {self.operation!r}."
        )
        require(self.inputs >= 2, f"A list has 2 or more inputs, got {self.inputs}.")
        require(self.test_inputs >= 0, f"A test list has 0 or more inputs, got {self.test_inputs}.")


@dataclass(frozen=True)
class Rows(Task):
    """Rows of one's own, which stay in memory: the task names them by the ``digest`` of their content.

    ``operation`` is a name for people, ``train`` and ``test`` are the ranges that the inputs span; ``outputs`` counts
    the columns of y and ``sample`` the rows that are trained on.
    """

    per_run = ("threshold",)

    operation: str
    train: Range
    test: Range
    digest: str
    inputs: int = 2
    outputs: int = 1
    sample: int = 1
    threshold: Threshold = field(default_factory=lambda: Threshold("fixed"))

    def check(self) -> None:
        require(bool(self.digest), "Rows are named by the digest of their content: use nalm.fit_units(X, y).")
        require(
            min(self.inputs, self.outputs, self.sample) >= 1,
            f"Rows have inputs, outputs and a sample of at least 1, got {self}.",
        )
        require(self.threshold.kind == "fixed", f"Rows have a fixed threshold, got {self.threshold.kind!r}.")

    @property
    def operations(self) -> list[str]:
        """None: the formula behind the rows is not known."""
        return []

    @property
    def targets(self) -> int:
        """One output for each column of y."""
        return self.outputs


@dataclass(frozen=True)
class SystemTask(Task):
    """Differential equations fitted to a published trajectory; ``counts`` asks how many parameters exceed a size."""

    operation: str
    train: Range
    test: Range
    inputs: int = 2  # states, which are also the outputs
    threshold: Threshold = field(default_factory=Threshold)
    counts: tuple[float, ...] = ()

    fits_trajectory = True
    untrained = ("weight_decay", "normal_starts", "rules")

    def check(self) -> None:
        require(
            self.operation in SYSTEMS,
            f"A system is one of {', '.join(SYSTEMS)}, not {self.operation!r}: write Arithmetic for a formula.",
        )

    @property
    def operations(self) -> list[str]:
        """None: its equations are no formula of operands."""
        return []

    def signature(self, model: tuple[Layer, ...], recipe: Recipe) -> Hashable:
        """Return what decides on the program: not widths, which are padded, nor L1, whose weight may be 0."""
        units = tuple((layer.unit, [o for o in layer.options if o[0] != "hidden"]) for layer in model)
        how = recipe.replace(lr=1.0, l1=None, starts=())
        return self.operation, str(units), how, self.inputs, self.train, self.counts

    @property
    def targets(self) -> int:
        """One rate of change for each state."""
        return self.inputs
