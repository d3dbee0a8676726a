"""A polynomial of any degree that the rows can tell, its root or one over it: least squares."""

import itertools
from collections.abc import Iterator

import numpy as np

from nalm.discover.law.expression import Array, Node, Power, Sum
from nalm.discover.problem import Problem
from nalm.discover.stages.additive import solve
from nalm.discover.stages.basis import Chebyshev, count
from nalm.discover.stages.scratchpad import relevant

HIGHEST = 12  # degree
TERMS = 150  # the most terms of a polynomial
PAIRED, TOGETHER = 8, 6  # columns of which all pairs are tried; columns that are tried together
HITS = 4  # polynomials that fit; if none of so many is certified, the data cannot tell
FOUND = 1e-9  # share of the size of y that a polynomial may leave
NOISY = 0.05  # under noise: what a polynomial of one column may leave


def chebyshev(problem: Problem) -> Iterator[Node]:
    """Propose y, y squared or 1/y as a polynomial of one column, of two, or of all, of the lowest degree that fits."""
    yield from itertools.islice(_proposed(problem), HITS)


def _proposed(problem: Problem) -> Iterator[Node]:
    for columns in subsets(problem):
        degree = highest(len(columns), len(problem.y) // 2)
        if degree < 3:  # stage polynomial has these
            continue
        basis = Chebyshev(problem.x[:, columns], columns, degree)
        for exponent in _exponents(problem.y):
            problem.check()
            yield from _fitted(basis, exponent, problem)


def subsets(problem: Problem) -> Iterator[list[int]]:
    """Yield the sets of columns of which polynomials are tried: each column, each pair, all together."""
    columns = sorted(relevant(problem)[:PAIRED]) if problem.columns else []
    yield from ([i] for i in columns)
    if len(columns) > 2:
        yield from ([i, j] for i in columns for j in columns if i < j)
    if 1 < len(problem.columns) <= TOGETHER:
        yield problem.columns


def highest(columns: int, terms: int) -> int:
    """Return the highest degree of a polynomial of at most so many terms."""
    degree = 0
    while degree < HIGHEST and count(columns, degree + 1) <= min(terms, TERMS):
        degree += 1
    return degree


def _exponents(y: Array) -> list[float]:
    return [1.0, *([2.0] if (y > 0).all() else []), *([-1.0] if (y != 0).all() else [])]


def _fitted(basis: Chebyshev, exponent: float, problem: Problem) -> Iterator[Node]:
    """Yield the polynomial of the lowest degree that leaves almost nothing, or under noise the most likely one."""
    target = problem.y**exponent
    weight = 1 / np.sqrt(np.median(np.abs(target)) ** 2 + target**2)
    whole = solve(basis.values * weight[:, None], target * weight)
    left = _left(basis.values @ whole - target, target, weight)
    if left < FOUND:
        for degree in range(2, basis.degree + 1):
            weights = _cut(basis, degree, target, weight)
            if _left(basis.values[:, : len(weights)] @ weights - target, target, weight) < FOUND:
                yield _law(basis, weights, exponent)  # of a series, which goes on, this one is not exact
                return
    elif problem.noise != 0 and len(basis.columns) == 1 and exponent == 1 and left < NOISY:
        n = len(target)
        fits = [_cut(basis, degree, target, weight) for degree in range(2, basis.degree + 1)]
        sizes = [_left(basis.values[:, : len(w)] @ w - target, target, weight) for w in fits]
        cost = [2 * n * np.log(s) + len(w) * np.log(n) for s, w in zip(sizes, fits, strict=True)]
        yield _law(basis, fits[int(np.argmin(cost))], exponent)


def _cut(basis: Chebyshev, degree: int, target: Array, weight: Array) -> Array:
    return solve(basis.values[:, : basis.up_to(degree)] * weight[:, None], target * weight)


def _left(r: Array, target: Array, weight: Array) -> float:
    """Return the rms of the weighted residual over that of the weighted target."""
    return float(np.sqrt(np.mean((r * weight) ** 2) / np.mean((target * weight) ** 2)))


def _law(basis: Chebyshev, weights: Array, exponent: float) -> Node:
    terms, numbers, bias = basis.powers(weights)
    plain = Sum(tuple(terms), tuple(numbers), bias)
    return plain if exponent == 1 else Power((plain,), (1 / exponent,))
