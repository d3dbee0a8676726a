"""Warnings about columns of numbers: constant columns, copies, and linear combinations of other columns."""

from collections.abc import Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

ROWS = 10_000  # searched for linear combinations, at most
COLUMNS = 300
RELATIVE = 1e-9  # share of a column that may remain when the others are removed from it
COUNTERS = {
    *("index", "id", "row", "rows", "rownames", "row_names", "row number", "no", "nr", "#", "obs"),
    *("column1", "unnamed: 0"),
}
TOGETHER = 0.999  # correlation of columns that the data can hardly tell apart
FEW = 6  # distinct numbers of a column that may be codes
CODES = {
    "group",
    "class",
    "type",
    "kind",
    "code",
    "label",
    "category",
    "species",
    "treatment",
    "batch",
    "cluster",
}


def column_warnings(names: Sequence[str], x: Array) -> list[str]:
    """Return a sentence for each property of the columns that affects how the law must be read."""
    constant = [j for j in range(x.shape[1]) if (x[:, j] == x[0, j]).all()] if len(x) > 1 else []
    found = []
    if constant:
        values = [f"{names[j]} ({x[0, j]:.6g})" for j in constant]
        one = len(constant) == 1
        found.append(
            f"Column{'' if one else 's'} {listed(values)} {'is' if one else 'are'} constant: no law can depend on "
            f"{'it' if one else 'them'}."
        )
    copies, rest = _copies(x, [j for j in range(x.shape[1]) if j not in constant])
    for group in copies:
        found.append(
            f"Columns {listed([names[j] for j in group])} hold the same numbers: the law can name any of them."
        )
    for j in rest:
        levels = len(np.unique(x[:, j]))
        if names[j].casefold() in CODES and levels <= FEW:
            found.append(
                f"Column {names[j]} has {levels} values and may hold codes: its numbers are used as they are; "
                "leave it out with --columns if they mean nothing."
            )
    combined, independent = _collinear(names, x, rest)
    return found + combined + _together(names, x, independent)


def counts_rows(name: str, column: Array) -> bool:
    """Tell whether a column numbers the rows, by its name and its values."""
    return (
        name.casefold() in COUNTERS
        and len(column) > 2
        and np.array_equal(column - column[0], np.arange(len(column)))
        and column[0] in (0, 1)
    )


def row_warnings(table: Array) -> list[str]:
    """Return a sentence about rows that occur more than once."""
    extra = len(table) - len(np.unique(table, axis=0)) if len(table) <= ROWS else 0
    if not extra:
        return []
    return [f"{extra:,} of {len(table):,} rows repeat another one."]


def listed(names: Sequence[str], most: int = 8) -> str:
    """Format names for a sentence.

    >>> listed(["a"]), listed(["a", "b", "c"])
    ('a', 'a, b and c')
    """
    if len(names) > most:
        return f"{', '.join(names[:most])} and {len(names) - most} more"
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def _copies(x: Array, columns: Sequence[int]) -> tuple[list[list[int]], list[int]]:
    """Return the groups of equal columns, and one column of each group."""
    kinds: dict[bytes, list[int]] = {}
    for j in columns:
        kinds.setdefault((x[:, j] + 0.0).tobytes(), []).append(j)  # + 0.0: there is only one zero
    return [g for g in kinds.values() if len(g) > 1], [g[0] for g in kinds.values()]


def _collinear(names: Sequence[str], x: Array, columns: Sequence[int]) -> tuple[list[str], list[int]]:
    """Return a sentence for each column that is a linear combination of earlier ones, and the other columns."""
    columns = columns[:COLUMNS]
    if len(x) <= len(columns) + 1:
        few = f"There are {len(x)} rows for {len(columns)} columns: too few to tell which columns matter."
        return ([few] if len(columns) > 1 else []), list(columns)
    part = x[:: -(-len(x) // ROWS)] if len(x) > ROWS else x
    found, basis, kept = [], np.full((len(part), 1), len(part) ** -0.5), list[int]()
    for j in columns:
        column = part[:, j] / (np.abs(part[:, j]).max() or 1.0)
        size = np.linalg.norm(column - column.mean())
        left = column
        for _ in range(2):  # twice is enough (Kahan)
            left = left - basis @ (basis.T @ left)
        if np.linalg.norm(left) > RELATIVE * size:
            kept.append(j)
            basis = np.column_stack([basis, left / np.linalg.norm(left)])
            continue
        scale = np.abs(part[:, kept]).max(0)
        centred = part[:, kept] / scale - (part[:, kept] / scale).mean(0)
        weights = (
            np.linalg.lstsq(centred, column - column.mean(), rcond=None)[0] * centred.std(0) / column.std()
        )
        others = [names[k] for k, w in zip(kept, weights, strict=True) if abs(w) > 1e-6]
        if others:
            kind = "a linear function of" if len(others) == 1 else "a linear combination of"
            found.append(f"Column {names[j]} is {kind} {listed(others)}: the law can use either.")
    return found, kept


def _together(names: Sequence[str], x: Array, columns: Sequence[int]) -> list[str]:
    """Return a sentence for each pair of columns that move together, but not exactly."""
    columns = columns[:COLUMNS]
    if len(x) < 3 or len(columns) < 2:
        return []
    part = x[:: -(-len(x) // ROWS)][:, columns]
    with np.errstate(all="ignore"):
        r = np.abs(np.corrcoef(part / np.abs(part).max(0), rowvar=False))
    found = []
    for i, j in combinations(range(len(columns)), 2):
        if TOGETHER < r[i, j] < 1 - RELATIVE:
            both = f"{names[columns[i]]} and {names[columns[j]]}"
            found.append(
                f"Columns {both} move together (r = {r[i, j]:.5f}): the data can hardly tell them apart."
            )
    return found[:5]
