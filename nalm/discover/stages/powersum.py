"""A product of powers under a sum (power unit, then NAU): variable projection."""

from collections.abc import Iterator

import numpy as np

from nalm.discover.dimensions.units import balanced, halved, null_space
from nalm.discover.fit.least_squares import levenberg
from nalm.discover.law.expression import Array, Input, Node, Power, Sum
from nalm.discover.problem import Problem
from nalm.discover.stages.additive import solve
from nalm.discover.stages.projection import Projector

LARGEST = 12.0  # exponent
SCALES = (1.5, -1.5, 0.6, -0.6)  # of the first exponents along the leading eigenvector


def powersum(problem: Problem) -> Iterator[Node]:
    r"""Propose y = w.x + b + c \prod x_i^{p_i}, with powers of positive inputs only.

    The sum and c are solved in closed form for every p (Golub and Pereyra; slopes of Kaufman), so that only
    the exponents are searched: :math:`\min_p \| (I - Q Q^T)(y - c\,m(p)) \|^2`. With units p = p_0 + N z keeps
    the dimension of y, and only inputs of that dimension are in the sum.
    """
    positive = [i for i in (*problem.columns, *problem.constants) if (problem.x[:, i] > 0).all()]
    start, moves = _subspace(problem, positive)
    if not positive or start is None or len(problem.y) < len(problem.addends) + len(positive) + 4:
        return
    project = Projector(problem.x[:, problem.addends])
    logs = np.log(problem.x[:, positive])
    logs = logs - logs.mean(0)
    fixed, logs = (0.0, logs) if moves is None else (logs @ start, logs @ moves)
    rest = project(problem.y)
    size = np.sqrt(np.mean(rest**2))
    if not size > 1e-12 * np.sqrt(np.mean(problem.y**2)):
        return

    def residual(p: Array) -> tuple[Array, Array]:
        with np.errstate(over="ignore", invalid="ignore"):
            m = np.exp(np.clip(fixed + logs @ p, -300, 300))
            both = project(np.column_stack([m, m[:, None] * logs]))
        inner, slopes = both[:, 0], both[:, 1:]
        norm = inner @ inner
        if not np.isfinite(both).all() or norm == 0:
            return np.full(len(rest), np.inf), np.zeros_like(slopes)
        c = (inner @ rest) / norm
        slopes = slopes - np.outer(inner, inner @ slopes) / norm
        return (rest - c * inner) / size, -c * slopes / size

    for first in _starts(rest, logs):
        problem.check()
        fit = levenberg(residual, first, steps=60, check=problem.check, enough=1e-24)
        p = fit.parameters if moves is None else start + moves @ fit.parameters
        if fit.error < (1e-3 if problem.noise == 0 else 0.9) and np.abs(p).max() < LARGEST:
            yield from _candidates(p, positive, problem)


def _subspace(problem: Problem, positive: list[int]) -> tuple[Array | None, Array | None]:
    """Return, with units, exponents p_0 of the dimension of y, if there are any, and the changes N that keep it."""
    if problem.dimensions is None:
        return np.zeros(len(positive)), None
    units = [problem.dimensions[0][i] for i in positive]
    return balanced(np.zeros(len(positive)), units, problem.dimensions[1]), null_space(units)


def _exponents(p: Array, positive: list[int], problem: Problem) -> Iterator[Array]:
    """Yield the exponents rounded to integers, to halves, and as they are."""
    if problem.dimensions is None:
        yield from (np.round(p), np.round(2 * p) / 2, p)
        return
    units, wanted = [problem.dimensions[0][i] for i in positive], problem.dimensions[1]
    for exponents in (halved(p, units, wanted), balanced(p, units, wanted)):
        if exponents is not None:
            yield exponents


def _starts(rest: Array, logs: Array) -> Iterator[Array]:
    """Yield starts along the leading eigenvector of the second moments of the residual of a linear model."""
    if not logs.shape[1]:
        yield np.empty(0)  # the units leave no choice
        return
    spread = logs.std(0)
    z = logs / np.where(spread > 0, spread, 1.0)
    moments = (z * rest[:, None]).T @ z / len(rest)
    values, vectors = np.linalg.eigh(moments)
    leading = vectors[:, int(np.argmax(np.abs(values)))]
    leading = leading / max(np.abs(leading).max(), 1e-300)
    for scale in SCALES:
        yield scale * leading


def _candidates(p: Array, positive: list[int], problem: Problem) -> Iterator[Node]:
    """Solve the last sum for every choice of exponents."""
    r = problem.relative
    inputs = tuple(Input(i) for i in problem.addends)
    for exponents in _exponents(p, positive, problem):
        if not exponents.any():
            continue
        kept = np.flatnonzero(exponents)
        monomial = Power(tuple(Input(positive[i]) for i in kept), tuple(exponents[kept]))
        m = np.prod(problem.x[:, [positive[i] for i in kept]] ** exponents[kept], 1)
        for bias in problem.biases:
            columns = np.column_stack(
                [problem.x[:, problem.addends], m, *([np.ones(len(m))] if bias else [])]
            )
            w = solve(columns * r[:, None], r * problem.y)
            n = len(inputs) + 1
            yield Sum((*inputs, monomial), tuple(w[:n]), float(w[n]) if bias else 0.0)
