"""Waves and rates of their own: frequency, rate, width or shift inside a function, by variable projection."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from nalm.discover.fit.least_squares import levenberg, refined
from nalm.discover.law.constants import recognised
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
    roles,
    weighted,
    with_parts,
)
from nalm.discover.law.tidy import tidied
from nalm.discover.problem import Problem
from nalm.discover.stages.additive import solve
from nalm.discover.stages.symmetry import powers

WIDEST = 4  # columns
ROWS = 240
DEGREE = 2  # of the polynomials of the other columns that a function is multiplied by
PERIODS = 30  # within the range of the column, at most
DECAYS = (0.0, 0.7, 1.5, 3.0, 6.0, 12.0)  # of an exponential over the range, up or down
STEEP = (1.0, 2.0, 4.0, 8.0, 16.0)  # of a step over the range
FITS = 2  # of each family that are refined
NEAR = 0.3  # share of y above which a fit is not
FAINT = 1e-6  # of the largest weight of a function, below which a term is left out
STEPS = 40


@dataclass(frozen=True)
class Family:
    """Functions of one column with numbers of their own: a grid of them, and their expressions."""

    name: str
    grid: Callable[
        [float], list[tuple[float, float]]
    ]  # of the rows per range: two numbers, for x from 0 to 1
    values: Callable[[Array, float, float], list[Array]]  # what is added linearly
    # of the column, its lowest value and its range, the two numbers and the weights: one function, and its weight
    node: Callable[[Node, float, float, float, float, Array], tuple[Node, float]]


def _waves(most: float) -> list[tuple[float, float]]:
    count = int(4 * most)
    return [
        (np.pi * (k + 1) / 2, s * d) for k in range(count) for d in DECAYS for s in ((1, -1) if d else (1,))
    ]


def _wave(x: Node, low: float, wide: float, w: float, k: float, weights: Array) -> tuple[Node, float]:
    wave = Function("sin", _inner(x, low, wide, w, float(np.arctan2(weights[1], weights[0]))))
    size = float(np.hypot(*weights) * np.exp(-k * low / wide))
    return (
        Power((Function("exp", Sum((x,), (k / wide,))), wave), (1.0, 1.0)) if abs(k) > FAINT else wave
    ), size


def _exponential(x: Node, low: float, wide: float, a: float, b: float, weights: Array) -> tuple[Node, float]:
    return Function("exp", Sum((x,), (a / wide,))), float(weights[0] * np.exp(-a * low / wide))


def _logarithm(x: Node, low: float, wide: float, a: float, b: float, weights: Array) -> tuple[Node, float]:
    return Function("log", Sum((x,), (1.0,), b * wide / a - low)), float(weights[0])


def _step(name: str) -> Callable[[Node, float, float, float, float, Array], tuple[Node, float]]:
    return lambda x, low, wide, a, b, weights: (
        Function(name, _inner(x, low, wide, a, b)),
        float(weights[0]),
    )


def _inner(x: Node, low: float, wide: float, a: float, b: float) -> Node:
    return Sum((x,), (a / wide,), b - a * low / wide)


def _steps(most: float) -> list[tuple[float, float]]:
    return [(a, -a * c) for a in STEEP for c in np.linspace(-0.25, 1.25, 13)]


FAMILIES = (
    Family(
        "wave",
        _waves,
        lambda x, w, k: [np.exp(k * x) * np.sin(w * x), np.exp(k * x) * np.cos(w * x)],
        _wave,
    ),
    Family(
        "exp",
        lambda most: [(s * d, 0.0) for d in (0.3, *DECAYS[1:], 25.0, 50.0) for s in (1, -1)],
        lambda x, a, b: [np.exp(a * x)],
        _exponential,
    ),
    Family(
        "log",
        lambda most: [(1.0, b) for b in (0.01, 0.03, 0.1, 0.3, 1.0, 3.0)],
        lambda x, a, b: [np.log(a * x + b)],
        _logarithm,
    ),
    Family("tanh", _steps, lambda x, a, b: [np.tanh(a * x + b)], _step("tanh")),
    Family("atan", _steps, lambda x, a, b: [np.arctan(a * x + b)], _step("atan")),
)


def waves(problem: Problem) -> Iterator[Node]:
    r"""Propose :math:`y = \sum_m z^m (c_m + d_m g(a u + b))`, u one column and z^m products of the others.

    g is a sine (also times an exponential), an exponential, a logarithm, tanh or atan. For every a and b of a grid
    the sum is solved for; the best are refined with all their numbers by Gauss-Newton.
    """
    if not 0 < len(problem.columns) <= WIDEST or len(problem.y) < 20:
        return
    for i in problem.columns:
        for family in FAMILIES:
            problem.check()
            yield from _fits(problem, i, family)


def _fits(problem: Problem, i: int, family: Family) -> Iterator[Node]:
    table, y = problem.x, problem.y
    low, wide = float(table[:, i].min()), float(np.ptp(table[:, i]))
    others = [Input(j) for j in problem.columns if j != i]
    exponents = powers(len(others), DEGREE if len(others) < 3 else 1)
    terms: list[Node] = [powered(others, p) for p in exponents]
    beside: list[Node] = [*terms, Input(i)]
    u = (table[:, i] - low) / wide
    m, plain = (np.stack([evaluate(t, table) for t in nodes], 1) for nodes in (terms, beside))
    few = slice(ROWS)
    base, _ = np.linalg.qr(plain[few])
    t = y[few] - base @ (base.T @ y[few])
    total = float(t @ t)
    if not total > 1e-24 * float(y @ y):
        return

    def rest(a: float, b: float) -> Array:
        own = np.concatenate([m[few] * g[:, None] for g in family.values(u[few], a, b)], 1)
        q, triangle = np.linalg.qr(own - base @ (base.T @ own))
        q = q[:, np.abs(np.diag(triangle)) > 1e-9 * np.abs(triangle).max()]
        return np.asarray(t - q @ (q.T @ t))

    found = []
    for a, b in family.grid(min(PERIODS, len(y) / 4 / m.shape[1])):
        problem.check()
        found.append((float(np.sum(rest(a, b) ** 2)) / total, a, b))
    for left, a, b in _peaks(found):
        if left < NEAR:
            a, b = _settled(rest, np.array([a, b]), problem.check)
            own = np.concatenate([m * g[:, None] for g in family.values(u, a, b)], 1)
            if not np.isfinite(own).all():
                continue
            w = solve(np.column_stack([plain, own]), y)
            outer, inner = w[: len(beside)], w[len(beside) :].reshape(-1, len(terms)).T
            total_nodes, sizes = [*beside], [*outer]
            for term, weights in zip(terms, inner, strict=True):
                if np.abs(weights).max() > FAINT * np.abs(inner).max():
                    node, size = family.node(Input(i), low, wide, a, b, weights)
                    total_nodes.append(Power((term, node), (1.0, 1.0)))
                    sizes.append(size)
            yield _refined(Sum(tuple(total_nodes), tuple(sizes)), problem)


def _settled(rest: Callable[[float, float], Array], start: Array, check: Callable[[], None]) -> Array:
    """Move the two numbers to where the solved sum leaves least, with slopes by differences."""

    def residual(p: Array) -> tuple[Array, Array]:
        r = rest(*p)
        steps = 1e-6 * np.maximum(np.abs(p), 1.0)
        moved = [rest(*(p + np.eye(2)[k] * steps[k])) for k in range(2)]
        return r, np.stack([(new - r) / step for new, step in zip(moved, steps, strict=True)], 1)

    return levenberg(residual, start, steps=STEPS, check=check, enough=1e-28).parameters


def _peaks(found: list[tuple[float, float, float]]) -> list[tuple[float, float, float]]:
    """Return the best fits whose first numbers are not neighbours on the grid."""
    kept: list[tuple[float, float, float]] = []
    for fit in sorted(found):
        if all(abs(fit[1] - k[1]) > 0.6 * np.pi for k in kept):
            kept.append(fit)
        if len(kept) == FITS:
            break
    return kept


def _refined(law: Node, problem: Problem) -> Node:
    """Fit every number but the exponents on all rows, and turn waves so that their phases are simple."""
    law = tidied(law)
    free = np.array([role in ("weight", "bias") for role in roles(law)], bool)
    ones = np.ones(len(problem.y))
    return tidied(
        turned(refined(law, problem.x, problem.y, ones, free=free, steps=8, check=problem.check)[0])
    )


def turned(node: Node) -> Node:
    """Write waves with the phase that is a simple number: as a sine or a cosine, with either sign.

    >>> turned(Function("sin", Sum((Input(0),), (2.0,), 0.5 + np.pi / 2)))
    Function(name='cos', argument=Sum(terms=(Input(index=0),), weights=(2.0,), bias=0.5))
    """
    node = with_parts(node, [turned(part) for part in parts(node)])
    if not (isinstance(node, Function) and node.name == "sin" and isinstance(node.argument, Sum)):
        return node
    inner = node.argument
    options = []
    for k, (name, sign) in enumerate((("sin", 1.0), ("cos", 1.0), ("sin", -1.0), ("cos", -1.0))):
        phase = float(np.mod(inner.bias - k * np.pi / 2 + np.pi, 2 * np.pi) - np.pi)
        near = recognised(phase, 1e-8)
        phase = phase if near is None else near
        wave = Function(name, weighted(inner.terms, inner.weights, phase))
        options.append((near is None, phase != 0, k, wave if sign > 0 else Power((wave,), (1.0,), -1.0)))
    return min(options, key=lambda o: o[:3])[3]
