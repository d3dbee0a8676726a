"""Tables of scientific encoding: numbers over many orders of magnitude, and products of a hundred factors."""

import math
from collections.abc import Sequence

from future_measured import Pair, case_of, compared, kinds, measured, task_of, told
from future_runs import (
    NOT_SHIPPED,
    against,
    corrected,
    counted,
    first_of,
    paired,
    runs_of,
    share,
    without_threshold,
)
from tables import spread, table

from nalm.config import Case, Task
from nalm.config.labels import loss_of, unit_of
from nalm.formulas.truth import right
from nalm.lab.measured import Measured
from nalm.results.runs import Outcome
from nalm.results.tally import Tally

FACTORS = "beyond/scientific-factors"
BY_LOGARITHMS = ("ModifiedRealNPU", "NaiveNPU")  # with gates and without


def scientific_cells() -> list[dict[str, Measured]]:
    """Return the units of logarithms and of scientific encoding, for each loss and range that has a threshold."""
    cells: dict[tuple[str, Task], dict[str, Measured]] = {}
    for m in measured("beyond/scientific"):
        if without_threshold(m.experiment, m.case):
            continue  # any finite error counts as solved
        cells.setdefault((loss_of(case_of(m)), task_of(m)), {})[m.unit] = m
    return [c for c in cells.values() if {"ScientificNPU", *BY_LOGARITHMS} <= c.keys()]


def scientific_pairs() -> list[Pair]:
    """Return each unit of logarithms beside that of scientific encoding, cell by cell."""
    return [(cell[unit], cell["ScientificNPU"]) for cell in scientific_cells() for unit in BY_LOGARITHMS]


def scientific() -> str:
    """Return the units of scientific encoding and of logarithms side by side, for each loss and range."""
    pairs = scientific_pairs()
    words = [
        f"{told(o)}; p = {p}, {verdict}" for (o, _), (p, verdict) in zip(pairs, compared(pairs), strict=True)
    ]
    lines = [
        (f"`{loss_of(case_of(m))}`", f"`{m.train}`", told(m), gated, free)
        for (_, m), gated, free in zip(pairs[::2], words[::2], words[1::2], strict=True)
    ]
    head = ("loss", "range", "`ScientificNPU`", *(f"`{unit}`" for unit in BY_LOGARITHMS))
    return table(head, lines) + kinds(pairs) if lines else NOT_SHIPPED.format(name="beyond/scientific")


def wide(found: Sequence[Tally] | None = None, runs: Sequence[Outcome] | None = None) -> str:
    """Return errors and right formulas of the cases of scientific encoding whose threshold is infinite."""
    name, lines = "beyond/scientific", []
    runs = runs_of(name) if runs is None else runs
    found = [t for t in (counted(name) if found is None else found) if t.thresholds[1] == math.inf]
    exact: dict[Case, dict[int, bool]] = {}
    for o in runs:
        exact.setdefault(o.case, {})[o.seed] = right(o.case, o.seed, o.formula)
    own = [exact.get(tally.case, {}) for tally in found]
    tests = [
        paired(exact.get(first.case, {}), mine, len(mine)) if first else None
        for mine, first in zip(own, first_of(found, loss_of), strict=True)
    ]
    for tally, mine, p in zip(found, own, corrected(tests), strict=True):
        lines.append(
            (
                *(f"`{loss_of(tally.case)}`", f"`{unit_of(tally.case)}`"),
                spread(tally.errors["test"].median),
                f"{tally.not_finite:,} of {tally.runs:,}",
                f"{sum(mine.values())} of {len(mine)}",
                "" if p is None else f"{p:.2g}",
            )
        )
    head = ("loss", "unit", "median test error", "not finite", "right formula", "p")
    return table(head, lines) if lines else NOT_SHIPPED.format(name=name)


def factors(found: Sequence[Tally] | None = None) -> str:
    """Return the solved runs of products of a hundred factors, and p of each unit against scientific encoding."""
    found = counted(FACTORS) if found is None else found
    tests = against(found, first_of(found, lambda case: (loss_of(case), case.task)))
    cells: dict[tuple[str, str], dict[str, str]] = {}
    units = list(dict.fromkeys(unit_of(t.case) for t in found))
    for tally, p in zip(found, tests, strict=True):
        exact = sum(n for text, n in tally.formulas if right(tally.case, 0, text))  # one target for all seeds
        words = share(tally) + (f"; p = {p}" if p else "") + f"; right formula {exact:,}"
        cells.setdefault((loss_of(tally.case), str(tally.case.train)), {})[unit_of(tally.case)] = words
    lines = [
        (f"`{loss}`", f"`{train}`", *(own.get(unit, "") for unit in units))
        for (loss, train), own in cells.items()
    ]
    head = ("loss", "range", *(f"`{unit}`" for unit in units))
    return table(head, lines) if lines else NOT_SHIPPED.format(name=FACTORS)
