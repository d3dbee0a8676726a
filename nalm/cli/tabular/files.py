"""Files of columns, read block by block: text with any usual separator, or Parquet."""

import csv
import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import chain, islice
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from nalm.cli.tabular.layout import is_number, only_commas, preamble, separator
from nalm.discover.law.names import check_distinct
from nalm.errors import NALMError

Cells = Sequence[str] | NDArray[Any]

BLOCK = 20_000  # rows
SAMPLE = 50  # lines looked at before the separator is chosen
LONGEST = 10_000_000  # characters of a line
MISSING = {*("na", "n/a", "#n/a", "nan", "null", "none", "nil", "missing"), *("-", "--", "?", ".")}


class TableFile(Protocol):
    """An open file of columns."""

    path: Path
    names: list[str]
    notes: list[str]  # sentences about how it is read
    word: str  # for an error message: line or row
    comma: bool  # whether a comma precedes the decimals

    def blocks(self, picked: Sequence[int]) -> Iterator[tuple[Sequence[int], list[Cells]]]:
        """Yield blocks: the line of each row, and the cells of the picked columns."""
        ...


def refuse_overwriting(data: Path, *written: Path | None) -> None:
    """Raise an error if a file to be written is the table itself."""
    for path in written:
        if path is not None and path.resolve() == data.resolve():
            raise NALMError(f"{path} is the table itself: write to another file.")


@contextmanager
def open_table(path: Path) -> Iterator[TableFile]:
    """Open a file as columns; its ending and its first bytes decide how."""
    try:
        if path.is_dir():
            raise NALMError(f"{path} is a folder: name a file in it.")
        with path.open("rb") as file:
            if path.suffix.lower() in (".parquet", ".pq") or file.peek(4)[:4] == b"PAR1":
                yield _Parquet(path)
            elif file.peek(4)[:4] == b"PK\x03\x04":
                raise NALMError(f"{path.name} is an Excel file or an archive: save the sheet as CSV.")
            else:
                yield _Text(path, file)
    except OSError as error:
        raise NALMError(f"{path} cannot be read: {error.strerror or error}.") from None


