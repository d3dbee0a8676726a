"""Tables of coefficients beside gates, of the cost of discreteness, and of invalid outputs, for future-work.md."""

from collections.abc import Sequence

import sympy
from future_runs import NOT_SHIPPED, against, corrected, counted, first_of, runs_of, share
from tables import spread, table

from nalm.config import Case
from nalm.formulas.parse import parse
from nalm.formulas.truth import truth
from nalm.results.runs import Outcome
from nalm.results.tally import Tally
from nalm.stats import Interval, median, paired_difference


def modelled(case: Case) -> tuple[str, str, str, str]:
    """Return the operation, the model, its penalty and the range."""
    penalty = "L0" if case.recipe.penalties else "L1" if case.recipe.l1 else "none"
    units = " and ".join(f"`{layer.unit}`" for layer in case.model)
    return case.operation.replace("_", " "), units, penalty, f"`{case.train}`"


def commonest(tally: Tally) -> tuple[str, int]:
    """Return the commonest formula and its number of runs; "" if it is that of one run, or models have no formula."""
    formula, count = tally.formulas[0] if tally.formulas else ("", 0)
    return (formula, count) if formula and count > 1 else ("", 0)


def coefficients(found: Sequence[Tally] | None = None) -> str:
    """Return how often inputs and coefficients are found, and the commonest formula."""
    name, lines = "beyond/coefficients", []
    found = counted(name) if found is None else found
    for tally, p in zip(found, against(found, first_of(found, lambda case: case.task)), strict=True):
        formula, count = commonest(tally)
        known = any(text for text, _ in tally.formulas)
        shown = f"`{formula}` {count:,}" if formula else "no common one" if known else "not recorded"
        lines.append((*modelled(tally.case), share(tally), p, shown))
    head = ("operation", "model", "penalty", "range", "solved", "p", "commonest formula")
    return table(head, lines) if lines else NOT_SHIPPED.format(name=name)


def weighed(case: Case) -> tuple[str, str, str]:
    """Return the operation, the unit and what its weights are."""
    snapped = "drawn to the grid" if case.recipe.penalties else "free"
    return case.operation.replace("_", " "), f"`{case.model[0].unit}`", snapped


def formula_error(case: Case, formula: str) -> float:
    """Return the mean squared difference between a linear formula and the target of a case over its test range."""
    difference = sympy.expand(parse(formula) - truth(case, 0))
    slopes = [float(difference.coeff(name)) for name in difference.free_symbols]
    middle, width = (case.test.low + case.test.high) / 2, case.test.high - case.test.low
    return (middle * sum(slopes)) ** 2 + width**2 / 12 * sum(k**2 for k in slopes)


def last_errors(tally: Tally) -> Interval | None:
    """Return the median error of the formulas of the last step; None for models whose weights are drawn to no grid.

    The evaluation with the lowest error is no measure of such weights: it may be one before they reach the grid.
    """
    if not tally.case.recipe.penalties:
        return None
    return median([e for text, n in tally.formulas for e in [formula_error(tally.case, text)] * n])


def discreteness(found: Sequence[Tally] | None = None, runs: Sequence[Outcome] | None = None) -> str:
    """Return the median test errors of units trained on noisy targets, and p of the shipped runs against the first."""
    name, cells = "beyond/discreteness", dict[tuple[str, str, str], dict[float, str]]()
    runs = runs_of(name) if runs is None else runs
    found = counted(name) if found is None else found
    for tally, p in zip(found, _wilcoxon(found, runs), strict=True):
        last = last_errors(tally)
        if last is None:
            words = spread(tally.errors["test"].median)
        else:
            words = f"{last.estimate:.3g}, {' or '.join(f'`{text}`' for text, _ in tally.formulas)}"
        cell = cells.setdefault(weighed(tally.case), {})
        cell[tally.case.task.noise] = words + (f"; p = {p:.2g}" if p is not None else "")
    noises = sorted({noise for cell in cells.values() for noise in cell})
    lines = [(*key, *(cell.get(noise, "") for noise in noises)) for key, cell in sorted(cells.items())]
    head = ("operation", "unit", "weights", *(f"noise {noise:g}" for noise in noises))
    return table(head, lines) if lines else NOT_SHIPPED.format(name=name)


def _wilcoxon(found: Sequence[Tally], runs: Sequence[Outcome]) -> list[float | None]:
    """Return p of Wilcoxon's test of each case's errors against those of the first one of its task, seed by seed."""
    errors: dict[Case, dict[int, float]] = {}
    for o in runs:
        drawn = bool(o.case.recipe.penalties)
        errors.setdefault(o.case, {})[o.seed] = formula_error(o.case, o.formula) if drawn else o.test
    tests: list[float | None] = []
    for tally, first in zip(found, first_of(found, lambda case: case.task), strict=True):
        a, b = (errors.get(t.case, {}) if t else {} for t in (tally, first))
        same = a and a.keys() == b.keys()
        tests.append(paired_difference([a[s] for s in a], [b[s] for s in a]).p if same else None)
    return corrected(tests)


def invalid(found: Sequence[Tally] | None = None) -> str:
    """Return how often units learn to divide where some rows divide by 0, and what the other runs learn."""
    name, lines = "beyond/invalid-outputs", []
    found = counted(name) if found is None else found
    for tally, p in zip(found, against(found, first_of(found, lambda case: case.task)), strict=True):
        case, learnt = tally.case, dict(tally.formulas)
        lost = learnt.pop("", 0)  # weights that are no numbers have no formula
        rest = "; ".join(f"`{text}` {n:,}" for text, n in learnt.items() if text != "a/b")
        words = f"`{case.model[0].unit}`", f"`{case.recipe.loss}`", f"`{case.train}`"
        lines.append((*words, share(tally), p, f"{lost:,} of {tally.runs:,}", rest))
    head = ("unit", "loss", "numbers", "solved", "p", "ended in not-a-number", "other formulas")
    return table(head, lines) if lines else NOT_SHIPPED.format(name=name)
