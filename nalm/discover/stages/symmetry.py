"""Symmetry: pairs of columns that y depends on through their difference, seen in a smooth fit."""

from functools import cache
from itertools import combinations

import numpy as np

from nalm.discover.law.expression import Array
from nalm.discover.problem import Problem
from nalm.discover.stages.additive import solve

DEGREE, BEST = 3, 2
ALIKE = 0.6  # size of the sum of two slopes, over their own, below which a pair is worth a look


def symmetric_pairs(problem: Problem) -> list[tuple[int, int]]:
    """Return up to two pairs of columns whose slopes cancel in a smooth fit: a shift of both changes little."""
    columns = problem.columns
    x = problem.x[:, columns]
    spread = np.ptp(x, 0)
    z = 2 * (x - x.min(0)) / spread - 1
    slopes = gradient(z, problem.y) / spread
    found = []
    for i, j in combinations(range(len(columns)), 2):
        own = np.sqrt(np.mean(slopes[:, i] ** 2) + np.mean(slopes[:, j] ** 2))
        both = np.sqrt(np.mean((slopes[:, i] + slopes[:, j]) ** 2))
        if own > 0 and both < ALIKE * own and 0.5 < spread[i] / spread[j] < 2:
            found.append((both / own, columns[i], columns[j]))
    return [(i, j) for _, i, j in sorted(found)[:BEST]]


def gradient(z: Array, y: Array) -> Array:
    """Return the slopes (rows, columns) of a polynomial of degree 3, or 2 with few rows, fitted to y."""
    n = z.shape[1]
    for degree in range(DEGREE, 0, -1):
        exponents = powers(n, degree)
        if len(exponents) < len(y) / 2:
            break
    else:
        return np.zeros_like(z)
    p = np.array(exponents)
    raised = np.stack([z**k for k in range(degree + 1)], 0)  # (powers, rows, columns)
    each = [[raised[k, :, i] for i, k in enumerate(row)] for row in p]
    terms = np.stack([np.prod(e, 0) for e in each], 1)
    w = solve(terms, y)
    slopes = np.zeros_like(z)
    for i in range(n):
        for row, e, weight in zip(p, each, w, strict=True):
            if row[i]:
                rest = np.prod([f for k, f in enumerate(e) if k != i], 0)
                slopes[:, i] += weight * row[i] * raised[row[i] - 1, :, i] * rest
    return slopes


@cache
def powers(columns: int, degree: int) -> list[tuple[int, ...]]:
    """List the exponents of all products of columns up to a degree."""
    if not columns:
        return [()]
    return [(k, *rest) for k in range(degree + 1) for rest in powers(columns - 1, degree - k)]