class _Text:
    """A file of lines. Lines that begin with # are comments; quoted cells may contain the separator."""

    word = "line"

    def __init__(self, path: Path, file: io.BufferedReader):
        self.path, self.notes, self.line = path, list[str](), 0
        self._comment = ""
        start = file.peek(4)[:4]
        code = "utf-16" if start[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
        self._file = io.TextIOWrapper(file, encoding=code, newline="")
        lines = self._lines()
        sample = list(islice(lines, SAMPLE))
        if not sample:
            raise NALMError(f"{path.name} is empty: it needs a line of names and rows of numbers.")
        above = preamble([text for _, text in sample])
        sample = sample[above:]
        if above:
            self.notes.append(f"Line {sample[0][0]} is taken for the header; the lines above are left out.")
        self.separator = separator([text for _, text in sample], path.suffix.lower())
        cells = [c.strip() for row in self._parsed(iter(sample), strict=False) for c in row]
        self.comma = self.separator != "," and only_commas(cells)
        self._records = self._parsed(chain(sample, lines))
        self._first: list[list[str]] = []
        self.names = self._header(next(self._records, []))

    def _lines(self) -> Iterator[tuple[int, str]]:
        """Yield numbered lines without comments and blank lines."""
        number = 0
        try:
            while text := self._file.readline(LONGEST):
                number += 1
                if len(text) == LONGEST:
                    raise NALMError(f"Line {number} of {self.path.name} has no end: this is not a table.")
                if "\0" in text:
                    raise NALMError(f"Line {number} of {self.path.name} holds a NUL byte: save it as CSV.")
                if text.startswith("#"):
                    self._comment = text[1:].strip()
                elif text.strip():
                    yield number, text
        except UnicodeDecodeError as error:
            number += 1 + error.object[: error.start].count(b"\n")
            raise NALMError(
                f"{self.path.name} is not UTF-8 text (byte 0x{error.object[error.start]:02x} on line {number}): "
                "save it as CSV in UTF-8."
            ) from None
        except UnicodeError:
            raise NALMError(f"{self.path.name} is not text: save it as CSV in UTF-8.") from None

    def _parsed(self, lines: Iterator[tuple[int, str]], strict: bool = True) -> Iterator[list[str]]:
        def feed() -> Iterator[str]:
            for self.line, text in lines:
                yield text if self.separator != " " else text.strip()

        reader = csv.reader(
            feed(), delimiter=self.separator, skipinitialspace=True, strict=strict, quotechar='"'
        )
        try:
            yield from reader
        except csv.Error as error:
            if strict:
                raise NALMError(
                    f"Line {self.line} of {self.path.name} cannot be read ({error}): close every quote."
                ) from None

    def _header(self, row: list[str]) -> list[str]:
        names = [c.strip() for c in row]
        numeric = [c for c in names if is_number(c, self.comma)]
        if numeric and len(numeric) == len([c for c in names if c]):
            self._first = [row]
            names = [
                n.strip() for n in self._comment.split(None if self.separator == " " else self.separator)
            ]
            if len(names) == len(row) and not any(is_number(n, self.comma) for n in names):
                self.notes.append(f"{self.path.name} has no header: the comment above names its columns.")
            else:
                names = [f"x{i + 1}" for i in range(len(row))]
                known = "x1" if len(row) == 1 else f"x1 to x{len(row)}"
                self.notes.append(f"{self.path.name} has no header: its columns are called {known}.")
        elif numeric:
            self.notes.append(
                f"The first line of {self.path.name} is taken for its header, with {numeric[0]!r} as a name."
            )
        if self.comma:
            self.notes.append("Decimals come behind a comma: 1,5 is read as 1.5.")
        return list(check_distinct([n or f"column{i + 1}" for i, n in enumerate(names)], self.path.name))

    def blocks(self, picked: Sequence[int]) -> Iterator[tuple[Sequence[int], list[Cells]]]:
        places, rows, width = list[int](), list[list[str]](), len(self.names)
        for row in chain(self._first, self._records):
            if len(row) < width or any(c.strip() for c in row[width:]):
                raise NALMError(
                    f"Line {self.line} of {self.path.name} has {len(row)} cells where the first line has "
                    f"{width}: mend it, or put quotes around cells that hold {self.separator!r}."
                )
            places.append(self.line)
            rows.append([row[j] for j in picked])
            if len(rows) == BLOCK:
                yield places, list(zip(*rows, strict=True))
                places, rows = [], []
        if rows:
            yield places, list(zip(*rows, strict=True))


class _Parquet:
    """A file of typed columns; cells that are not numbers become text."""

    word, comma = "row", False

    def __init__(self, path: Path):
        try:
            import pyarrow
            from pyarrow import parquet
        except ImportError:
            raise NALMError(
                f"{path.name} is Parquet, which needs pyarrow: pip install 'nalm[parquet]'."
            ) from None
        try:
            self._file = parquet.ParquetFile(path)
        except pyarrow.ArrowInvalid:
            raise NALMError(f"{path.name} is not a Parquet file, or a broken one: write it again.") from None
        self.path, self.notes = path, list[str]()
        self.names = list(check_distinct(self._file.schema_arrow.names, path.name))

    def blocks(self, picked: Sequence[int]) -> Iterator[tuple[Sequence[int], list[Cells]]]:
        from pyarrow import ArrowException

        names, row = [self.names[j] for j in picked], 1
        try:
            for batch in self._file.iter_batches(BLOCK, columns=names):
                yield range(row, row + len(batch)), [_column(batch.column(n)) for n in names]
                row += len(batch)
        except ArrowException as error:
            raise NALMError(f"{self.path.name} is broken after row {row - 1}: {error}.") from None


def _column(values: Any) -> Cells:
    from pyarrow import float64, types

    kind = values.type
    if types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind):
        return np.asarray(values.cast(float64(), safe=False).to_numpy(zero_copy_only=False))
    return ["" if v is None else str(v) for v in values.to_pylist()]
