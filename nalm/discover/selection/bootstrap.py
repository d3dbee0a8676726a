"""Intervals by bootstrap: the rows are drawn again, with repetition, and the numbers of the law fitted again."""

from collections.abc import Callable, Iterator

import numpy as np

from nalm.discover.fit.least_squares import UNSOLVABLE
from nalm.discover.law.expression import Array, numbers
from nalm.discover.selection.evidence import Fitted, fit
from nalm.discover.selection.intervals import LEVEL, FittedNumber
from nalm.discover.selection.rows import Observations

ENOUGH = 0.5  # share of the draws whose fit must succeed


def drawn(rows: Observations, draws: int, seed: int) -> Iterator[Observations]:
    """Yield the rows drawn again, as many as there are, with repetition."""
    rng = np.random.default_rng(seed)
    for _ in range(draws):
        yield rows.taken(np.sort(rng.integers(len(rows), size=len(rows))))


def bootstrapped(found: Fitted, draws: int, seed: int, check: Callable[[], None]) -> tuple[FittedNumber, ...]:
    """Return the fitted numbers of a law with the standard deviation and the middle 95% of their draws."""
    table = []
    for rows in drawn(found.rows, draws, seed):
        check()
        try:
            again = numbers(fit(found.node, rows, found.free, found.stage).node)
        except UNSOLVABLE:
            continue
        if len(again) == len(found.free) and np.isfinite(again).all():
            table.append(np.array(again)[found.free])
    values = np.array(numbers(found.node))[found.free]
    return intervals(values, table, draws)


def intervals(values: Array, table: list[Array], draws: int) -> tuple[FittedNumber, ...]:
    """Return numbers with intervals from their draws; not determined if too many draws failed."""
    if len(table) < ENOUGH * draws:
        return tuple(FittedNumber(float(v), np.inf, -np.inf, np.inf) for v in values)
    low, high = np.quantile(table, [0.5 - LEVEL / 2, 0.5 + LEVEL / 2], axis=0)
    error = np.std(table, axis=0)
    rows = zip(values, error, low, high, strict=True)
    return tuple(FittedNumber(float(v), float(e), float(a), float(b)) for v, e, a, b in rows)
