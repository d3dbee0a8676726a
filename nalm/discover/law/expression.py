"""Expressions: inputs, weighted sums, products of powers and functions, with a bound of their rounding error.

A node has no names and no data. ``Sum`` is the formula of a NAU with coefficients and a bias, ``Power`` that
of a power unit with one coefficient; a ``Function`` has no numbers of its own.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nalm.discover.law.functions import FUNCTIONS, beside_exp_slope, log_beside_exp

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Input:
    """One column of the data."""

    index: int


@dataclass(frozen=True)
class Sum:
    """Weighted sum: bias + w_1 t_1 + w_2 t_2 + ..."""

    terms: tuple["Node", ...]
    weights: tuple[float, ...]
    bias: float = 0.0


@dataclass(frozen=True)
class Power:
    """Product of powers: coefficient * f_1**p_1 * f_2**p_2 * ..."""

    factors: tuple["Node", ...]
    exponents: tuple[float, ...]
    coefficient: float = 1.0


@dataclass(frozen=True)
class Function:
    """An elementary function of one expression: sin, exp, log, ..., by its name in ``FUNCTIONS``."""

    name: str
    argument: "Node"


Node = Input | Sum | Power | Function


def parts(node: Node) -> tuple[Node, ...]:
    """Return the expressions that a node is made of: terms, factors or the argument."""
    match node:
        case Input():
            return ()
        case Sum(inner) | Power(inner):
            return inner
        case Function(_, argument):
            return (argument,)


def with_parts(node: Node, inner: Sequence[Node]) -> Node:
    """Return the node with other parts, as many as it has."""
    match node:
        case Input():
            return node
        case Sum():
            return replace(node, terms=tuple(inner))
        case Power():
            return replace(node, factors=tuple(inner))
        case Function(name, _):
            return Function(name, *inner)


def substituted(node: Node, columns: Sequence[Node]) -> Node:
    """Return the expression with each input replaced by the expression of its column."""
    if isinstance(node, Input):
        return columns[node.index]
    return with_parts(node, [substituted(p, columns) for p in parts(node)])


def weighted(terms: Sequence[Node], weights: Any, bias: float = 0.0) -> Node:
    """Build a sum without its zero terms; a single term of weight 1 is returned as it is."""
    kept = [(t, float(w)) for t, w in zip(terms, weights, strict=True) if w != 0]
    if len(kept) == 1 and kept[0][1] == 1 and bias == 0:
        return kept[0][0]
    return Sum(tuple(t for t, _ in kept), tuple(w for _, w in kept), float(bias))


def powered(factors: Sequence[Node], exponents: Any, coefficient: float = 1.0) -> Node:
    """Build a product without its zeroth powers; a single factor of power 1 is returned as it is."""
    kept = [(f, float(p)) for f, p in zip(factors, exponents, strict=True) if p != 0]
    if len(kept) == 1 and kept[0][1] == 1 and coefficient == 1:
        return kept[0][0]
    return Power(tuple(f for f, _ in kept), tuple(p for _, p in kept), float(coefficient))


def evaluate(node: Node, x: Array) -> Array:
    """Evaluate an expression on every row of x (rows, inputs); not finite where it is not defined.

    >>> evaluate(Power((Input(0), Input(1)), (1, -1), 2.0), np.array([[3.0, 4.0]]))
    array([1.5])
    """
    match node:
        case Input(index):
            return x[:, index]
        case Sum(terms, weights, bias):
            total = np.full(len(x), bias)
            for t, w in zip(terms, weights, strict=True):
                total += w * evaluate(t, x)
            return total
        case Power(factors, exponents, coefficient):
            product = np.full(len(x), coefficient)
            for f, p in zip(factors, exponents, strict=True):
                product *= _raised(evaluate(f, x), p)
            return product
        case Function("log", Sum((Function("exp", inner),), (weight,), bias)) if weight > 0:
            return log_beside_exp(evaluate(inner, x), weight, bias)
        case Function(name, argument):
            with np.errstate(all="ignore"):
                return FUNCTIONS[name].value(evaluate(argument, x))


def _raised(base: Array, exponent: float) -> Array:
    if exponent == 1:
        return base
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return base**exponent


def bounded(node: Node, x: Array, u: float) -> tuple[Array, Array]:
    r"""Return the value and a first-order bound e of its rounding error, for numbers of unit roundoff u.

    Inputs: :math:`e = u |x|`. Sums: :math:`e = \sum |w_i| (e_i + u |v_i|) + u |s|`. Products of powers:
    :math:`e = |s| (u + \sum |p_i| (e_i / |v_i| + u))`. Functions: :math:`e = |g'(v)| e_v + 2 u |g(v)|`.
    """
    match node:
        case Input(index):
            return x[:, index], u * np.abs(x[:, index])
        case Sum(terms, weights, bias):
            total, error = np.full(len(x), bias), np.full(len(x), u * abs(bias))
            for t, w in zip(terms, weights, strict=True):
                v, e = bounded(t, x, u)
                total += w * v
                error += abs(w) * (e + u * np.abs(v))
            return total, error + u * np.abs(total)
        case Power(factors, exponents, coefficient):
            product, size = np.full(len(x), coefficient), np.full(len(x), abs(coefficient))
            relative = np.full(len(x), u)
            for f, p in zip(factors, exponents, strict=True):
                v, e = bounded(f, x, u)
                with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
                    at_least = np.maximum(np.abs(v), e)  # a sum that cancelled is no smaller than its error
                    product = product * _raised(v, p)
                    size = size * _raised(at_least, p)
                    relative += abs(p) * (np.where(at_least > 0, e / at_least, 0.0) + u)
            with np.errstate(invalid="ignore", over="ignore"):
                return product, size * relative
        case Function("log", Sum((Function("exp", inner),), (weight,), bias)) if weight > 0:
            v, e = bounded(inner, x, u)
            value, slope = log_beside_exp(v, weight, bias), np.abs(beside_exp_slope(v, weight, bias))
            rest = np.abs(1 - slope) * u  # of the bias
            return value, slope * (e + 4 * u) + rest + u * (1 + 2 * np.abs(value))
        case Function(name, argument):
            v, e = bounded(argument, x, u)
            with np.errstate(all="ignore"):
                value = FUNCTIONS[name].value(v)
                return value, np.abs(FUNCTIONS[name].slope(v, e)) * e + 2 * u * np.abs(value)


def numbers(node: Node) -> list[float]:
    """List the numbers of an expression from the root down: weights, then a bias; exponents, then a coefficient.

    A bias of 0 is no number: nothing is added. A coefficient of 1 is one, so that it can be fitted.
    """
    match node:
        case Sum(_, weights, bias):
            own = [*weights, *([bias] if bias else [])]
        case Power(_, exponents, coefficient):
            own = [*exponents, coefficient]
        case _:
            own = []
    return own + [n for part in parts(node) for n in numbers(part)]


def roles(node: Node) -> list[str]:
    """List the role of each of these numbers: weight, bias, exponent or coefficient."""
    match node:
        case Sum(_, weights, bias):
            own = ["weight"] * len(weights) + ["bias"] * bool(bias)
        case Power(_, exponents, _):
            own = ["exponent"] * len(exponents) + ["coefficient"]
        case _:
            own = []
    return own + [r for part in parts(node) for r in roles(part)]


def renumbered(node: Node, values: Sequence[float] | Array) -> Node:
    """Return the same expression with other numbers, in the order of ``numbers``."""
    return _renumbered(node, iter([float(v) for v in values]))


def _renumbered(node: Node, values: Iterator[float]) -> Node:
    match node:
        case Sum(_, weights, bias):
            own = tuple(next(values) for _ in weights)
            node = replace(node, weights=own, bias=next(values) if bias else 0.0)
        case Power(_, exponents, _):
            own = tuple(next(values) for _ in exponents)
            node = replace(node, exponents=own, coefficient=next(values))
    return with_parts(node, [_renumbered(part, values) for part in parts(node)])


def scalar_power(base: float, exponent: float) -> float:
    """Return a power of a number; it is not finite where the power is not defined."""
    with np.errstate(all="ignore"):
        return float(np.float64(base) ** exponent)


def used(node: Node) -> set[int]:
    """Return the indices of the columns that an expression uses."""
    return {node.index} if isinstance(node, Input) else set[int]().union(*map(used, parts(node)))


def size(node: Node) -> int:
    """Count the symbols of an expression: inputs, operations and numbers other than 1.

    >>> size(Power((Input(0), Input(1)), (1, -1)))
    3
    """
    match node:
        case Input():
            return 1
        case Sum(terms, weights, bias):
            n = sum(map(size, terms)) + 2 * sum(abs(w) != 1 for w in weights) + (2 if bias else 0)
            leading = bool(weights) and all(w < 0 for w in weights) and bias <= 0
            return max(n + len(terms) - 1, 1) + leading
        case Power(factors, exponents, coefficient):
            n = sum(map(size, factors)) + 2 * sum(abs(p) != 1 for p in exponents)
            n += 2 * (abs(coefficient) != 1) + (coefficient == -1)
            return max(n + len(factors) - 1, 1) + (all(p < 0 for p in exponents) and bool(exponents))
        case Function(_, argument):
            return 1 + size(argument)
