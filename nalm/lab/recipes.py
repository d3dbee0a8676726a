"""Recipes by name: how a unit was trained for an operation on a range, and how often that was solved."""

from dataclasses import dataclass

from nalm.config import Recipe
from nalm.errors import NALMError, unknown
from nalm.lab.measured import shipped_rows
from nalm.lab.suggest import suggest
from nalm.stats import Interval


@dataclass(frozen=True)
class MeasuredRecipe:
    """The recipe of a unit with the best measured success on a task.

    ``exact`` means that this range and number of inputs were measured; otherwise ``problem`` is the nearest that was.
    ``code`` makes the model, with its options such as the range of its noise. ``recipe`` has loss, learning rate,
    optimiser, steps and penalties; ``nalm.attach(model, optimiser, recipe=found.recipe)`` applies the last.
    """

    unit: str
    operation: str
    recipe: Recipe
    success: Interval
    problem: str
    exact: bool
    code: str
    experiment: str

    def __str__(self) -> str:
        r, s = self.recipe, self.success
        penalties = "; ".join(
            f"penalty {name} times {p.weight:g}"
            + (f" from step {p.start:,.0f} to {p.end:,.0f}" if p.end else "")
            for name, p in r.penalties
        )
        lines = (
            f"{self.code}  # {self.unit} for {self.problem}{'' if self.exact else ' (the nearest measured)'}",
            f"loss {r.loss}, {r.optimiser}, learning rate {r.lr:g} ({r.schedule}), {r.steps:,} steps of {r.batch} rows",
            penalties or "no penalties",
            f"solved {round(s.estimate * s.n)} of {s.n} runs: {s.estimate:.2f} [{s.low:.2f}, {s.high:.2f}] "
            f"({self.experiment})",
        )
        return "\n".join(lines)


def recipe(
    unit: str,
    *,
    operation: str,
    range: tuple[float, float],  # noqa: A002
    inputs: int = 2,
    operands: int | None = None,
) -> MeasuredRecipe:
    """Return the recipe with which a unit was trained best for an operation on a range of inputs.

    The figures come from the runs that the package ships; ``nalm suggest`` finds the best unit instead. Of equally good
    recipes it is one with penalties. ``operands`` is how many of the inputs the operation takes; None is its usual
    number.

    >>> found = recipe("NMU", operation="multiply", range=(-2, 2))
    >>> found.recipe.lr, found.exact
    (0.001, True)
    """
    rows = shipped_rows()
    units = sorted({str(row["unit"]) for row in rows if row["operation"] == operation})
    if units and unit not in units:
        raise unknown(f"unit measured for {operation}", unit, units)
    low, high = range
    found = suggest(operation, low, high, inputs, [row for row in rows if row["unit"] == unit], operands)
    if found.best is None:
        raise NALMError(found.sentence)
    # Of equally good ones the penalised: only then do the weights come to lie on their grid.
    best = max((found.best, *found.recipes), key=lambda m: (m.success.estimate, bool(m.recipe.penalties)))
    return MeasuredRecipe(
        unit,
        operation,
        best.recipe,
        best.success,
        best.problem,
        found.exact,
        best.code(inputs),
        best.experiment,
    )
