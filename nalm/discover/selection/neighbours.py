"""Neighbours of a law: forms that differ from it in one place, such as an exponent or a function."""

import itertools
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from nalm.discover.law.expression import (
    Array,
    Function,
    Input,
    Node,
    Power,
    Sum,
    evaluate,
    parts,
    powered,
    used,
    with_parts,
)
from nalm.discover.law.functions import FUNCTIONS
from nalm.discover.law.tidy import tidied

STEPS = (-1.0, -0.5, 0.5, 1.0)  # by which an exponent changes
POWERS = (-2.0, -1.0, -0.5, 0.5, 1.0, 2.0)  # p of (1 + u/p)^p, which begins as 1 + u whatever p is
PARTS = (1.0, 0.5)  # of u, where a fit begins
SCALES = (0.5, 1.0, 2.0)  # of the argument of another function
GROWING = ("exp", "sinh", "cosh", "tanh")  # functions in place of a power
ROOTS = (0.5, 1.0, 1.5, 2.0, 3.0)  # powers in place of a function


def neighbours(node: Node, x: Array) -> Iterator[Node]:
    """Yield each form that differs from the law in one place, with numbers from which a fit to rows x can start."""
    seen = {tidied(node)}
    for other in _changed(node, x):
        other = tidied(other)
        if other not in seen and used(other):
            seen.add(other)
            yield other


def _changed(node: Node, x: Array, law: Node | None = None, argument: bool = False) -> Iterator[Node]:
    """Yield the changes; a sum that is the ``argument`` of a function is not bent: far from 0 it looks straight."""
    columns = sorted(used(law or node))
    match node:
        case Input():
            yield from _steps(Power((node,), (1.0,)), columns)
        case Power():
            yield from _steps(node, columns)
            yield from _scaled(node)
            yield from _functions(node, x)
            yield from _bent(node)
        case Sum() if not argument:
            yield from _bent(Power((node,), (1.0,)))
        case Function():
            yield from _exchanged(node, x)
    inner = parts(node)
    for i, part in enumerate(inner):
        for other in _changed(part, x, law or node, isinstance(node, Function)):
            yield with_parts(node, [other if k == i else p for k, p in enumerate(inner)])


def _steps(node: Power, columns: list[int]) -> Iterator[Node]:
    """Yield the product with another exponent of one factor or column."""
    factors = [*node.factors, *(Input(i) for i in columns if Input(i) not in node.factors)]
    exponents = [*node.exponents, *[0.0] * (len(factors) - len(node.factors))]
    for i, p in enumerate(exponents):
        for step in STEPS if p else STEPS[1:3]:
            yield powered(factors, [*exponents[:i], p + step, *exponents[i + 1 :]], node.coefficient)


def _shared(node: Power) -> tuple[Power, Power, float]:
    """Split a product into u^p and the rest, where u holds all factors that share the largest exponent p."""
    largest = max(map(abs, node.exponents), default=0.0)
    both = list(zip(node.factors, node.exponents, strict=True))
    inner = [(f, p / largest) for f, p in both if abs(p) == largest]
    outer = [(f, p) for f, p in both if abs(p) != largest]
    u, rest = (Power(tuple(f for f, _ in some), tuple(p for _, p in some)) for some in (inner, outer))
    return u, replace(rest, coefficient=node.coefficient), largest


def _scaled(node: Power) -> Iterator[Node]:
    """Yield the product with another exponent of all factors that share the largest one, as v*v/(c*c) does."""
    u, rest, largest = _shared(node)
    if len(u.factors) > 1:
        for p in [largest + step for step in STEPS if largest + step > 0]:
            exponents = [*rest.exponents, *(p * sign for sign in u.exponents)]
            yield powered([*rest.factors, *u.factors], exponents, node.coefficient)


