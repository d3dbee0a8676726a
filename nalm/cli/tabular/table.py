"""A table of numbers from a file, and which of its rows and columns are numbers.

Blocks of rows become numbers one after the other; a file too large for memory is thinned evenly.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from nalm.cli.tabular.cells import ABSENT, EMPTY, OK, TEXT, Codes, numbers_of, printed, reading, remedy
from nalm.cli.tabular.columns import chosen, labels
from nalm.cli.tabular.files import Cells, TableFile, open_table
from nalm.cli.tabular.warnings import column_warnings, row_warnings
from nalm.discover.digits import SAMPLE, Printed
from nalm.discover.law.names import shown
from nalm.discover.redundancy import counts_rows
from nalm.errors import NALMError

Array = NDArray[np.float64]

MOST = 40_000_000  # cells that are kept: 320 MB
CATEGORIES = 12  # different texts of a column that may name groups of rows, at most


@dataclass(frozen=True)
class Table:
    """Rows of numbers: the columns to explain y by, and y; the dropped rows and warnings as sentences."""

    names: tuple[str, ...]
    x: Array  # (rows, columns)
    y: Array | None  # (rows,), or (rows, targets) for several
    targets: tuple[str, ...]
    total: int  # rows of the file
    dropped: str  # a sentence; empty if no row was dropped
    warnings: list[str] = field(default_factory=list)
    labels: tuple[str, ...] | None = None  # of the groups of the rows, if a column of them was named
    printed: dict[str, Printed] = field(
        default_factory=dict
    )  # how columns were printed, if their texts show it

    @property
    def digits(self) -> list[Printed | None]:
        """How each column and then each target was printed."""
        return [self.printed.get(name) for name in (*self.names, *self.targets)]


def read(
    path: Path | str,
    target: str | Sequence[str] | None = None,
    columns: str | Sequence[str] | None = None,
    groups: str | None = None,
    called: str = "target",
) -> Table:
    """Read a table; several targets or columns are a list, or one text with commas between them.

    Without ``columns`` every column but the target that is mostly numbers is used; rows in which a used cell is
    not a number are dropped. ``groups`` names a column of labels, which may be text and is not used otherwise;
    ``called`` is the word for the target in sentences.
    """
    cells = None if groups is None else labels(Path(path), groups)
    with open_table(Path(path)) as source:
        targets = chosen(source, target) if target is not None else []
        named = chosen(source, columns) if columns is not None else None
        if twice := [source.names[j] for j in targets if j in (named or [])]:
            raise NALMError(f"Column {shown(twice[0])} is the target: leave it out of the columns.")
        if groups is not None and groups in [source.names[j] for j in [*targets, *(named or [])]]:
            raise NALMError(f"Column {shown(groups)} holds the groups: leave it out of columns and target.")
        wanted = named
        if wanted is None:
            others = {*targets, *([] if groups is None else [source.names.index(groups)])}
            wanted = [j for j in range(len(source.names)) if j not in others]
        found = _Gathered(source, [*wanted, *targets])
        features, left_out = found.sorted_out(wanted, set(targets) | set(named or []), called)
        x, keep = found.values(features), found.complete([*features, *targets])
        words = found.dropped([*features, *targets])
        if not keep.any():
            raise NALMError(f"No row of {source.path.name} is left: {words or 'it has none'}.")
        y = found.values(targets)[keep]
        names = tuple(source.names[j] for j in features)
        notes = [*source.notes, *found.notes, *found.readings([*features, *targets]), *left_out]
        notes += column_warnings([shown(n) for n in names], x[keep])
        notes += row_warnings(np.column_stack([x[keep], y]))
        flat = y[:, 0] if len(targets) == 1 else y
        kept = None
        if cells is not None:
            kept = tuple(label for label, there in zip(cells[:: found.stride], keep, strict=True) if there)
        ours = tuple(source.names[j] for j in targets)
        y_or_none = flat if targets else None
        return Table(names, x[keep], y_or_none, ours, found.rows, words, notes, kept, found.printed)


class _Gathered:
    """All rows of some columns of a file: their numbers, and the kind of every cell."""

    def __init__(self, source: TableFile, picked: Sequence[int]):
        self.source, self.rows, self.notes = source, 0, list[str]()
        self._place = {j: i for i, j in enumerate(picked)}
        self._example: dict[tuple[int, int], tuple[str, str]] = {}  # (column, code) -> a cell and where it is
        self._dates, self._readings = set[int](), dict[int, str]()
        self.printed: dict[str, Printed] = {}
        self._texts: dict[int, set[str]] = {}  # column -> its texts, if they are few
        stride, numbers, codes = 1, list[Array](), list[Codes]()
        for lines, cells in source.blocks(picked):
            start = -self.rows % stride
            self.rows += len(lines)
            read = [numbers_of(c[start::stride], source.comma) for c in cells]
            if not numbers:
                for j, c in zip(picked, cells, strict=True):
                    if (digits := printed(c[:SAMPLE], source.comma)) is not None:
                        self.printed[source.names[j]] = digits
                    if how := reading(c, source.comma):
                        self._readings[j] = f"Column {shown(source.names[j])} {how}"
                        self._dates |= {j} if "dates" in how else set()
            for j, c, (_, what) in zip(picked, cells, read, strict=True):
                self._remember(j, c[start::stride], what, lines[start::stride])
            numbers.append(np.stack([v for v, _ in read]))
            codes.append(np.stack([k for _, k in read]))
            while sum(n.size for n in numbers) > MOST:
                numbers, codes = [np.hstack(numbers)[:, ::2]], [np.hstack(codes)[:, ::2]]
                stride *= 2
        if not self.rows:
            raise NALMError(f"{source.path.name} has a header and no rows: add some.")
        self._numbers, self._codes = np.hstack(numbers), np.hstack(codes)
        self._counters = {
            j
            for j, i in self._place.items()
            if len(picked) > 2 and counts_rows(source.names[j], self._numbers[i], j == 0)
        }
        self.stride = stride
        if stride > 1:
            kept = f"every {stride}th row ({self._numbers.shape[1]:,} of {self.rows:,})"
            self.notes.append(f"{source.path.name} is large: {kept} is used.")

    def _remember(self, column: int, cells: Cells, codes: Codes, lines: Sequence[int]) -> None:
        for code in (ABSENT, TEXT):
            if (column, code) not in self._example and (at := np.flatnonzero(codes == code)).size:
                text = repr(str(cells[at[0]]).strip()[:40])
                self._example[column, code] = text, f"{self.source.word} {lines[at[0]]}"
        texts = self._texts.setdefault(column, set())
        for i in np.flatnonzero(codes == TEXT).tolist():
            if len(texts) > CATEGORIES:
                break
            texts.add(str(cells[i]).strip())

    def values(self, columns: Sequence[int]) -> Array:
        """Return the numbers of columns, (rows, columns)."""
        return np.ascontiguousarray(self._numbers[[self._place[j] for j in columns]].T)

    def readings(self, columns: Sequence[int]) -> list[str]:
        """Return a sentence for each of these columns with cells that are no plain numbers and are read as such."""
        return [self._readings[j] for j in columns if j in self._readings]

    def complete(self, columns: Sequence[int]) -> NDArray[np.bool_]:
        """Return which rows have a number in each of the columns."""
        return np.asarray(self._codes[[self._place[j] for j in columns]].max(0) == OK)

    def sorted_out(self, wanted: Sequence[int], needed: set[int], called: str) -> tuple[list[int], list[str]]:
        """Return the columns that are mostly numbers, and a sentence for each that is left out."""
        kept, left_out = [], []
        for j in self._place:
            codes, name = self._codes[self._place[j]], shown(self.source.names[j])
            numbers, text = int((codes == OK).sum()), int((codes == TEXT).sum())
            text_at = self._example.get((j, TEXT)) or self._example.get((j, ABSENT))
            example = f"{text_at[0]} on {text_at[1]}" if text_at else "its cells are empty"
            if j in needed and (not numbers or text > numbers):
                kind = called if j not in wanted else "column"
                help_ = self.remedy(j) or "name a column of numbers"
                raise NALMError(f"The {kind} {name} is not numeric: {example}; {help_}.")
            if j in self._dates and j not in needed:
                left_out.append(f"Column {name} is left out: it holds dates; --columns uses them as days.")
            elif j in self._counters and j not in needed:
                left_out.append(f"Column {name} is left out: it counts the rows; --columns can force it.")
            elif j in needed or 2 * numbers >= len(codes):
                kept += [j] if j in wanted else []
            elif text_at is None and not numbers:
                left_out.append(f"Column {name} is left out: it is empty.")
            elif text > numbers:
                why = self.remedy(j) or "it is not numeric"
                left_out.append(f"Column {name} is left out: {why} ({example}).")
            else:
                share = f"only {numbers} of {len(codes)} cells are numbers"
                left_out.append(f"Column {name} is left out: {share}; --columns can force it.")
        if not kept:
            reason = f" {left_out[0]}" if left_out else ""
            raise NALMError(
                f"{self.source.path.name} has no column of numbers besides the target: it needs at least one.{reason}"
            )
        return kept, left_out

    def remedy(self, column: int) -> str:
        """Return the text that says what a column of text seems to hold and what helps; empty if unknown."""
        text = self._example.get((column, TEXT), ("''", ""))[0][1:-1]
        count = len(self._texts.get(column, ()))
        if not (found := remedy(text)) and 1 < count <= min(CATEGORIES, self.rows // 3):
            name = shown(self.source.names[column])
            found = f"it holds {count} categories; --groups {name} gives each its own constants"
        return found

    def dropped(self, columns: Sequence[int]) -> str:
        """Describe how many rows are dropped and why; each row counts at its first bad cell."""
        codes = self._codes[[self._place[j] for j in columns]]
        bad = ~self.complete(columns)
        if not bad.any():
            return ""
        first = (codes[:, bad] > 0).argmax(0)
        why = Counter(zip(first.tolist(), codes[:, bad][first, np.arange(len(first))].tolist(), strict=True))
        parts = []
        if empty := sum(n for (_, code), n in why.items() if code == EMPTY):
            parts.append(f"{empty:,} with an empty cell")
        for (i, code), n in why.most_common():
            if code != EMPTY:
                name, (text, where) = shown(self.source.names[columns[i]]), self._example[columns[i], code]
                reason = (
                    f"with {text} in column {name} ({where})"
                    if n == 1
                    else f"without a number in column {name}"
                )
                parts.append(f"{n:,} {reason}" + (f" (the first: {text}, {where})" if n > 1 else ""))
        more = f", and {len(parts) - 5} further reasons" if len(parts) > 5 else ""
        return f"{bad.sum():,} of {len(bad):,} rows dropped: {', '.join(parts[:5])}{more}"
