"""The best unit and recipe for a problem, as far as the package's summary of measured runs knows one."""

import functools
import gzip
import importlib.resources
import json
import math
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal

from nalm.config import Case, Layer, Range, Recipe
from nalm.errors import NALMError
from nalm.experiments import EXPERIMENTS
from nalm.experiments.select import KEYS, chosen
from nalm.operations import operation as find_operation
from nalm.stats import Interval

Row = Mapping[str, Any]
Problem = tuple[float, int, str, int]  # distance from what was asked; inputs, range and subset measured

OTHERS = 3  # runners-up that are named
ANOTHER = 1.0  # the distance to a distribution that is not uniform, its ends aside
BASELINES = (
    "Linear",
    "Affine",
    "MLP",
    "Quadratic",
    "ProductFC",
    "Fixed",
)  # these are not names of the package


@dataclass(frozen=True)
class Measured:
    """One case of the summary: what was trained on what, how often it was solved, and what that cost."""

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
        """How many runs this is about."""
        return self.success.n

    @property
    def problem(self) -> str:
        """What was measured, in words."""
        sums = f", operands that are sums of {self.subset}" if self.subset > 1 else ""
        inputs = f"{self.inputs} input{'s' if self.inputs > 1 else ''}"
        return f"{self.operation} on {self.train} with {inputs}{sums}"

    @property
    def known(self) -> Case | None:
        """The case itself, if the package's experiments still have it."""
        return _known(self.experiment, self.case)

    @property
    def command(self) -> str:
        """What reproduces it; empty if no experiment of the package does."""
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
        return shlex.join(["nalm", "run", self.experiment, *words])

    def code(self, inputs: int) -> str:
        """The line of Python that makes the model for so many inputs; empty if its layers are not known."""
        model = self.known.model if self.known else (Layer(self.unit),)
        if not all(layer.unit.isidentifier() for layer in model):
            return ""
        widths = [inputs, *(layer.out for layer in model)]
        lines = [_layer(layer, width) for layer, width in zip(model, widths, strict=False)]
        return lines[0] if len(lines) == 1 else f"torch.nn.Sequential({', '.join(lines)})"

    def plain(self) -> dict[str, Any]:
        """As JSON takes it."""
        own = {f.name: getattr(self, f.name) for f in fields(self)}
        own |= {"recipe": json.loads(self.recipe.json()), "device": list(self.device), "n": self.n}
        own |= {name: _plain(getattr(self, name)) for name in ("success", "median")}
        return own | {"command": self.command}


@dataclass(frozen=True)
class Suggestion:
    """The answer to what learns an operation on a range: the best case measured, and those next to it.

    ``verdict`` is ``solved``, ``unsolved`` if even the best case never was, and ``unknown`` if nothing was
    measured. ``exact`` says that the very range and number of inputs were; else the nearest were taken.
    """

    operation: str
    train: Range
    inputs: int
    verdict: Literal["solved", "unsolved", "unknown"]
    exact: bool
    sentence: str
    best: Measured | None = None
    others: tuple[Measured, ...] = ()

    @property
    def unit(self) -> str:
        """The best unit; empty if there is none to name."""
        return self.best.unit if self.best else ""

    @property
    def code(self) -> str:
        """The line of Python that makes it for as many inputs as were asked for; empty if it solves nothing."""
        return self.best.code(self.inputs) if self.best and self.verdict == "solved" else ""

    @property
    def recipe_code(self) -> str:
        """The recipe as Python, its defaults left out."""
        if not self.best:
            return ""
        values = {f.name: getattr(self.best.recipe, f.name) for f in fields(Recipe)}
        changed = [f"{n}={v!r}" for n, v in values.items() if v != getattr(Recipe(), n)]
        return f"Recipe({', '.join(changed)})"

    def plain(self) -> dict[str, Any]:
        """As JSON takes it."""
        asked = {"operation": self.operation, "train": str(self.train), "inputs": self.inputs}
        said = {"verdict": self.verdict, "exact": self.exact, "sentence": self.sentence, "code": self.code}
        best = self.best.plain() if self.best else None
        return {"asked": asked, **said, "best": best, "others": [m.plain() for m in self.others]}


def suggest(
    operation: str, low: float, high: float, inputs: int = 2, rows: Sequence[Row] | None = None
) -> Suggestion:
    """The best unit and recipe for an operation on [low, high), from the shipped summary or other rows.

    Among the cases of the measured problem nearest to the one asked for, the best is the one most often
    solved; then the one solved earliest, by the median; then the cheapest. See ``distance`` for near.
    """
    arity = find_operation(operation).arity
    train = Range(low, high)
    if inputs < arity:
        raise NALMError(f"{operation} takes {arity} operands, got {inputs} inputs: ask for {arity} or more.")
    summary = shipped_rows() if rows is None else rows
    cases: dict[str, Measured] = {}
    for m in (_measured(row) for row in summary if row.get("operation") == operation):
        if m.n and (m.case not in cases or m.n > cases[m.case].n):
            cases[m.case] = m  # of a case in several experiments, the one with most runs
    if not cases:
        have = ", ".join(sorted({str(row.get("operation")) for row in summary} - {operation})) or "nothing"
        sentence = f"Not known: nothing was measured for {operation}. Measured: {have}."
        return Suggestion(operation, train, inputs, "unknown", False, sentence)
    nearest = min(_problem(m, train, inputs) for m in cases.values())
    found = sorted((m for m in cases.values() if _problem(m, train, inputs) == nearest), key=_rank)
    best, exact = found[0], nearest[0] == 0
    verdict: Literal["solved", "unsolved"] = "solved" if best.success.estimate > 0 else "unsolved"
    others = tuple(found[1 : OTHERS + 1])
    return Suggestion(operation, train, inputs, verdict, exact, _sentence(found, exact), best, others)


