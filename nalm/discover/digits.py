"""How the numbers of a table were printed: the unit of the last place of each of them."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from nalm.discover.law.expression import Array

MOST_DIGITS = 9  # significant ones: numbers with more were not rounded for printing
SHARE = 0.6  # of the numbers of a column that end in its last place: a tenth of all end in 0
SAMPLE = 2000  # numbers of a column that are looked at
NUMBER = re.compile(r"[+-]?(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d+))?")


@dataclass(frozen=True)
class Printed:
    """How a column was printed: with so many decimals, or with so many significant digits."""

    decimals: int | None = None
    significant: int | None = None

    def units(self, values: Array) -> Array | None:
        """Return the unit of the last place of each number; None if it has too many digits to have been rounded."""
        largest = float(np.abs(values).max(initial=0))
        whole = int(np.floor(np.log10(largest))) + 1 if largest else 1
        if self.significant is None:
            assert self.decimals is not None
            digits, found = self.decimals + whole, np.full(len(values), 10.0**-self.decimals)
        else:
            digits, found = self.significant, significant(values, self.significant)
        return found if digits <= MOST_DIGITS else None


Digits = (
    int | Sequence[Printed | None]
)  # significant ones of all numbers, or how each column and then y was printed


def printed_as(texts: Iterable[str]) -> Printed | None:
    """Read from the texts of a column how it was printed, zeros at the end included; None if they do not show it.

    Whole numbers are exact, and one zero behind the point is what programs write for them.

    >>> printed_as(["12.00", "15.50", "9.25"]), printed_as(["1.20e3", "0.0450", "789"])
    (Printed(decimals=2, significant=None), Printed(decimals=None, significant=3))
    >>> printed_as(["1.0", "2.0"]), printed_as(["1.5", "2"]), printed_as(["10", "200"])
    (None, None, None)
    """
    decimals, digits, fractions = set[int](), set[int](), set[str]()
    for text in texts:
        if (found := NUMBER.fullmatch(text)) is None:
            return None
        whole, fraction, power = found.group(1), found.group(2), found.group(3)
        shown = (whole + (fraction or "")).lstrip("0")
        if shown:  # a zero has no significant digit
            digits.add(len(shown) if fraction or not shown.endswith("0") else 0)
        decimals.add(len(fraction or "") if power is None else -1)
        fractions.add(fraction or "")
    if len(decimals) == 1 and min(decimals) > 0 and fractions != {"0"}:
        return Printed(decimals=decimals.pop())
    if len(digits) == 1 and min(digits) > 1 and fractions not in ({""}, {"0"}, {"", "0"}):
        return Printed(significant=digits.pop())
    return None


def last_places(values: Array, printed: Printed | None = None) -> Array | None:
    """Return the unit of the last printed place of each number of a column; None if it was not rounded.

    Where the text of the column is not known, it has either a fixed number of decimals or a fixed number of significant
    digits, whichever more of its numbers show: zeros at the end of a number are not seen in it. A column of integers is
    exact: its unit is 0.

    >>> last_places(np.array([1.25, 3.5, 0.75, 0.11])), last_places(np.array([12.3, 0.0456, 789.0, 1.22]))
    (array([0.01, 0.01, 0.01, 0.01]), array([1.e-01, 1.e-04, 1.e+00, 1.e-02]))
    >>> last_places(np.array([0.1 + 0.2, 0.7])) is None, last_places(np.array([3.0, 4.0]))
    (True, array([0., 0.]))
    >>> last_places(np.array([3.0, 4.0]), Printed(decimals=2))
    array([0.01, 0.01])
    """
    if printed is not None:
        return printed.units(values)
    shown = [_decimals_and_digits(float(v)) for v in values[:: -(-len(values) // SAMPLE)] if v]
    if not shown:
        return np.zeros(len(values))
    decimals, digits = (np.array(column) for column in zip(*shown, strict=True))
    if digits.max() > MOST_DIGITS:
        return None
    if (
        decimals.max() <= 0
        and (values == np.round(values)).all()
        and digits.max() == digits[decimals >= 0].max(initial=0)
    ):
        return np.zeros(len(values))
    fixed, floating = np.mean(decimals == decimals.max()), np.mean(digits == digits.max())
    if max(fixed, floating) < SHARE:
        return None
    if fixed >= floating:
        return np.full(len(values), 10.0 ** -int(decimals.max()))
    return significant(values, int(digits.max()))


def significant(values: Array, digits: int) -> Array:
    """Return the unit of the last of so many significant digits of each number."""
    with np.errstate(divide="ignore"):
        first = np.floor(np.log10(np.abs(values)))
    return np.where(np.isfinite(first), 10.0 ** (np.where(np.isfinite(first), first, 0.0) + 1 - digits), 0.0)


def _decimals_and_digits(value: float) -> tuple[int, int]:
    """Return how many decimals and how many significant digits the shortest text of a number has."""
    mantissa, exponent = f"{value!r}e0".replace("E", "e").split("e")[:2]
    whole, _, fraction = mantissa.lstrip("-").partition(".")
    fraction = fraction if fraction != "0" else ""
    digits = (whole + fraction).lstrip("0").rstrip("0" if not fraction else "")
    return len(fraction) - int(exponent), max(len(digits), 1)
