"""Measured cases: rows of the package's summary of all shipped runs, one per case."""

import functools
import gzip
import importlib.resources
import json
import math
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from nalm.config import Case, Layer, Recipe, Task
from nalm.errors import NALMError
from nalm.experiments import EXPERIMENTS
from nalm.experiments.select import KEYS, chosen
from nalm.operations import operation as find_operation
from nalm.stats import Interval

Row = Mapping[str, Any]

# in generated code these are nalm.BASELINES["NAME"] and nalm.NETWORKS["NAME"], since they are not names of the package
BASELINES = ("Linear", "Affine", "MLP", "Quadratic", "ProductFC", "Fixed")
NETWORKS = (
    *("Stack", "GatedStack", "Selector", "FrozenSelector", "Smallest", "Counter", "Paths"),
    *("CodedUnit", "RoutedSelector", "ExpertSelector", "CoefficientUnit"),
)

_TABLES = {"BASELINES": BASELINES, "NETWORKS": NETWORKS}


@dataclass(frozen=True)
class Measured:
    """One case of the summary: model, recipe and task, how often it was solved, and what that cost."""

    unit: str
    recipe: Recipe
    operation: str
    train: str
    inputs: int
    subset: int  # inputs that an operand is the sum of
    success: Interval
    median: Interval  # of solved-at, over the solved runs
    seconds: float  # a run's share of the time its population took
    device: tuple[str, ...]
    experiment: str
    case: str

    @property
    def n(self) -> int:
        """The number of runs."""
        return self.success.n

    @property
    def operands(self) -> int:
        """The number of inputs that the operation takes; of sums and products it may be more than two."""
        operation, case = find_operation(self.operation), self.known
        several = case is not None and operation.kind == "arithmetic" and operation.arity == 2
        return case.task.operand_count if case and several else operation.arity

    @property
    def problem(self) -> str:
        """The task in words."""
        several = (
            f" of {self.operands} operands" if self.operands != find_operation(self.operation).arity else ""
        )
        return f"{self.operation}{several} on {self.train} with {count_inputs(self.inputs)}"

    @classmethod
    def from_row(cls, row: Row) -> "Measured":
        """Read one row of the summary."""
        try:
            success, median = (Interval(**_numbers(row[name])) for name in ("success", "median"))
            known = _known(row["experiment"], row["case"])
            return cls(
                recipe=Recipe.from_json(json.dumps(row["recipe"])),
                subset=known.task.subset if known else 1,
                success=success,
                median=median,
                seconds=row["seconds"] / max(success.n, 1),
                device=tuple(row["device"]),
                **{
                    name: row[name] for name in ("unit", "operation", "train", "inputs", "experiment", "case")
                },
            )
        except (KeyError, TypeError) as error:
            raise NALMError(
                f"A row of the summary is incomplete ({error}): make it with scripts/summary.py."
            ) from None

    @property
    def of_inputs(self) -> bool:
        """True if the operands are single inputs; sums, sequences, images and noisy targets are other problems."""
        case = self.known
        if case is None:
            return self.subset == 1
        return on_inputs(case.task)

    @property
    def known(self) -> Case | None:
        """The case itself, if the package's experiments still have it."""
        return _known(self.experiment, self.case)

    @property
    def command(self) -> str:
        """The command that reproduces it; empty if no experiment of the package has the case.

        It names the number of seeds where that is not the published one.
        """
        case = self.known
        if case is None:
            return ""
        cases = EXPERIMENTS[self.experiment].cases
        only: list[str] = []
        for key in ("unit", "range", "operation", "inputs", "loss", "lr"):
            text = f"{key}={KEYS[key](case)}"
            if len(only) < 2 or len(chosen(cases, [*only, text])) < len(chosen(cases, only)):
                only.append(text)
        words = [word for text in only for word in ("--only", text)]
        seeds = [] if self.n == len(EXPERIMENTS[self.experiment].seeds) else ["--seeds", str(self.n)]
        return shlex.join(["nalm", "run", self.experiment, *words, *seeds])

    def code(self, inputs: int) -> str:
        """Return the line of Python that makes the model for this many inputs; empty if its layers are not known."""
        model = self.known.model if self.known else (Layer(self.unit),)
        if not all(layer.unit.isidentifier() for layer in model):
            return ""
        widths = [inputs, *(layer.out for layer in model)]
        lines = [_layer(layer, width) for layer, width in zip(model, widths, strict=False)]
        return lines[0] if len(lines) == 1 else f"torch.nn.Sequential({', '.join(lines)})"

    def plain(self) -> dict[str, Any]:
        """Return the values as JSON takes them."""
        own = {f.name: getattr(self, f.name) for f in fields(self)}
        own |= {"recipe": json.loads(self.recipe.json()), "device": list(self.device), "n": self.n}
        own |= {name: _plain(getattr(self, name)) for name in ("success", "median")}
        return own | {"command": self.command}


def on_inputs(task: Task) -> bool:
    """Return whether operands are single inputs, not sums of inputs, sequences or images, and targets have no noise."""
    single = all(end - first == 1 for first, end in task.operands)
    return task.subset == 1 and single and not (task.times or task.images or task.noise)


def count_inputs(number: int) -> str:
    """Return a number of inputs in words."""
    return f"{number} input{'s' if number > 1 else ''}"


@functools.cache
def shipped_rows() -> tuple[Row, ...]:
    """Read the summary that comes with the package (made by scripts/summary.py), one row per case."""
    packed = importlib.resources.files("nalm.data").joinpath("summary.json.gz").read_bytes()
    return tuple(json.loads(gzip.decompress(packed)))


def _numbers(interval: Mapping[str, Any]) -> dict[str, Any]:
    return {name: math.nan if value is None else value for name, value in interval.items()}


def _plain(interval: Interval) -> dict[str, Any]:
    values = {f.name: getattr(interval, f.name) for f in fields(interval)}
    return {n: None if isinstance(v, float) and not math.isfinite(v) else v for n, v in values.items()}


def _known(experiment: str, case: str) -> Case | None:
    """Return the case of that hash, if the experiment of the package has it."""
    cases = EXPERIMENTS[experiment].cases if experiment in EXPERIMENTS else ()
    return next((c for c in cases if c.hash == case), None)


def _layer(layer: Layer, width: int) -> str:
    name = next(
        (f'nalm.{of}["{layer.unit}"]' for of, names in _TABLES.items() if layer.unit in names),
        f"nalm.{layer.unit}",
    )
    options = "".join(f", {key}={value!r}" for key, value in layer.options)
    return f"{name}({width}, {layer.out}{options})"
