"""Warnings about columns and rows of a table: columns that others can stand for, codes, and rows that repeat."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from nalm.discover.redundancy import redundant_columns

Array = NDArray[np.float64]

ROWS = 10_000  # among which repeated ones are looked for, at most
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
    "sample",
    "subject",
    "patient",
    "site",
    "run",
    "id",
}


def column_warnings(names: Sequence[str], x: Array) -> list[str]:
    """Return a sentence for each property of the columns that affects how the law must be read."""
    found = redundant_columns(names, x)
    for name, column in zip(names, x.T, strict=True):
        levels = len(np.unique(column))
        if name.casefold() in CODES and 1 < levels <= FEW:
            found.append(
                f"Column {name} has {levels} values and may hold codes: its numbers are used as they are; if they mean "
                f"nothing, --groups {name} gives each its own constants."
            )
    return found


def row_warnings(table: Array) -> list[str]:
    """Return a sentence about rows that occur more than once."""
    extra = len(table) - len(np.unique(table, axis=0)) if len(table) <= ROWS else 0
    if not extra:
        return []
    return [f"{extra:,} of {len(table):,} rows repeat another one."]
