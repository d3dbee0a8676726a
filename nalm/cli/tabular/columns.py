"""Columns of a file by their names: which they are, and their cells without a judgement."""

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from nalm.cli.tabular.cells import numbers_of
from nalm.cli.tabular.files import TableFile, open_table
from nalm.discover.law.names import shown
from nalm.errors import NALMError, unknown

Array = NDArray[np.float64]


def labels(path: Path, name: str) -> list[str]:
    """Read the labels of all rows; an empty cell is a label, too."""
    with open_table(path) as source:
        (place,) = chosen(source, [name])
        return [str(cell).strip() for _, cells in source.blocks([place]) for cell in cells[0]]


def blocks(path: Path | str, columns: Sequence[str]) -> Iterator[Array]:
    """Yield the named columns of a file in blocks of rows; cells that are not numbers are NaN, no row is dropped."""
    with open_table(Path(path)) as source:
        picked = chosen(source, list(columns))
        for _, cells in source.blocks(picked):
            values = [numbers_of(c, source.comma)[0] for c in cells]
            yield np.stack([np.where(np.isfinite(v), v, np.nan) for v in values], 1)


def header(path: Path | str) -> tuple[str, ...]:
    """Return the names of a file's columns."""
    with open_table(Path(path)) as source:
        return tuple(source.names)


def chosen(source: TableFile, names: str | Sequence[str]) -> list[int]:
    """Return the indices of columns; a comma separates names unless it is part of one."""
    if isinstance(names, str):
        names = [names] if names in source.names else [n.strip() for n in names.split(",")]
    for name in names:
        if name not in source.names:
            raise unknown(f"column in {source.path.name}", name, [shown(n) for n in source.names])
    if twice := [n for n, k in Counter(names).items() if k > 1]:
        raise NALMError(f"Column {shown(twice[0])} is named twice: name it once.")
    return [source.names.index(n) for n in names]
