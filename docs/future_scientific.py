"""Tables of scientific encoding: numbers over many orders of magnitude, and products of a hundred factors."""

import math
from collections.abc import Sequence

from future_runs import NOT_SHIPPED, RESULTS, against, counted, paired, share
from tables import table

from nalm.config import Case
from nalm.config.labels import loss_of, unit_of
from nalm.formulas.truth import right
from nalm.results import files as shipped
from nalm.results.runs import Outcome
from nalm.results.tally import Tally
from nalm.stats import holm

FACTORS = "beyond/scientific-factors"


def wide(found: Sequence[Tally] | None = None, runs: Sequence[Outcome] | None = None) -> str:
    """Return errors and right formulas of the cases of scientific encoding whose threshold is infinite."""
    name, lines = "beyond/scientific", []
    path = RESULTS / f"{name}.csv"
    if runs is None:
        runs = shipped.read(path) if path.is_file() else []
    found = [t for t in (counted(name) if found is None else found) if t.thresholds[1] == math.inf]
    exact: dict[Case, dict[int, bool]] = {}
    for o in runs:
        exact.setdefault(o.case, {})[o.seed] = right(o.case, o.seed, o.formula)
    first: dict[str, Tally] = {}
    tests: list[float | None] = []
    for tally in found:
        one = first.setdefault(loss_of(tally.case), tally)
        mine = exact.get(tally.case, {})
        tests.append(None if one is tally else paired(exact.get(one.case, {}), mine, len(mine)))
    corrected = iter(holm([p for p in tests if p is not None]))
    for tally, p in zip(found, tests, strict=True):
        middle, mine = tally.errors["test"].median, exact.get(tally.case, {})
        lines.append(
            (
                *(f"`{loss_of(tally.case)}`", f"`{unit_of(tally.case)}`"),
                f"{middle.estimate:.1e} [{middle.low:.1e}, {middle.high:.1e}]",
                f"{tally.not_finite:,} of {tally.runs:,}",
                f"{sum(mine.values())} of {len(mine)}",
                "" if p is None else f"{next(corrected):.2g}",
            )
        )
    head = ("loss", "unit", "median test error", "not finite", "right formula", "p")
    return table(head, lines) if lines else NOT_SHIPPED.format(name=name)


def factors(found: Sequence[Tally] | None = None) -> str:
    """Return the solved runs of products of a hundred factors, and p of each unit against scientific encoding."""
    found = counted(FACTORS) if found is None else found
    tests = against(found, lambda case: (loss_of(case), case.task))
    cells: dict[tuple[str, str], list[str]] = {}
    units = list(dict.fromkeys(unit_of(t.case) for t in found))
    for tally, p in zip(found, tests, strict=True):
        key = loss_of(tally.case), str(tally.case.train)
        cells.setdefault(key, []).append(share(tally) + (f"; p = {p}" if p else ""))
    lines = [(f"`{loss}`", f"`{train}`", *words) for (loss, train), words in cells.items()]
    head = ("loss", "range", *(f"`{unit}`" for unit in units))
    return table(head, lines) if lines else NOT_SHIPPED.format(name=FACTORS)