def _functions(node: Power, x: Array) -> Iterator[Node]:
    """Yield the product with a function in place of the power of all factors that share the largest exponent.

    Not in place of a power of 1: every function is a line near 0.
    """
    u, rest, largest = _shared(node)
    if largest > 1:
        old = evaluate(u, x) ** largest
        for name, scale in itertools.product(GROWING, SCALES):
            near = _nearest(old, [Function(name, Sum((u,), (scale,)))], x)
            for other in itertools.islice(near, 1):  # up to a factor only: cosh(u) - 1 is u^2/2 near 0
                yield powered([*rest.factors, other], [*rest.exponents, 1.0], node.coefficient)


def _exchanged(node: Function, x: Array) -> Iterator[Node]:
    """Yield another function or a power of the same argument, and powers of a sum that begin as an exponential."""
    old = evaluate(node, x)
    for name in FUNCTIONS:
        if name != node.name:
            yield from _nearest(old, [Function(name, Sum((node.argument,), (scale,))) for scale in SCALES], x)
    for p in ROOTS:
        yield from _nearest(old, [Power((node.argument,), (p,))], x)
    if node.name == "exp":
        for p in POWERS:
            yield Power((Sum((node.argument,), (1 / p,), 1.0),), (p,))


def _nearest(old: Array, others: list[Node], x: Array) -> Iterator[Node]:
    """Yield the expression nearest to old values up to a factor, and that up to a factor and a number added."""
    fine = [(node, v) for node in others if np.isfinite(v := evaluate(node, x)).all()]
    for added in ([], [np.ones(len(x))]) if np.isfinite(old).all() else ():
        best: tuple[float, Node] | None = None
        for node, value in fine:
            table = np.column_stack([value, *added])
            (weight, *bias), *_ = np.linalg.lstsq(table, old, rcond=None)
            off = float(np.sum((old - table @ [weight, *bias]) ** 2))
            if weight and (best is None or off < best[0]):
                best = off, Sum((node,), (float(weight),), float(sum(bias)))
        if best is not None:
            yield best[1]


def _bent(node: Power) -> Iterator[Node]:
    """Yield the product with (1 + u/p)^p or exp(u) in place of a power of a sum; all begin as 1 + u.

    Half of u is tried as well: there a root has a value on more rows.
    """
    both = list(zip(node.factors, node.exponents, strict=True))
    for i, (f, q) in enumerate(both):
        if not isinstance(f, Sum):
            continue
        for first, weight, rest in _leads(f):
            others, scale = both[:i] + both[i + 1 :], node.coefficient * abs(weight) ** q
            for p, part in [(p, part) for p in POWERS for part in PARTS if p != q]:
                base = _plus(rest, part * q / p / weight, first)
                lead = [] if first is None else [(first, q - p)]
                yield _product([*others, (base, p), *lead], scale)
            if first is None:
                yield _product([*others, (Function("exp", _plus(rest, q / weight)), 1.0)], scale)


def _leads(node: Sum) -> Iterator[tuple[Node | None, float, Sum]]:
    """Yield each term of a sum (None: the bias), its weight, and the sum of the others."""
    if node.bias and node.terms:
        yield None, node.bias, replace(node, bias=0.0)
    if len(node.terms) + bool(node.bias) > 1:
        for k, (term, weight) in enumerate(zip(node.terms, node.weights, strict=True)):
            terms, weights = ((*all_[:k], *all_[k + 1 :]) for all_ in (node.terms, node.weights))
            yield term, weight, Sum(terms, weights, node.bias)


def _plus(rest: Sum, scale: float, first: Node | float | None = 0.0) -> Sum:
    """Return scale * rest + first, a term, or 1 if it is None."""
    weights = tuple(scale * w for w in rest.weights)
    if isinstance(first, float):
        return Sum(rest.terms, weights, scale * rest.bias + first)
    if first is None:
        return Sum(rest.terms, weights, 1.0)
    return Sum((*rest.terms, first), (*weights, 1.0), scale * rest.bias)


def _product(both: list[tuple[Node, float]], coefficient: float) -> Node:
    return powered([f for f, _ in both], [p for _, p in both], coefficient)
