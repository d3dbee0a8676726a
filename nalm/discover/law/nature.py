"""Constants of nature by name: offered where a fitted number agrees with one, and usable in given forms.

The values, in SI units, and their sources are in ``data/constants.csv``. That a number agrees with a constant is an
offer, never part of a verdict.
"""

import csv
import importlib.resources
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache

from nalm.discover.dimensions.units import NONE, dimension
from nalm.discover.selection.intervals import FittedNumber
from nalm.errors import NALMError, unknown

VAGUE = 0.1  # half an interval over the number: a wider one agrees with too much


@dataclass(frozen=True)
class NaturalConstant:
    """A constant of nature: its symbol, name, value and standard error in SI units, and the source of the value."""

    symbol: str
    name: str
    value: float
    error: float  # 0: exact by definition
    unit: str
    source: str

    def __str__(self) -> str:
        unit = "" if self.unit == "1" else f" {self.unit}"
        return f"{self.symbol} = {self.value:.10g}{unit}, the {self.name} ({self.source})"


@cache
def natural_constants() -> dict[str, NaturalConstant]:
    """Return the constants of nature by symbol."""
    text = importlib.resources.files("nalm.data").joinpath("constants.csv").read_text(encoding="utf-8")
    return {
        row["symbol"]: NaturalConstant(
            row["symbol"], row["name"], float(row["value"]), float(row["error"]), row["unit"], row["source"]
        )
        for row in csv.DictReader(text.splitlines())
    }


def named(symbols: Sequence[str]) -> list[NaturalConstant]:
    """Return the constants with these symbols.

    >>> print(*named(["R"]))
    R = 8.314462618 J/(mol*K), the molar gas constant (SI 2019: exact (N_A*k_B))
    """
    if isinstance(symbols, str):
        raise NALMError(f"Name constants in a list, as in [{symbols!r}], not as one text.")
    known = natural_constants()
    for symbol in symbols:
        if symbol not in known:
            raise unknown("constant of nature", str(symbol), known)
    return [known[symbol] for symbol in symbols]


def offered(
    numbers: Iterable[FittedNumber], symbols: Sequence[str], with_units: bool = False
) -> list[tuple[FittedNumber, NaturalConstant]]:
    """Return the fitted numbers that agree with one of these constants within their interval, up to the sign.

    The columns must be in SI units. In laws with units of measurement numbers have no dimension, and only constants
    without one are offered.

    >>> [(n, c)] = offered([FittedNumber(8.3, 0.02, 8.26, 8.34)], ["R", "g"])
    >>> print(n, "may be", c.name)
    8.3 in [8.26, 8.34] may be molar gas constant
    """
    constants = [c for c in named(symbols) if not with_units or dimension(c.unit) == NONE]
    return [
        (n, c)
        for n in numbers
        if 0 < n.high - n.low < 2 * VAGUE * abs(n.value)
        for c in constants
        if min(abs(n.low), abs(n.high)) <= c.value <= max(abs(n.low), abs(n.high))
    ]


def with_constants(form: str, symbols: Sequence[str], columns: Sequence[str]) -> str:
    """Return a form with the values of these constants in the places of their symbols.

    >>> with_constants("R*T*n/V + r", ["R", "g"], ["n", "T", "V"])
    '(8.31446261815324)*T*n/V + r'
    """
    if not isinstance(form, str):
        raise NALMError(f"A form is a text, such as 'a*x + b', got {form!r}.")
    for constant in named(symbols):
        if constant.symbol in columns:
            raise NALMError(f"{constant.symbol} is a column and a constant of nature: rename the column.")
        form = re.sub(rf"(?<![\w.]){constant.symbol}(?![\w(])", f"({constant.value!r})", form)
    return form
