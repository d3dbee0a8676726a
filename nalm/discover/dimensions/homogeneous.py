"""Expressions with dimensions: their dimension, bringing a candidate to one, and fits that keep it."""

import itertools
import math
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from nalm.discover.dimensions.units import NONE, Dimension, balanced, null_space, product
from nalm.discover.fit.least_squares import levenberg, tangent
from nalm.discover.law.expression import (
    Array,
    Function,
    Input,
    Mask,
    Node,
    Power,
    Sum,
    evaluate,
    numbers,
    parts,
    renumbered,
    scalar_power,
)
from nalm.discover.law.functions import FUNCTIONS
from nalm.discover.law.tidy import tidied


def homogeneous(node: Node, units: Sequence[Dimension]) -> Dimension | None:
    """Return the dimension of an expression, or None if it adds terms of different dimensions.

    >>> from nalm.discover.dimensions.units import dimension
    >>> length, area = dimension("m"), dimension("m^2")
    >>> homogeneous(Power((Input(1),), (0.5,), 2.0), [length, area]) == length
    True
    >>> homogeneous(Sum((Input(0), Input(1)), (1.0, 1.0)), [length, area]) is None
    True
    """
    match node:
        case Input(index):
            return units[index]
        case Sum(terms, _, bias):
            dims = {homogeneous(t, units) for t in terms} | ({NONE} if bias or not terms else set())
            return dims.pop() if len(dims) == 1 else None
        case Power(factors, exponents, _):
            inner = [homogeneous(f, units) for f in factors]
            known = [d for d in inner if d is not None]
            return product(known, exponents) if len(known) == len(inner) else None
        case Function(name, argument):
            within = homogeneous(argument, units)
            return within if within == NONE or FUNCTIONS[name].keeps_dimension else None


def trimmed(
    node: Node, units: Sequence[Dimension], wanted: Dimension, x: Array, constants: Sequence[int] = ()
) -> Node | None:
    """Change an expression to the wanted dimension by dropping terms and balancing exponents, or return None.

    Columns that are ``constants`` first fill in what is missing, which changes no value: 9.81 m h is m g h. A sum
    inside a product has the dimension that makes the product right, else that of most of its size on x.
    The result is None for exponents that are all halves and do not add up: they are no inaccuracy of a fit.
    """
    match node:
        case Input(index):
            right = units[index] == wanted
            return node if right else _filled(Power((node,), (1.0,)), units, wanted, x, constants)
        case Sum(terms, weights, bias):
            if bias and wanted != NONE:
                terms, weights, bias = (*terms, Power((), ())), (*weights, bias), 0.0
            found = [
                trimmed(t, units, wanted, x, constants) if w else None
                for t, w in zip(terms, weights, strict=True)
            ]
            kept = [(t, w) for t, w in zip(found, weights, strict=True) if t is not None]
            if not kept and (terms or wanted != NONE):
                return None
            return Sum(tuple(t for t, _ in kept), tuple(w for _, w in kept), bias)
        case Power():
            return _filled(node, units, wanted, x, constants)
        case Function(name, argument):
            if wanted != NONE and not FUNCTIONS[name].keeps_dimension:
                return _filled(Power((node,), (1.0,)), units, wanted, x, constants)
            inner = trimmed(argument, units, wanted, x, constants)
            return None if inner is None else Function(name, inner)


def _filled(
    node: Power, units: Sequence[Dimension], wanted: Dimension, x: Array, constants: Sequence[int]
) -> Node | None:
    factors, exponents, coefficient = node.factors, node.exponents, node.coefficient
    options = [_sizes(f, units, x) for f in factors]
    dims = _together(options, exponents, wanted)
    if dims is None:
        dims = [_main(f, units, x) for f in factors]
        more = [i for i in constants if Input(i) not in factors]
        before = np.array([*exponents, *(0.0 for _ in more)])
        factors, dims = (*factors, *map(Input, more)), [*dims, *(units[i] for i in more)]
        away = np.abs(before - np.round(2 * before) / 2)
        settled = not away.any()
        held: Mask = np.isin([f.index if isinstance(f, Input) else -1 for f in factors], list(constants))
        p = balanced(before, dims, wanted, np.where(held, np.inf, away))
        if p is None or (settled and (p != before)[~held].any()):
            return None
        for f, change in zip(factors, p - before, strict=True):
            if isinstance(f, Input) and f.index in constants:
                coefficient *= scalar_power(float(x[0, f.index]), -change)
        if not math.isfinite(coefficient):  # the root of a negative constant
            return None
        exponents = tuple(p.tolist())
    inner = [trimmed(f, units, d, x, constants) for f, d in zip(factors, dims, strict=True)]
    known = tuple(f for f in inner if f is not None)
    return Power(known, exponents, coefficient) if len(known) == len(inner) else None


