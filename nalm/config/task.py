"""The base of all kinds of task. The kinds are in numbers.py and images.py.

To add a kind: write its class there, add it to ``case.KINDS`` and give it a trainer in ``engine/trainer.py``.
"""

from collections.abc import Hashable
from dataclasses import fields
from typing import Literal, Self

from nalm.config.layer import Layer
from nalm.config.ranges import Range
from nalm.config.recipe import Recipe
from nalm.config.threshold import Threshold
from nalm.config.values import Value, require
from nalm.operations import COMPOSITIONS, outputs

Chosen = Literal["last", "train", "validation"]


class Task(Value):
    """The questions that every kind of task answers.

    A kind declares as fields what can differ between its tasks. What it does not declare has the value that is
    written here, so that samplers, thresholds and labels need not know the kind.
    """

    operation: str
    train: Range
    test: Range
    inputs: int  # of the model
    threshold: Threshold

    subset: int = 1
    overlap: int = 0
    subsets: int = 2
    operands: tuple[tuple[int, int], ...] = ()
    sample: int = 0
    data: Literal["draws", "authors"] = "draws"
    scaling: Literal["", "minmax", "minmax-evaluated", "zscore"] = ""
    times: tuple[int, ...] = ()
    test_inputs: int = 0
    grids: tuple[tuple[str, Range], ...] = ()
    counts: tuple[float, ...] = ()
    noise: float = 0.0

    source: Literal["", "mnist", "drawn"] = ""  # of images
    lengths: tuple[int, ...] = ()  # of sequences of images in the test
    folds: int = 1  # parts of the pairs of digits, one of which is held out
    exact: Literal["", "strict", "rounded", "decimals"] = (
        ""  # when an output counts as right; "": errors count
    )
    chosen: Chosen = "validation"  # which evaluation counts: see nalm.results.runs.judged
    every: int = 1  # epochs between evaluations
    start: int = -1  # the seed of the first weights of every run; below 0 each run has its own
    generator: Literal["nalm", "torch"] = "nalm"  # that draws them; torch's is that of its GPUs

    fits_trajectory: bool = False  # whether steps are solutions of differential equations
    extends: bool = False  # whether a longer training goes on from the end of a shorter one
    untrained: tuple[str, ...] = ("weight_decay",)  # fields of a recipe that the trainer does not know
    penalties: tuple[str, ...] = ()  # named penalties besides those of the model's layers
    # fields that may differ between the runs of one program, as far as ``shape`` allows; others must be equal
    per_run: tuple[str, ...] = (
        *("operation", "train", "test", "subset", "overlap", "subsets", "operands", "threshold", "noise"),
    )

    @property
    def operations(self) -> list[str]:
        """The operations that the model computes, one for each output; none where an operation is no formula."""
        return outputs(self.operation)

    @property
    def targets(self) -> int | None:
        """The number of outputs that the last layer must have; None where the layout of images decides."""
        return len(self.operations)

    @property
    def operand_count(self) -> int:
        """The number of operands."""
        return len(self.operands) or self.subsets

    @property
    def used(self) -> int:
        """The number of neighbouring inputs that the operands cover."""
        if self.operands:
            return max(end for _, end in self.operands)
        return self.subset + (self.subsets - 1) * (self.subset - self.overlap)

    @property
    def size(self) -> int:
        """The number of values that training holds of one example."""
        return self.inputs

    @property
    def images(self) -> int:
        """The number of images that are read of one example."""
        return 0

    @property
    def positive(self) -> bool:
        """True if every input is known to be positive, so that formulas need no absolute values."""
        return self.train.kind == "uniform" and self.train.low > 0

    @property
    def measured(self) -> bool:
        """True if a run is also measured at its last step: where grids or counts ask for it, and compositions."""
        return bool(self.grids or self.counts or self.operation in COMPOSITIONS)

    def epoch(self, batch: int) -> int:
        """Return the number of steps in which all training examples are seen once; 1 where they are drawn anew."""
        return 1

    def simulated(self) -> Self:
        """Return the task with defaults for everything that does not change its threshold: equal ones share it."""
        return self.replace(train=Range())

    def shape(self) -> Hashable:
        """Return what the fields that may differ between runs mean for the compiled step."""
        return (
            (self.train.family, self.test.family, self.threshold.metric),
            self.operand_count,
            self.noise > 0,
            self.subset > 1
            or bool(self.operands),  # which inputs are added up is numbers; whether any are is not
        )

    def signature(self, model: tuple[Layer, ...], recipe: Recipe) -> Hashable:
        """Return everything that shapes the compiled step; a new field shapes it unless ``per_run`` names it."""
        equal = [f.name for f in fields(self) if f.name not in self.per_run]  # type: ignore[arg-type]
        values = tuple((name, getattr(self, name)) for name in equal)
        return type(self), model, values, self.shape(), recipe.signature()

    def check_recipe(self, recipe: Recipe) -> None:
        """Raise a NALMError if the recipe has a setting that the trainer of this kind does not know."""
        asked = [name for name in self.untrained if name in recipe.changed()]
        require(
            not asked, f"A {type(self).__name__} task is trained without {' or '.join(asked)}: leave it out."
        )
