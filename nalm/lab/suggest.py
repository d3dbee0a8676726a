"""Suggest the best unit and recipe for a task, from the package's summary of measured runs."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from nalm.config import Arithmetic, Layer, Range
from nalm.errors import NALMError
from nalm.experiments import EXPERIMENTS
from nalm.lab.measured import Measured as Measured
from nalm.lab.measured import Row, count_inputs, on_inputs, shipped_rows
from nalm.operations import operation as find_operation

Problem = tuple[float, int, str]  # distance from what was asked; inputs and range measured

OTHERS = 3  # other units that are named
INPUTS = 20.0  # by which the logarithm of the ratio of inputs is multiplied: they count before ranges
NOT_UNIFORM = 1.0  # added to the distance of a distribution that is not uniform


@dataclass(frozen=True)
class Suggestion:
    """The best measured case for an operation on a range, and the cases ranked next to it.

    ``verdict`` is ``solved``, ``unsolved`` if no run of the best case was solved, and ``unknown`` if nothing was
    measured. ``exact`` means that this range and number of inputs were measured; otherwise the nearest were used.
    """

    operation: str
    train: Range
    inputs: int
    verdict: Literal["solved", "unsolved", "unknown"]
    exact: bool
    sentence: str
    best: Measured | None = None
    others: tuple[Measured, ...] = ()  # other units
    recipes: tuple[Measured, ...] = ()  # other recipes of the best unit

    @property
    def unit(self) -> str:
        """The best unit; empty if nothing was measured."""
        return self.best.unit if self.best else ""

    @property
    def code(self) -> str:
        """The line of Python that makes the best unit for the requested inputs; empty if it solves nothing."""
        return self.best.code(self.inputs) if self.best and self.verdict == "solved" else ""

    @property
    def loss(self) -> str:
        """The call that returns the loss of the best unit's recipe; empty for squared errors."""
        loss = self.best.recipe.loss if self.best and self.verdict == "solved" else "mse"
        return "" if loss == "mse" else f'nalm.loss("{loss}")'

    @property
    def closed_form(self) -> str:
        """The call that finds such a law from a table without training; empty where the ladder has no such laws."""
        kind = find_operation(self.operation).kind
        return "nalm.search(X, y)" if kind in ("arithmetic", "composition") else ""

    @property
    def snippet(self) -> str:
        """Lines of Python that train the best unit on the requested task; empty if it solves nothing."""
        case = self.best.known if self.best and self.verdict == "solved" else None
        if case is None or not isinstance(case.task, Arithmetic):
            return ""
        model = ", ".join(_layer_code(layer) for layer in case.model)
        uniform = (
            case.train.kind == "uniform"
        )  # others, such as the numbers 0 and 1 of logic, stay as measured
        train = self.train if uniform else case.train
        test = case.test if self.exact or not uniform else train
        ranges = f"{_range_code(train)}, {_range_code(test)}"
        arity = find_operation(self.operation).arity  # measured cases may have operands that it ignores
        subsets = max(min(case.task.operand_count, self.inputs), arity)
        several = f", subsets={subsets}" if subsets != Arithmetic.subsets else ""
        task = f'Arithmetic("{self.operation}", {ranges}, inputs={self.inputs}{several})'
        optional = [name for name in ("Growth", "Ramp") if f"{name}(" in self.recipe_code]
        config = ", ".join(sorted(["Arithmetic", "Case", "Layer", "Range", "Recipe", *optional]))
        return "\n".join(
            (
                "import nalm",
                f"from nalm.config import {config}",
                f"recipe = {self.recipe_code}",
                f"case = Case(({model},), {task}, recipe)  # the second range is that of the test",
                "runs = nalm.train(case, seeds=range(3))",
                "print(runs.solved, runs.formulas)",
            )
        )

    @property
    def recipe_code(self) -> str:
        """The recipe as Python code, without defaults."""
        if not self.best:
            return ""
        return f"Recipe({', '.join(f'{n}={v!r}' for n, v in self.best.recipe.changed().items())})"

    def plain(self) -> dict[str, Any]:
        """Return the values as JSON takes them."""
        asked = {"operation": self.operation, "train": str(self.train), "inputs": self.inputs}
        said = {"verdict": self.verdict, "exact": self.exact, "sentence": self.sentence, "code": self.code}
        said |= {"loss": self.loss, "closed_form": self.closed_form, "snippet": self.snippet}
        best = self.best.plain() if self.best else None
        return {"asked": asked, **said, "best": best, "others": [m.plain() for m in self.others]}


