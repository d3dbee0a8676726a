"""Expressions: inputs, weighted sums and products of powers, with a bound of their rounding error.

A node has no names and no data. ``Sum`` is the formula of a NAU with coefficients and a bias; ``Power`` is that
of a power unit with one coefficient.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

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


Node = Input | Sum | Power


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


def _raised(base: Array, exponent: float) -> Array:
    if exponent == 1:
        return base
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return base**exponent


def bounded(node: Node, x: Array, u: float) -> tuple[Array, Array]:
    r"""Return the value and a first-order bound e of its rounding error, for numbers of unit roundoff u.

    Inputs: :math:`e = u |x|`. Sums: :math:`e = \sum |w_i| (e_i + u |v_i|) + u |s|`. Products of powers:
    :math:`e = |s| (u + \sum |p_i| (e_i / |v_i| + u))`.
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


def numbers(node: Node) -> list[float]:
    """List the numbers of an expression from the root down: weights, then a bias; exponents, then a coefficient.

    A bias of 0 is no number: nothing is added. A coefficient of 1 is one, so that it can be fitted.
    """
    match node:
        case Input():
            return []
        case Sum(terms, weights, bias):
            own = [*weights, *([bias] if bias else [])]
            return own + [n for t in terms for n in numbers(t)]
        case Power(factors, exponents, coefficient):
            return [*exponents, coefficient] + [n for f in factors for n in numbers(f)]


def roles(node: Node) -> list[str]:
    """List the role of each of these numbers: weight, bias, exponent or coefficient."""
    match node:
        case Input():
            return []
        case Sum(terms, weights, bias):
            own = ["weight"] * len(weights) + ["bias"] * bool(bias)
            return own + [r for t in terms for r in roles(t)]
        case Power(factors, exponents, _):
            return ["exponent"] * len(exponents) + ["coefficient"] + [r for f in factors for r in roles(f)]


def renumbered(node: Node, values: Sequence[float] | Array) -> Node:
    """Return the same expression with other numbers, in the order of ``numbers``."""
    return _renumbered(node, iter([float(v) for v in values]))


def _renumbered(node: Node, values: Iterator[float]) -> Node:
    match node:
        case Input():
            return node
        case Sum(terms, weights, bias):
            own = tuple(next(values) for _ in weights)
            offset = next(values) if bias else 0.0
            return Sum(tuple(_renumbered(t, values) for t in terms), own, offset)
        case Power(factors, exponents, _):
            own = tuple(next(values) for _ in exponents)
            scale = next(values)
            return Power(tuple(_renumbered(f, values) for f in factors), own, scale)


def tidied(node: Node) -> Node:
    """Drop zero terms and zeroth powers, and join sums of sums and products of products."""
    match node:
        case Input():
            return node
        case Sum(terms, weights, bias):
            parts: dict[Node, float] = {}
            for t, w in zip(map(tidied, terms), weights, strict=True):
                joined = t if isinstance(t, Sum) else Sum((t,), (1.0,))
                bias += w * joined.bias
                for s, v in zip(joined.terms, joined.weights, strict=True):
                    s, v = _unscaled(s, v)
                    parts[s] = parts.get(s, 0.0) + w * v
            return weighted(list(parts), list(parts.values()), bias)
        case Power(factors, exponents, coefficient):
            bases: dict[Node, float] = {}
            for f, p in zip(map(tidied, factors), exponents, strict=True):
                joins = float(p).is_integer()  # the root of a square is not its base
                inner = f if isinstance(f, Power) and joins else Power((f,), (1.0,))
                coefficient *= scalar_power(inner.coefficient, p)
                for g, q in zip(inner.factors, inner.exponents, strict=True):
                    if isinstance(g, Sum) and not g.terms:  # a number
                        coefficient *= scalar_power(g.bias, p * q)
                        continue
                    if isinstance(g, Sum) and len(g.terms) == 1 and g.bias == 0 and float(p * q).is_integer():
                        coefficient *= scalar_power(g.weights[0], p * q)
                        g = g.terms[0]
                    if isinstance(g, Sum) and float(p * q).is_integer() and _mostly_negative(g):
                        coefficient *= (-1.0) ** (p * q)
                        g = Sum(g.terms, tuple(-w for w in g.weights), -g.bias)
                    bases[g] = bases.get(g, 0.0) + p * q
            return powered(list(bases), list(bases.values()), coefficient)


def scalar_power(base: float, exponent: float) -> float:
    """Return a power of a number; it is not finite where the power is not defined."""
    with np.errstate(all="ignore"):
        return float(np.float64(base) ** exponent)


def _mostly_negative(node: Sum) -> bool:
    """Tell whether a sum reads better with all signs reversed."""
    signs = [w > 0 for w in node.weights] + ([node.bias > 0] if node.bias else [])
    return bool(signs) and (2 * sum(signs), signs[0]) < (len(signs), True)


def _unscaled(node: Node, weight: float) -> tuple[Node, float]:
    """Move the coefficient of a term into its weight."""
    if isinstance(node, Power) and node.coefficient != 1:
        return tidied(replace(node, coefficient=1.0)), weight * node.coefficient
    return node, weight


def used(node: Node) -> set[int]:
    """Return the indices of the columns that an expression uses."""
    match node:
        case Input(index):
            return {index}
        case Sum(terms):
            return set[int]().union(*map(used, terms))
        case Power(factors):
            return set[int]().union(*map(used, factors))


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
