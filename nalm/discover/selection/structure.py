"""The structure of a law: its form without its numbers. Laws of one structure are one answer."""

from nalm.discover.fit.description_length import NICE_NUMBERS
from nalm.discover.law.expression import Node, Power, Sum, numbers, parts, renumbered, roles, with_parts
from nalm.discover.law.tidy import tidied

REAL = 0.7321  # stands for any exponent that is not a half-integer
LARGEST_POWER = 4  # half-integer exponents up to here are free of charge


def structure(node: Node) -> Node:
    """Return the form of a law: every number is 1 but half-integer exponents; the order of parts does not count.

    >>> from nalm.discover.law.expression import Input
    >>> structure(Sum((Input(1), Input(0)), (3.0, 2.0))) == structure(Sum((Input(0), Input(1)), (1.0, 5.0), 0.0))
    True
    """
    node = tidied(node)
    kinds = zip(numbers(node), roles(node), strict=True)
    form = [1.0 if k != "exponent" else v if is_settled(v, k) else REAL for v, k in kinds]
    return _sorted(renumbered(node, form))


def _sorted(node: Node) -> Node:
    inner = [_sorted(p) for p in parts(node)]
    match node:
        case Sum(_, weights, bias):
            if len(inner) == 1 and not bias:
                return inner[0]
            return Sum(tuple(sorted(inner, key=repr)), weights and (1.0,) * len(weights), bias)
        case Power(_, exponents, _):
            if len(inner) == 1 and exponents == (1.0,):
                return inner[0]
            both = sorted(zip(inner, exponents, strict=True), key=repr)
            return Power(tuple(f for f, _ in both), tuple(p for _, p in both))
    return with_parts(node, inner)


def is_settled(value: float, role: str) -> bool:
    """Return whether a fit leaves a number as it is: a half-integer exponent, or a small integer or half."""
    if role == "exponent":
        return float(2 * value).is_integer() and abs(value) <= LARGEST_POWER
    return value in NICE_NUMBERS
