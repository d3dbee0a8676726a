"""Recognition of numbers: small fractions, short decimals, and multiples of sqrt 2, sqrt 3 and pi."""

import math
from fractions import Fraction

import numpy as np
import sympy

# name -> value; a recognised number is a small fraction times one of these
BASES: dict[str, tuple[float, sympy.Expr]] = {
    "1": (1.0, sympy.Integer(1)),
    "pi": (math.pi, sympy.pi),
    "1/pi": (1 / math.pi, 1 / sympy.pi),
    "sqrt(2)": (math.sqrt(2), sympy.sqrt(2)),
    "sqrt(3)": (math.sqrt(3), sympy.sqrt(3)),
    "sqrt(pi)": (math.sqrt(math.pi), sympy.sqrt(sympy.pi)),
    "sqrt(2*pi)": (math.sqrt(2 * math.pi), sympy.sqrt(2 * sympy.pi)),
    "1/sqrt(pi)": (1 / math.sqrt(math.pi), 1 / sympy.sqrt(sympy.pi)),
    "1/sqrt(2*pi)": (1 / math.sqrt(2 * math.pi), 1 / sympy.sqrt(2 * sympy.pi)),
    "pi**2": (math.pi**2, sympy.pi**2),
}
ACCIDENT = 1e-3  # largest probability of a match by chance at which a number is recognised
WRITTEN = 16  # the largest denominator a number is written with; 9.81 is better than 981/100
LARGEST = 360  # numerator (of a multiple of an irrational number) and denominator

_DENOMINATORS = np.arange(1.0, LARGEST + 1)
_VALUES = np.array([value for value, _ in BASES.values()])
_WEIGHTS = np.arange(1.0, len(BASES) + 1)  # the further down the list, the less expected


def recognised(value: float, error: float) -> float | None:
    """Return the simplest number within an error of the value, or None if such a match is likely by chance.

    >>> recognised(0.33333333331, 1e-9), recognised(1.5707963, 1e-7), recognised(0.7301927, 1e-7)
    (0.3333333333333333, 1.5707963267948966, None)
    """
    if not math.isfinite(value) or not math.isfinite(error):
        return None
    if abs(value) <= error:
        return 0.0
    error = max(error, 4e-16 * abs(value))
    found = _fraction(value, error)
    for digits in range(1, 9):
        short = float(f"{value:.{digits - 1}e}")
        if abs(short - value) <= error:
            found = min(found, (10.0**digits * error / abs(value), short))
            break
    return found[1] if found[0] < ACCIDENT else None


def _fraction(value: float, error: float) -> tuple[float, float]:
    """Return the cheapest fraction times a base within the error; its cost is the probability of a match by chance."""
    quotients = value / _VALUES[:, None]
    above = np.rint(quotients * _DENOMINATORS)
    cost = _WEIGHTS[:, None] * np.abs(above) * _DENOMINATORS * error / abs(value)
    far = np.abs(above / _DENOMINATORS - quotients) * _VALUES[:, None] > error
    far |= (above == 0) | (np.abs(above) > np.where(_VALUES == 1, 1e9, LARGEST)[:, None])
    cost = np.where(far, np.inf, cost)
    base, below = np.unravel_index(int(np.argmin(cost)), cost.shape)
    number = above[base, below] / _DENOMINATORS[below] * _VALUES[base]
    return float(cost[base, below]), float(number)


def to_sympy(value: float) -> sympy.Expr:
    """Convert a number to SymPy: exact where its double is that of a simple number, else with all digits.

    >>> to_sympy(0.5), to_sympy(2 * math.pi), to_sympy(0.75 * math.sqrt(2))
    (1/2, 2*pi, 3*sqrt(2)/4)
    """
    found = _simple(float(value))
    if found is not None and (found[0].denominator <= WRITTEN or not _short(value)):
        fraction, symbol = found
        return sympy.Rational(fraction.numerator, fraction.denominator) * symbol
    return sympy.Float(repr(float(value)), 17)


def _simple(value: float) -> tuple[Fraction, sympy.Expr] | None:
    """Return the small fraction and the base whose product is exactly this double."""
    for base, symbol in BASES.values():
        near = Fraction(value / base).limit_denominator(LARGEST)
        small = base == 1 or 0 < abs(near.numerator) <= LARGEST
        if small and near.numerator / near.denominator * base == value:
            return near, symbol
    return None


def is_plain(value: float) -> bool:
    """Return whether a number has at most two digits, or is a small fraction times a known constant.

    >>> [is_plain(v) for v in (3.0, 3.7, 2 / 3, math.pi / 2, 9.81, 1.37)]
    [True, True, True, True, False, False]
    """
    if float(f"{value:.1e}") == value:
        return True
    found = _simple(float(value))
    return found is not None and abs(found[0].numerator) * found[0].denominator <= 100


def is_usual_power(value: float) -> bool:
    """Return whether an exponent is a multiple of 1/12, as wholes, halves, thirds and quarters are.

    >>> [is_usual_power(v) for v in (2.0, -1.5, 2 / 3, 0.37, 0.005)]
    [True, True, True, False, False]
    """
    return abs(12 * value - round(12 * value)) <= 1e-9


def _short(value: float) -> bool:
    """Return whether a number is a decimal of at most eight digits."""
    return len(f"{abs(value):.15g}".split("e")[0]) <= 9
