"""Cells of a table as numbers: thousands marks, decimal commas, truth values and dates are read, nothing else."""

import re
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from nalm.cli.tabular.files import MISSING, Cells
from nalm.discover.digits import Printed, printed_as

Array = NDArray[np.float64]
Codes = NDArray[np.int8]

OK, EMPTY, ABSENT, TEXT = 0, 1, 2, 3  # kinds of cells: a number, empty, a word such as n/a, other text
POINTS = re.compile(r"[+-]?\d{1,3}(,\d{3})+(\.\d*)?")  # 1,373.12
COMMAS = re.compile(r"[+-]?\d{1,3}(\.\d{3})+(,\d*)?")  # 1.373,12
MARKS = re.compile(r"[+-]?\d{1,3}(['\u2019 \u00a0\u2009\u202f]\d{3})+([.,]\d*)?")  # 1'373.12, 1 373.12
MARK = re.compile(r"['\u2019 \u00a0\u2009\u202f]")
OTHER_DATE = re.compile(r"\d{1,2}[./-]\d{1,2}[./-]\d{2,4}( .*)?|\d{4}[./]\d{1,2}[./]\d{1,2}( .*)?")
UNIT = re.compile(r"[+-]?\d[\d.,]*([eE][+-]?\d+)?\s*(%|°?[A-Za-zµΩ][\w/^*·-]*)")  # 3.5 kg, 12%
TRUTH = {"true": 1.0, "false": 0.0}
DATE = re.compile(r"\d{4}-\d\d-\d\d([ T]\d\d:\d\d(:\d\d(\.\d+)?)?)?")
DAY = 86400.0  # seconds


def numbers_of(cells: Cells, comma: bool) -> tuple[Array, Codes]:
    """Convert cells to numbers, NaN where they are none, and return the kind of every cell."""
    if isinstance(cells, np.ndarray):
        values = cells.astype(np.float64)
        return values, np.where(np.isfinite(values), OK, np.where(np.isnan(values), EMPTY, TEXT)).astype(
            np.int8
        )
    try:
        values = np.fromiter(map(float, cells), np.float64, len(cells))
        if comma or any("_" in c for c in cells):
            raise ValueError
    except ValueError:
        values = np.fromiter((number(c, comma) for c in cells), np.float64, len(cells))
    codes = np.zeros(len(cells), np.int8)
    for i in np.flatnonzero(~np.isfinite(values)).tolist():
        text = cells[i].strip().casefold()
        codes[i] = EMPTY if not text else ABSENT if text in MISSING else TEXT
    return values, codes


def number(text: str, comma: bool) -> float:
    """Read a cell; ``comma`` tells whether decimals follow a comma. Dates are days since 2000.

    >>> [number(t, False) for t in ("1,373.12", "2'500", "True", "2000-01-03 12:00", "1,5", "n/a")]
    [1373.12, 2500.0, 1.0, 2.5, nan, nan]
    >>> [number(t, True) for t in ("1.373,12", "1,5", "1.373")]
    [1373.12, 1.5, 1373.0]
    """
    text = plain(text.strip(), comma)
    try:
        return float(text) if "_" not in text else np.nan
    except ValueError:
        pass
    if DATE.fullmatch(text):
        try:
            return (datetime.fromisoformat(text) - datetime(2000, 1, 1)).total_seconds() / DAY
        except ValueError:
            return np.nan
    return TRUTH.get(text.casefold(), np.nan)


def plain(text: str, comma: bool) -> str:
    """Return the text of a number without thousands marks and with a decimal point.

    Where decimals follow a comma, any other point becomes a mark that no number has.
    """
    if thousands(text, comma):
        text = MARK.sub("", text).replace("." if comma else ",", "")
    return text.replace(".", "_").replace(",", ".") if comma else text


def printed(cells: Cells, comma: bool) -> Printed | None:
    """Read from the texts of a column how its numbers were printed; None if they do not show it."""
    if isinstance(cells, np.ndarray):
        return None
    texts = (cell.strip() for cell in cells)
    return printed_as(plain(text, comma) for text in texts if text and text.casefold() not in MISSING)


def thousands(text: str, comma: bool) -> bool:
    """Return whether a cell is a number with thousands marks."""
    return bool((COMMAS if comma else POINTS).fullmatch(text) or MARKS.fullmatch(text))


def remedy(text: str) -> str:
    """Return the text that says what a cell of text seems to be and what helps; empty if nothing is known.

    >>> remedy("31.01.2024"), remedy("3.5 kg"), remedy("none")
    ('it holds dates: write them as 2024-01-31', 'it has units behind its numbers: move them to the header', '')
    """
    if OTHER_DATE.fullmatch(text):
        return "it holds dates: write them as 2024-01-31"
    return "it has units behind its numbers: move them to the header" if UNIT.fullmatch(text) else ""


def reading(cells: Cells, comma: bool) -> str:
    """Describe how the first cell that is no plain number is read; empty if there is none."""
    if isinstance(cells, np.ndarray):
        return ""
    for cell in cells:
        text = cell.strip()
        if thousands(text, comma):
            return f"has thousands marks: {text} is read as {number(text, comma):.12g}."
        if DATE.fullmatch(text):
            return "holds dates, read as days since 2000-01-01."
        if text.casefold() in TRUTH:
            return "holds truth values: True is read as 1, False as 0."
        if len(text) > 1 and text[0] == "0" and text.isdigit():
            return f"holds codes such as {cell!r}, read as numbers."
    return ""