def _together(
    options: list[dict[Dimension, float]], exponents: Sequence[float], wanted: Dimension
) -> list[Dimension] | None:
    """Choose a dimension for each factor so that the product has the wanted one; larger terms are preferred."""
    if math.prod(map(len, options)) > 1000:
        options = [dict(sorted(o.items(), key=lambda item: -item[1])[:4]) for o in options]
    shares = [{d: s / (max(o.values()) or 1.0) for d, s in o.items()} for o in options]
    fitting = (c for c in itertools.product(*shares) if product(c, exponents) == wanted)
    best = max(
        fitting, key=lambda c: min((s[d] for s, d in zip(shares, c, strict=True)), default=1.0), default=None
    )
    return None if best is None else list(best)


def _sizes(node: Node, units: Sequence[Dimension], x: Array) -> dict[Dimension, float]:
    """Return the dimensions of the terms of an expression, and the rms on x of the terms of each."""
    match node:
        case Input(index):
            return {units[index]: 1.0}
        case Sum(terms, weights, bias):
            sizes = {NONE: abs(bias)} if bias or not terms else {}
            for t, w in zip(terms, weights, strict=True):
                size = float(np.nan_to_num(abs(w) * np.sqrt(np.mean(evaluate(t, x) ** 2)), posinf=0.0))
                main = _main(t, units, x)
                sizes[main] = sizes.get(main, 0.0) + size
            return sizes
        case Power(factors, exponents, _):
            return {product([_main(f, units, x) for f in factors], exponents): 1.0}
        case Function(name, argument):
            return _sizes(argument, units, x) if FUNCTIONS[name].keeps_dimension else {NONE: 1.0}


def _main(node: Node, units: Sequence[Dimension], x: Array) -> Dimension:
    sizes = _sizes(node, units, x)
    return max(sizes, key=lambda d: sizes[d])


def refitted(
    node: Node, units: Sequence[Dimension], x: Array, y: Array, free: Mask, check: Callable[[], None]
) -> Node:
    """Fit the free numbers to y by least squares; exponents other than halves keep the dimension."""
    start = np.array(numbers(node))
    moves = np.eye(len(start))[:, free]
    for places, columns in _exponents(node, units):
        loose = [i for i, p in enumerate(places) if free[p] and not float(2 * start[p]).is_integer()]
        own = np.zeros((len(start), len(loose)))
        own[[places[i] for i in loose], range(len(loose))] = 1.0
        moves = moves[:, ~moves[places].any(0)]
        moves = np.column_stack([moves, own @ null_space([columns[i] for i in loose])])
    size = np.sqrt(np.mean((tangent(node, x)[1] @ moves) ** 2, 0))
    moves = moves[:, size > 0] / size[size > 0]

    def residual(z: Array) -> tuple[Array, Array]:
        value, slopes = tangent(renumbered(node, start + moves @ z), x)
        return value - y, slopes @ moves

    fit = levenberg(residual, np.zeros(moves.shape[1]), steps=30, check=check)
    return tidied(renumbered(node, start + moves @ fit.parameters))


def _exponents(
    node: Node, units: Sequence[Dimension], at: int = 0
) -> Iterator[tuple[list[int], list[Dimension]]]:
    """Yield for every product the indices of its exponents among all numbers, and the dimensions of its factors."""
    inner = parts(node)
    if isinstance(node, Power):
        dims = [homogeneous(f, units) or NONE for f in inner]
        yield [at + i for i in range(len(inner))], dims
    at += len(numbers(node)) - sum(len(numbers(t)) for t in inner)
    for t in inner:
        yield from _exponents(t, units, at)
        at += len(numbers(t))