def distance(measured: str, subset: int, inputs: int, train: Range, wanted: int) -> float:
    """How far a measured problem is from the one asked for; 0 if it is the same.

    The sum of: how far the two ends lie apart on the scale asinh(10 x), which is signed and counts factors of
    e beyond 0.1; the logarithm of the ratio of the numbers of inputs; that of the number of inputs whose sum
    an operand is; and 1 if the distribution is not uniform, whose ends are those of all its parts or, where
    it has none, two standard deviations about its mean.
    """
    if (measured, subset, inputs) == (str(train), 1, wanted):
        return 0.0
    low, high = _ends(measured)
    ends = abs(_scale(low) - _scale(train.low)) + abs(_scale(high) - _scale(train.high))
    other = 0.0 if re.fullmatch(r"U\[[^)]*\)", measured) else ANOTHER
    return ends + abs(math.log(inputs / wanted)) + math.log(subset) + other


@functools.cache
def shipped_rows() -> tuple[Row, ...]:
    """The package's summary, made by scripts/summary.py: one row per case."""
    packed = importlib.resources.files("nalm.data").joinpath("summary.json.gz").read_bytes()
    return tuple(json.loads(gzip.decompress(packed)))


def _measured(row: Row) -> Measured:
    try:
        success, median = (Interval(**_numbers(row[name])) for name in ("success", "median"))
        known = _known(row["experiment"], row["case"])
        return Measured(
            recipe=Recipe.from_json(json.dumps(row["recipe"])),
            subset=known.task.subset if known else 1,
            success=success,
            median=median,
            seconds=row["seconds"] / max(success.n, 1),
            device=tuple(row["device"]),
            **{name: row[name] for name in ("unit", "operation", "train", "inputs", "experiment", "case")},
        )
    except (KeyError, TypeError) as error:
        raise NALMError(
            f"A row of the summary is not whole ({error}): make it with scripts/summary.py."
        ) from None


def _numbers(interval: Mapping[str, Any]) -> dict[str, Any]:
    return {name: math.nan if value is None else value for name, value in interval.items()}


def _plain(interval: Interval) -> dict[str, Any]:
    values = {f.name: getattr(interval, f.name) for f in fields(interval)}
    return {n: None if isinstance(v, float) and not math.isfinite(v) else v for n, v in values.items()}


def _known(experiment: str, case: str) -> Case | None:
    """The case of that hash, if the package's experiments have it."""
    cases = EXPERIMENTS[experiment].cases if experiment in EXPERIMENTS else ()
    return next((c for c in cases if c.hash == case), None)


def _problem(m: Measured, train: Range, inputs: int) -> Problem:
    return distance(m.train, m.subset, m.inputs, train, inputs), m.inputs, m.train, m.subset


def _rank(m: Measured) -> tuple[float, float, float]:
    """Best first: success, then the median step, then cost."""
    return -m.success.estimate, math.inf if math.isnan(m.median.estimate) else m.median.estimate, m.seconds


def _scale(value: float) -> float:
    return math.asinh(10 * value)


def _ends(measured: str) -> tuple[float, float]:
    """The lowest and highest value of a range as it is written; two standard deviations where it has no ends."""
    try:
        numbers = [float(x) for pair in re.findall(r"\[([^,)]*),([^)]*)\)", measured) for x in pair]
        if numbers:
            return min(numbers), max(numbers)
        *mean, sd = [float(x) for x in re.findall(r"-?\d[\d.e+-]*", measured)]
        return (mean[0] - 2 * sd, mean[0] + 2 * sd) if mean else (0.0, 2 * sd)
    except ValueError:
        raise NALMError(f"The summary has a range {measured!r} that cannot be read: write U[1,2).") from None


def _sentence(found: Sequence[Measured], exact: bool) -> str:
    best, count = found[0], len(found)
    where = best.problem if exact else f"nearest measured: {best.problem}"
    cases = f"{count} cases" if count > 1 else "only case"
    if best.success.estimate == 0:
        return f"Nothing measured solves it ({where}): no run of the {cases} was solved."
    solved = round(best.success.estimate * best.n)
    return f"{best.unit} is the best of the {cases} ({where}): {solved} of {best.n} runs solved."


def _layer(layer: Layer, width: int) -> str:
    name = f'nalm.BASELINES["{layer.unit}"]' if layer.unit in BASELINES else f"nalm.{layer.unit}"
    options = "".join(f", {key}={value!r}" for key, value in layer.options)
    return f"{name}({width}, {layer.out}{options})"
