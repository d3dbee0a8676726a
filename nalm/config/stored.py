"""The JSON of a case: flat keys, as results folders hold them since before tasks had kinds.

The hash of a case is that of this JSON. A new field of a task is added here with ``added_later``.
"""

from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, Literal

from nalm.config.images import Colour, ImageSequence, OfImages, TwoDigits
from nalm.config.layer import Layer
from nalm.config.numbers import Arithmetic, Lists, Recurrent, Rows, SystemTask
from nalm.config.ranges import Range
from nalm.config.recipe import Recipe
from nalm.config.task import Task
from nalm.config.threshold import Threshold
from nalm.config.values import Value, added_later, require
from nalm.operations import LISTS, SYSTEMS

if TYPE_CHECKING:
    from nalm.config.case import Case

LAYOUTS: dict[str, type[OfImages]] = {"pair": TwoDigits, "colour": Colour, "sequence": ImageSequence}


@dataclass(frozen=True)
class StoredDigits(Value):
    """The part of the JSON that tasks on images have."""

    layout: Literal["pair", "colour", "sequence"] = "pair"
    source: Literal["mnist", "drawn"] = "mnist"
    samples: int = 1_000
    folds: int = 10
    exact: Literal["strict", "rounded", "decimals"] = "strict"
    chosen: Literal["last", "train", "validation"] = "last"
    validation: float = added_later(0.0)
    identity: bool = added_later(False)
    length: int = added_later(0)
    lengths: tuple[int, ...] = added_later(())
    every: int = added_later(1)
    start: int = added_later(-1)
    generator: Literal["nalm", "torch"] = added_later("nalm")


@dataclass(frozen=True)
class StoredCase(Value):
    """The fields of a case in one flat object."""

    model: tuple[Layer, ...]
    operation: str
    train: Range
    test: Range
    recipe: Recipe = field(default_factory=Recipe)
    inputs: int = 2
    subset: int = 1
    overlap: int = 0
    subsets: int = 2
    sample: int = 0
    threshold: Threshold = field(default_factory=Threshold)
    data: Literal["draws", "authors"] = "draws"
    scaling: Literal["", "minmax", "minmax-evaluated", "zscore"] = added_later("")
    times: tuple[int, ...] = added_later(())
    operands: tuple[tuple[int, int], ...] = added_later(())
    test_inputs: int = added_later(0)
    grids: tuple[tuple[str, Range], ...] = added_later(())
    counts: tuple[float, ...] = added_later(())
    digits: StoredDigits | None = added_later(None)  # noqa: RUF009
    digest: str = added_later("")  # of rows of one's own
    outputs: int = added_later(1)
    noise: float = added_later(0.0)

    @property
    def kind(self) -> type[Task]:
        """The kind of task that these fields describe."""
        if self.digits is not None:
            return LAYOUTS[self.digits.layout]
        if self.digest:
            return Rows
        if self.operation in SYSTEMS:
            return SystemTask
        if self.operation in LISTS:
            return Lists
        return Recurrent if self.times else Arithmetic

    def task(self) -> Task:
        """Return the task; a field that its kind does not have must be at its default."""
        kind, own = self.kind, {f.name for f in fields(self.kind)}  # type: ignore[arg-type]
        found: dict[str, Any] = {}
        fixed = {"chosen": kind.chosen, "test": self.train}
        for stored, skip in ((self, ("model", "recipe", "digits")), (self.digits, ("layout",))):
            for name, value, usual in [] if stored is None else _values(stored):
                if name in own:
                    found[name] = value
                elif name not in skip:
                    require(
                        value == fixed.get(name, usual),
                        f"A {kind.__name__} task has no field {name!r}: leave it out, got {value!r}.",
                    )
        return kind(**found)


def _values(stored: Value) -> list[tuple[str, Any, Any]]:
    """Return name, value and default of every field."""
    return [(f.name, getattr(stored, f.name), f.default) for f in fields(stored)]  # type: ignore[arg-type]


def stored(case: "Case") -> StoredCase:
    """Return the flat fields of a case."""
    task, flat = case.task, {f.name for f in fields(StoredCase)}
    values = {f.name: getattr(task, f.name) for f in fields(task)}  # type: ignore[arg-type]
    layout = next((name for name, kind in LAYOUTS.items() if type(task) is kind), None)
    digits = None
    if layout is not None:
        nested = {name: value for name, value in values.items() if name not in flat}
        digits = StoredDigits(layout=layout, **{"chosen": task.chosen, **nested})  # type: ignore[arg-type]
    plain = {name: value for name, value in values.items() if name in flat}
    return StoredCase(case.model, recipe=case.recipe, digits=digits, **{"test": task.test, **plain})
