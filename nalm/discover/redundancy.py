"""Columns that say little: constant ones, copies, linear combinations, pairs nearly alike, and numbers of rows."""

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from nalm.discover.law.expression import Array

ROWS = 10_000  # searched for linear combinations, at most
COLUMNS = 300
RELATIVE = 1e-9  # share of a column that may remain when the others are removed from it
TOGETHER = 0.999  # correlation of columns that the data can hardly tell apart
COUNTERS = {  # names of columns that may number the rows
    *(
        "index",
        "id",
        "row",
        "rows",
        "rownames",
        "row_names",
        "row number",
        "rowid",
        "row_id",
        "no",
        "no.",
        "nr",
    ),
    *("#", "obs", "observation", "number", "num", "case", "record", "entry", "item", "seq"),
    *("column1", "unnamed: 0"),
}


def redundant_columns(names: Sequence[str], x: Array) -> list[str]:
    """Return a sentence for each column that is constant, and for those that others can stand for.

    >>> redundant_columns(["a", "b"], np.array([[1.0, 1], [2, 2], [4, 4]]))
    ['Columns a and b hold the same numbers: the law can name any of them.']
    """
    constant = [j for j in range(x.shape[1]) if (x[:, j] == x[0, j]).all()] if len(x) > 1 else []
    found = []
    if constant:
        values = [f"{names[j]} ({x[0, j]:.6g})" for j in constant]
        one = len(constant) == 1
        found.append(
            f"Column{'' if one else 's'} {listed(values)} {'is' if one else 'are'} constant: only a law with units of "
            f"measurement can use {'it' if one else 'them'}."
        )
    copies, rest = _copies(x, [j for j in range(x.shape[1]) if j not in constant])
    for group in copies:
        found.append(
            f"Columns {listed([names[j] for j in group])} hold the same numbers: the law can name any of them."
        )
    combined, independent = _collinear(names, x, rest)
    return found + combined + _together(names, x, independent)


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
        rows = "There is 1 row" if len(x) == 1 else f"There are {len(x)} rows"
        few = f"{rows} for {len(columns)} columns: too few to tell which columns matter."
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


def counts_rows(name: str, column: Array, first: bool = False) -> bool:
    """Return whether a column numbers the rows, by its name, its values, and whether it is the first (R's X).

    >>> counts_rows("id", np.array([1.0, 2, 3])), counts_rows("id", np.array([1.0, 2, 4]))
    (True, False)
    """
    return (
        (name.casefold() in COUNTERS or (first and name == "X"))
        and len(column) > 2
        and np.array_equal(column - column[0], np.arange(len(column)))
        and float(column[0]).is_integer()
    )