def suggest(
    operation: str,
    low: float,
    high: float,
    inputs: int = 2,
    rows: Sequence[Row] | None = None,
    operands: int | None = None,
) -> Suggestion:
    """Return the best unit and recipe for an operation on [low, high), from the shipped summary or other rows.

    Only cases with the same function count: the operation on as many single inputs (``operands``; None is the usual
    number of the operation), not on sums of inputs, sequences, images or noisy targets. The cases of the nearest task
    (see ``distance``) are ranked by the low end of the interval of the share of solved runs, then by the median step at
    which runs were solved, then by cost. Cases whose runs are solved before the first step tell nothing about training:
    they count only if an operation has no others.
    """
    arity = find_operation(operation).arity
    train = Range(low, high)
    wanted = arity if operands is None else operands
    if wanted < arity:
        raise NALMError(f"{operation} takes {arity} operands or more, got {wanted}.")
    if inputs < wanted:
        raise NALMError(
            f"{operation} takes {wanted} operands, got {inputs} inputs: ask for {wanted} or more."
        )
    summary = shipped_rows() if rows is None else rows
    cases: dict[str, Measured] = {}
    others = 0
    for m in (Measured.from_row(row) for row in summary if row.get("operation") == operation):
        others += not m.of_inputs
        if m.of_inputs and m.n and (m.case not in cases or m.n > cases[m.case].n):
            cases[m.case] = m  # of a case in several experiments, the one with most runs
    if not cases and others:
        kinds = "sums of inputs, sequences, images or noisy targets"
        sentence = f"Not known: {operation} was measured on {kinds} only ({others} cases)."
        return Suggestion(operation, train, inputs, "unknown", False, sentence)
    if not cases:
        named = {e.name: [c.task for c in e.cases if c.operation == operation] for e in EXPERIMENTS.values()}
        trained = [name for name, tasks in named.items() if tasks]
        if trained and not any(on_inputs(task) for tasks in named.values() for task in tasks):
            sentence = f"Not known: {operation} was trained on sums of inputs only, in {', '.join(trained)}."
            return Suggestion(operation, train, inputs, "unknown", False, sentence)
        have = ", ".join(sorted({str(row.get("operation")) for row in summary} - {operation})) or "nothing"
        sentence = f"Not known: nothing was measured for {operation}. Measured: {have}."
        return Suggestion(operation, train, inputs, "unknown", False, sentence)
    known = sorted({m.operands for m in cases.values()})
    if wanted not in known:
        measured = " and ".join(map(str, known))
        sentence = f"Not known: {operation} of {wanted} operands was not measured, only of {measured}."
        return Suggestion(operation, train, inputs, "unknown", False, sentence)
    cases = {name: m for name, m in cases.items() if m.operands == wanted}
    cases = {name: m for name, m in cases.items() if m.median.estimate != 0} or cases
    nearest = min(_problem(m, train, inputs) for m in cases.values())
    found = sorted((m for m in cases.values() if _problem(m, train, inputs) == nearest), key=_rank)
    best, exact = found[0], nearest[0] == 0
    verdict: Literal["solved", "unsolved"] = "solved" if best.success.estimate > 0 else "unsolved"
    units: dict[str, Measured] = {}
    for m in found:
        units.setdefault(m.unit, m)  # of a unit with several recipes, the best
    next_ones = tuple(units.values())[1 : OTHERS + 1]
    sentence = _sentence(found, exact, f"{train} with {count_inputs(inputs)}")
    same = tuple(m for m in found[1:] if m.unit == best.unit)
    return Suggestion(operation, train, inputs, verdict, exact, sentence, best, next_ones, same)


def distance(measured: str, inputs: int, train: Range, wanted: int) -> float:
    """Return how far a measured task is from the requested one; 0 if it is the same.

    The sum of: 20 times the logarithm of the ratio of the numbers of inputs, which so count before ranges; how far
    the two ends lie apart on the scale asinh(10 x), which is signed and counts factors of e beyond 0.1; and 1 if the
    distribution is not uniform, whose ends are those of all its parts or, where it has none, two standard deviations
    about its mean.
    """
    if (measured, inputs) == (str(train), wanted):
        return 0.0
    low, high = _ends(measured)
    ends = abs(_scale(low) - _scale(train.low)) + abs(_scale(high) - _scale(train.high))
    other = 0.0 if re.fullmatch(r"U\[[^)]*\)", measured) else NOT_UNIFORM
    return INPUTS * abs(math.log(inputs / wanted)) + ends + other


def _problem(m: Measured, train: Range, inputs: int) -> Problem:
    return distance(m.train, m.inputs, train, inputs), m.inputs, m.train


def _rank(m: Measured) -> tuple[float, float, float]:
    """Return the sort key, best first: the low end of the share of solved runs, the median step, then cost.

    The low end of the interval is chosen so that 25 of 25 runs do not beat 999 of 1,000.
    """
    return -m.success.low, math.inf if math.isnan(m.median.estimate) else m.median.estimate, m.seconds


def _scale(value: float) -> float:
    return math.asinh(10 * value)


def _ends(measured: str) -> tuple[float, float]:
    """Parse the lowest and highest value of a range; without ends, two standard deviations from the mean."""
    try:
        numbers = [float(x) for pair in re.findall(r"\[([^,)]*),([^)]*)\)", measured) for x in pair]
        if numbers:
            return min(numbers), max(numbers)
        *mean, sd = [float(x) for x in re.findall(r"-?\d[\d.e+-]*", measured)]
        return (mean[0] - 2 * sd, mean[0] + 2 * sd) if mean else (0.0, 2 * sd)
    except ValueError:
        raise NALMError(f"The summary has a range {measured!r} that cannot be read: write U[1,2).") from None


def _range_code(train: Range) -> str:
    rest = "".join(f", {n}={v!r}" for n, v in train.changed().items() if n not in ("low", "high"))
    return f"Range({train.low:g}, {train.high:g}{rest})"


def _layer_code(layer: Layer) -> str:
    options = f", options={layer.options!r}" if layer.options else ""
    return f'Layer("{layer.unit}", {layer.out}{options})'


def _sentence(found: Sequence[Measured], exact: bool, asked: str) -> str:
    best, count = found[0], len(found)
    where = best.problem if exact else f"nearest measured: {best.problem}; asked for: {asked}"
    cases = f"{count} cases" if count > 1 else "only case"
    if best.success.estimate == 0:
        return f"Nothing measured solves it ({where}): no run of the {cases} was solved."
    solved = round(best.success.estimate * best.n)
    place = f"the best of the {cases}" if count > 1 else "the only unit that was measured"
    return f"{best.unit} is {place} ({where}): {solved} of {best.n} runs solved."
