"""A product of two sums (NAU then NMU): Levenberg-Marquardt on the projected loss."""

from collections.abc import Iterator

import numpy as np

from nalm.discover.fit.least_squares import levenberg
from nalm.discover.law.expression import Array, Input, Node, Power, Sum
from nalm.discover.problem import Problem
from nalm.discover.stages.additive import solve
from nalm.discover.stages.projection import Projector
from nalm.discover.stages.ratio import typical

STARTS, WIDE = 2, 30  # beyond so many inputs, one start: it is either right or not worth its time


def product(problem: Problem) -> Iterator[Node]:
    r"""Propose y = c (u.x + a)(v.x + b), or c (u.x)(v.x) + w.x + b, or one over either.

    .. math:: \min_{u,v} \| (I - Q Q^T)((Xu)(Xv) - y) \|^2, \qquad Q \text{ a basis of } 1, x_1, x_2, \dots

    The first start is the two leading eigenvectors of the projected target's second moments.
    """
    x = problem.x[:, problem.columns]
    if len(x) < 3 * x.shape[1] + 5:
        return
    projector = Projector(x)
    inputs = tuple(Input(i) for i in problem.columns)
    targets = [(problem.y, 1.0)] + ([(1 / problem.y, -1.0)] if (problem.y != 0).all() else [])
    for attempt in range(STARTS if x.shape[1] <= WIDE else 1):
        for target, exponent in targets:
            problem.check()
            yield from _factors(target, exponent, x, inputs, projector, attempt, problem)


def _factors(
    target: Array,
    exponent: float,
    x: Array,
    inputs: tuple[Input, ...],
    project: Projector,
    attempt: int,
    problem: Problem,
) -> Iterator[Node]:
    rest = project(target)
    size = np.sqrt(np.mean(rest**2))
    if not size > 1e-12 * np.sqrt(np.mean(target**2)):
        return
    columns = x / project.scale

    def residual(w: Array) -> tuple[Array, Array]:
        u, v = w.reshape(2, -1)
        a, b = columns @ u, columns @ v
        both = project(np.column_stack([a * b, columns * b[:, None], columns * a[:, None]])) / size
        return both[:, 0] - rest / size, both[:, 1:]

    def equal_norms(w: Array) -> Array:
        u, v = w.reshape(2, -1)
        m, n = np.linalg.norm(u) or 1.0, np.linalg.norm(v) or 1.0
        return np.concatenate([u * np.sqrt(n / m), v * np.sqrt(m / n)])

    start = _start(project.curvature(rest)) if attempt == 0 else None
    if start is None:
        rng = np.random.default_rng([problem.seed, attempt])
        start = rng.standard_normal(2 * x.shape[1]) * np.sqrt(size / x.shape[1])
    fit = levenberg(residual, start, steps=60, settle=equal_norms, check=problem.check, enough=1e-24)
    if fit.error > (1e-4 if problem.noise == 0 else 0.9):
        return
    u, v = fit.parameters.reshape(2, -1) / project.scale
    yield from _candidates(u, v, target, exponent, x, inputs)


def _candidates(
    u: Array, v: Array, target: Array, exponent: float, x: Array, inputs: tuple[Input, ...]
) -> Iterator[Node]:
    """Add the linear part, which the projected loss ignores: none, a bias in each sum, or a sum beside the product."""
    scales = typical(u), typical(v)
    u, v, c = u / scales[0], v / scales[1], scales[0] * scales[1]
    a, b = x @ u, x @ v
    one = np.ones(len(x))
    r = 1 / np.sqrt(np.median(np.abs(target)) ** 2 + target**2)
    rest = r * (target - c * a * b)
    yield Power((Sum(inputs, tuple(u)), Sum(inputs, tuple(v))), (exponent, exponent), float(c**exponent))
    offsets = solve(np.column_stack([c * b, c * a, one]) * r[:, None], rest)
    sums = Sum(inputs, tuple(u), float(offsets[0])), Sum(inputs, tuple(v), float(offsets[1]))
    yield Power(sums, (exponent, exponent), float(c**exponent))
    linear = solve(np.column_stack([x, one]) * r[:, None], rest)
    both = Power((Sum(inputs, tuple(u)), Sum(inputs, tuple(v))), (1.0, 1.0))
    beside = Sum((*inputs, both), (*linear[:-1], float(c)), float(linear[-1]))
    yield beside if exponent == 1 else Power((beside,), (exponent,))


def _start(moments: Array) -> Array | None:
    """Return two sums whose symmetric product has second moments nearest to these."""
    values, vectors = np.linalg.eigh(moments)
    low, high = values[0], values[-1]
    if len(values) < 2:
        return None
    e, f = vectors[:, -1] * np.sqrt(max(high, 0.0)), vectors[:, 0] * np.sqrt(max(-low, 0.0))
    return np.concatenate([e + f, e - f])
