"""Which number a decimal stands for: small fractions, short decimals, and multiples of sqrt 2, sqrt 3 and pi."""

import math
from fractions import Fraction

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
ACCIDENT = 1e-3  # a number is recognised where the chance of being so near a simple one is below this
LARGEST = 360  # numerator and denominator of a fraction times an irrational number


def recognised(value: float, error: float) -> float | None:
    """The simplest number within an error of the value, if that is no accident, else None.

    >>> recognised(0.33333333331, 1e-9), recognised(1.5707963, 1e-7), recognised(0.7301927, 1e-7)
    (0.3333333333333333, 1.5707963267948966, None)
    """
    if not math.isfinite(value) or not math.isfinite(error):
        return None
    if abs(value) <= error:
        return 0.0
    error = max(error, 4e-16 * abs(value))
    found: tuple[float, float] | None = None
    for weight, (base, _) in enumerate(BASES.values(), start=1):
        near = _fraction(value / base, error / base)
        if near is None or (base != 1 and max(abs(near.numerator), near.denominator) > LARGEST):
            continue
        # the share of numbers of this size that lie so near to one as simple as this
        cost = weight * abs(near.numerator) * near.denominator * error / abs(value)
        if found is None or cost < found[0]:
            found = cost, near.numerator / near.denominator * base
    for digits in range(1, 9):
        short = float(f"{value:.{digits - 1}e}")
        if abs(short - value) <= error:
            cost = 10.0**digits * error / abs(value)
            found = (cost, short) if found is None or cost < found[0] else found
            break
    return found[1] if found is not None and found[0] < ACCIDENT else None


def _fraction(value: float, error: float) -> Fraction | None:
    """The first convergent, or its neighbour, within the error."""
    if not 1e-9 < abs(value) < 1e9:
        return None
    for largest in (1, 2, 3, 4, 6, 8, 12, 16, 24, 36, 64, 128, 360):
        near = Fraction(value).limit_denominator(largest)
        if abs(float(near) - value) <= error:
            return near
    return None


def spelled(value: float) -> sympy.Expr:
    """A number as SymPy: exact where its double is that of a simple number, else all its digits.

    >>> spelled(0.5), spelled(2 * math.pi), spelled(6.674)
    (1/2, 2*pi, 6.674)
    """
    for base, symbol in BASES.values():
        largest = 64 if base == 1 else LARGEST
        near = Fraction(value / base).limit_denominator(largest)
        simple = base == 1 or (near.numerator != 0 and abs(near.numerator) <= LARGEST)
        if simple and near.numerator / near.denominator * base == value:
            return sympy.Rational(near.numerator, near.denominator) * symbol
    return sympy.Float(repr(value), 17) if len(repr(abs(value))) > 12 else sympy.Float(repr(value))


def is_simple(value: float) -> bool:
    """Whether a number needs no digits of its own: a small fraction, a short decimal or a known constant."""
    return len(repr(abs(value))) <= 10 or not spelled(value).is_Float
