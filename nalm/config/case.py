"""One model, one task and one recipe, as a value.

Names (of units, losses, operations) are strings here and are resolved by the engine, so that reading a
configuration needs nothing but the standard library.
"""

import dataclasses
import functools
from dataclasses import dataclass, field
from typing import Any, Self

from nalm.config.images import Colour, ImageSequence, TwoDigits
from nalm.config.layer import Layer
from nalm.config.numbers import Arithmetic, Lists, Recurrent, Rows, SystemTask
from nalm.config.ranges import Range
from nalm.config.recipe import Recipe
from nalm.config.stored import StoredCase, stored
from nalm.config.task import Task
from nalm.config.threshold import Threshold
from nalm.config.values import Value, require
from nalm.errors import unknown

KINDS: tuple[type[Task], ...] = (
    *(Arithmetic, Recurrent, Lists, Rows, SystemTask),
    *(TwoDigits, Colour, ImageSequence),
)
KEY = 12  # letters of a hash that tell cases apart in tables and files


@dataclass(frozen=True)
class Case(Value):
    """One model, one task, one recipe: one bar of a chart.

    >>> case = Case((Layer("NMU"),), Arithmetic("multiply", train=Range(1, 2), test=Range(2, 6)))
    >>> case.name, case.key
    ('NMU multiply U[1,2)', 'cc0f4fdb243e')
    """

    model: tuple[Layer, ...]
    task: Task
    recipe: Recipe = field(default_factory=Recipe)

    def check(self) -> None:
        require(len(self.model) >= 1, "A case needs a model of at least one layer.")
        self.task.check_recipe(self.recipe)

    def plain(self) -> dict[str, Any]:
        """Return the flat JSON that stored results have: see ``nalm.config.stored``."""
        return stored(self).plain()

    def brief(self) -> dict[str, Any]:
        """Return the flat JSON without any field that has its default."""
        return stored(self).brief()

    @classmethod
    def read(cls, data: Any, where: str) -> Self:
        """Build a case from the flat JSON of stored results."""
        flat = StoredCase.read(data, where)
        return cls(flat.model, flat.task(), flat.recipe)

    def replace(self, **changes: Any) -> Self:
        """Return a copy with some fields changed; fields of the task may be named directly."""
        own, inner = ([f.name for f in dataclasses.fields(v)] for v in (self, self.task))  # type: ignore[arg-type]
        for name in changes:
            if name not in own + inner:
                raise unknown("field of Case", name, own + inner)
        of_task = {name: value for name, value in changes.items() if name not in own}
        mine = {name: value for name, value in changes.items() if name in own}
        if of_task:
            mine["task"] = mine.get("task", self.task).replace(**of_task)
        return dataclasses.replace(self, **mine)

    @property
    def operation(self) -> str:
        """The name of the operation."""
        return self.task.operation

    @property
    def train(self) -> Range:
        """The range of training inputs."""
        return self.task.train

    @property
    def test(self) -> Range:
        """The range of test inputs."""
        return self.task.test

    @property
    def inputs(self) -> int:
        """The number of inputs of the model."""
        return self.task.inputs

    @property
    def threshold(self) -> Threshold:
        """When a run is solved."""
        return self.task.threshold

    @functools.cached_property
    def key(self) -> str:
        """The first letters of the hash, by which tables and files name the case."""
        return self.hash[:KEY]

    @property
    def epoch(self) -> int:
        """Steps in which training images are seen once; 1 where examples are drawn anew."""
        return self.task.epoch(self.recipe.batch)

    @property
    def trunk(self) -> "Case":
        """The case with its number of steps set to 1: cases with one trunk differ only in how long they are trained."""
        return self.replace(recipe=self.recipe.replace(steps=1))

    @property
    def name(self) -> str:
        """A short name for people: NMU multiply U[1,2)."""
        units = "-".join(layer.label for layer in self.model)
        return f"{units} {self.operation} {self.train}"
