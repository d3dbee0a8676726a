"""Compare formulas of stored runs: by their numbers, as far as these are printed, or as functions."""

import re
from decimal import Decimal

import torch

from nalm.errors import NALMError
from nalm.formulas.parse import parse
from nalm.formulas.symbolic import evaluate

NUMBER = re.compile(r"(?<![A-Za-z_0-9.])\d+\.?\d*(?:e[-+]?\d+)?")
FRACTION = re.compile(r"(?<![\w.*/)])(?:(\d+)\*)?([A-Za-z]\w*)/(\d+)(?![\w.(*])")
SINGLE = Decimal(
    "2e-6"
)  # relative; of numbers below 0.1 that of 0.1, since some are differences of larger ones
# rows on which two formulas are compared as functions, and how close they are there
POINTS, CLOSE = 256, 1e-5


def same_formula(first: str, second: str) -> bool:
    """Return whether two texts are the same formula.

    Texts that differ in numbers only are the same if each number agrees up to one unit of its last printed digit.
    Others are compared as functions on random inputs; those that cannot be read are not the same.

    A weight beside a simple fraction is a fraction in one text and a decimal in the other.

    >>> same_formula("a + 0.531632*b", "a + 0.531633*b"), same_formula("a + 0.53*b", "a + 0.54*b + 0")
    (True, False)
    >>> same_formula("0.141080566449469*a", "0.141080570220947*a"), same_formula("0.14108*a", "0.14118*a")
    (True, False)
    >>> same_formula("a/2 + 33*b/40", "a/2 + 0.825001*b"), same_formula("a/2 + 33*b/40", "a/2 + 0.82502*b")
    (True, False)
    """
    if first == second:
        return True
    for one, two in ((first, second), (_decimal(first), _decimal(second))):
        if NUMBER.sub("#", one) == NUMBER.sub("#", two):
            return all(map(_close, NUMBER.findall(one), NUMBER.findall(two)))
    try:
        return _same_function(first, second)
    except (NALMError, AssertionError, RuntimeError):
        return False


def _decimal(text: str) -> str:
    """Write fractions that are factors of an input as numbers of six digits, as other factors are.

    >>> _decimal("a/2 - 33*x12/40")
    '0.500000*a - 0.825000*x12'
    """
    return FRACTION.sub(lambda m: f"{int(m[1] or 1) / int(m[3]):.6f}*{m[2]}", text)


def _close(first: str, second: str) -> bool:
    """Return whether two printed numbers agree up to one unit of the last digit of the shorter one.

    Numbers of more digits agree as far as weights in single precision, and differences of them, carry.
    """
    a, b = Decimal(first), Decimal(second)
    if a == a.to_integral_value() and b == b.to_integral_value():
        return a == b
    last = max(int(n.as_tuple().exponent) for n in (a, b))
    return abs(a - b) <= max(Decimal(10) ** last, SINGLE * max(abs(a), Decimal("0.1")))


def _same_function(first: str, second: str) -> bool:
    one, two = parse(first), parse(second)
    symbols = sorted(one.free_symbols | two.free_symbols, key=str)
    draws = torch.randn(POINTS, len(symbols), generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    values = dict(zip(symbols, draws.unbind(-1), strict=True))
    if not symbols:
        return bool(one == two)
    a, b = evaluate(one, values), evaluate(two, values)
    close = torch.isclose(
        a, b, rtol=CLOSE, atol=CLOSE * float(b[b.isfinite()].abs().mean() or 1), equal_nan=True
    )
    return bool(close.all())
