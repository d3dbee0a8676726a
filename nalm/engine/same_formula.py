"""Compare formulas of stored runs: by their numbers, as far as these are printed, or as functions."""

import re
from decimal import Decimal

import torch

from nalm.errors import NALMError
from nalm.formulas.parse import parse
from nalm.formulas.symbolic import evaluate

NUMBER = re.compile(r"(?<![A-Za-z_0-9.])\d+\.?\d*(?:e[-+]?\d+)?")
POINTS, CLOSE = (
    256,
    1e-5,
)  # rows on which two formulas are compared as functions, and how close they are there


def same_formula(first: str, second: str) -> bool:
    """Return whether two texts are the same formula.

    Texts that differ in numbers only are the same if each number agrees up to one unit of its last printed digit.
    Others are compared as functions on random inputs; those that cannot be read are not the same.

    >>> same_formula("a + 0.531632*b", "a + 0.531633*b"), same_formula("a + 0.53*b", "a + 0.54*b + 0")
    (True, False)
    """
    if first == second:
        return True
    if NUMBER.sub("#", first) == NUMBER.sub("#", second):
        return all(map(_close, NUMBER.findall(first), NUMBER.findall(second)))
    try:
        return _same_function(first, second)
    except (NALMError, AssertionError, RuntimeError):
        return False


def _close(first: str, second: str) -> bool:
    """Return whether two printed numbers agree up to one unit of the last digit of the shorter one."""
    a, b = Decimal(first), Decimal(second)
    if a == a.to_integral_value() and b == b.to_integral_value():
        return a == b
    last = max(int(n.as_tuple().exponent) for n in (a, b))
    return abs(a - b) <= Decimal(10) ** last


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
