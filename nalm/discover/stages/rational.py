"""A quotient of two polynomials of the lowest degrees that fit: null vectors in a Chebyshev basis."""

import itertools
from collections.abc import Iterator

import numpy as np

from nalm.discover.law.expression import Array, Node, Power, Sum
from nalm.discover.problem import Problem
from nalm.discover.stages.additive import solve
from nalm.discover.stages.basis import Chebyshev, count
from nalm.discover.stages.chebyshev import HITS, highest, subsets
from nalm.discover.stages.ratio import null_vector

TERMS = 280  # the most terms above and below together
NOISY = ((0, 1), (1, 1), (0, 2), (2, 1), (1, 2), (2, 2))  # degrees that are tried under noise
FEWEST = 6  # columns of which they are tried
STEPS = 4
LEFT = 1e-8  # share of the size of its parts that a null vector may leave


def rational(problem: Problem) -> Iterator[Node]:
    r"""Propose y = P(x)/Q(x) or its root, P and Q polynomials of one column, of two, or of all of them.

    The weights of P and Q are the null vector of :math:`P(x_k) - t_k Q(x_k) = 0`, t = y or y squared. Degrees grow
    until there is one: then it is unique, because a common factor of P and Q would allow lower degrees.
    """
    yield from itertools.islice(_proposed(problem), HITS)
    if problem.noise != 0:
        yield from _under_noise(problem)


def _under_noise(problem: Problem) -> Iterator[Node]:
    """Propose quotients of low degree whose weights are least squares of y itself, term by term and once refined.

    :math:`(P - y Q)/Q_0`, with Q_0 the denominator before, is nearly the error of y; Q/Q_0 has the mean 1.
    """
    columns, y = problem.columns, problem.y
    one = np.ones(len(y)) if problem.error is None else problem.relative
    for degrees in NOISY if 0 < len(columns) <= FEWEST else ():
        if 4 * sum(count(len(columns), d) for d in degrees) > len(y):
            continue
        basis = Chebyshev(problem.x[:, columns], columns, max(degrees))
        top, bottom = (basis.values[:, : basis.up_to(d)] for d in degrees)
        below = np.ones(len(y))
        for _ in range(STEPS):
            problem.check()
            known, rest = bottom / below[:, None], top / below[:, None]
            mean = known.mean(0)
            free = known[:, 1:] - known[:, [0]] * (
                mean[1:] / mean[0]
            )  # the mean of Q/Q_0 fixes its first weight
            parts = np.column_stack([rest, -y[:, None] * free]) * one[:, None]
            w = solve(parts, one * y * known[:, 0] / mean[0])
            above, q = w[: top.shape[1]], w[top.shape[1] :]
            q = np.array([(1 - mean[1:] @ q) / mean[0], *q])
            below = bottom @ q
            if not np.isfinite(below).all() or not (np.abs(below) > 1e-3 * np.abs(below).max()).all():
                break
        else:
            law = _law(basis, (above, q), 1.0)
            if law is not None:
                yield law


def _proposed(problem: Problem) -> Iterator[Node]:
    y = problem.y
    for columns in subsets(problem):
        most = min(TERMS, len(y) // 2)
        degree = highest(len(columns), most)
        if degree < 2:
            continue
        basis = Chebyshev(problem.x[:, columns], columns, degree)
        pairs = _degrees(len(columns), degree, most)
        for exponent in (1.0, 2.0) if (y > 0).all() else (1.0,):
            if not any(_weights(basis, d, exponent, problem) is not None for d in _largest(pairs)):
                continue
            for degrees in pairs:
                weights = _weights(basis, degrees, exponent, problem)
                law = None if weights is None else _law(basis, weights, exponent)
                if law is not None:
                    yield law
                    break


def _degrees(columns: int, degree: int, most: int) -> list[tuple[int, int]]:
    """Return the degrees above and below by the number of their terms; those of stage ratio are left out."""
    pairs = [(p, q) for p in range(degree + 1) for q in range(1, degree + 1) if max(p, q) > 1]
    sizes = {(p, q): count(columns, p) + count(columns, q) for p, q in pairs}
    return sorted((d for d in pairs if sizes[d] <= most), key=lambda d: (sizes[d], d))


def _largest(pairs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the pairs that no other pair exceeds in both degrees: if none of them fits, no pair does."""
    return [d for d in pairs if not any(e != d and e[0] >= d[0] and e[1] >= d[1] for e in pairs)]


def _weights(
    basis: Chebyshev, degrees: tuple[int, int], exponent: float, problem: Problem
) -> tuple[Array, Array] | None:
    """Return the weights above and below of the null vector, if what it leaves is rounding."""
    problem.check()
    target = problem.y**exponent
    weight = 1 / np.sqrt(np.median(np.abs(target)) ** 2 + target**2)
    top, bottom = (basis.values[:, : basis.up_to(d)] for d in degrees)
    columns = np.column_stack([top, -target[:, None] * bottom]) * weight[:, None]
    z = null_vector(columns)
    if not np.isfinite(z).all():
        return None
    parts = columns * z
    if not np.sqrt(np.mean(parts.sum(1) ** 2)) < LEFT * np.sqrt(np.mean((parts**2).sum(1))):
        return None
    return z[: top.shape[1]], z[top.shape[1] :]


def _law(basis: Chebyshev, weights: tuple[Array, Array], exponent: float) -> Node | None:
    parts = []
    for w in weights:
        terms, numbers, bias = basis.powers(w)
        parts.append((terms, np.array([*numbers, bias])))
    scale = float(np.abs(parts[1][1]).max())
    if not scale > 0 or not np.abs(parts[0][1]).max() > 0:
        return None
    sums = [Sum(tuple(t), tuple(w[:-1] / scale), float(w[-1] / scale)) for t, w in parts]
    quotient = Power(tuple(sums), (1.0, -1.0))
    return quotient if exponent == 1 else Power((quotient,), (1 / exponent,))
