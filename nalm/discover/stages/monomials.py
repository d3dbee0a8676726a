"""A sum of products of powers (power units, then a NAU), its root, or one over it: variable projection.

Only exponents are searched, from many starts at once; weights are solved in closed form for each of them. A table of
either sign is looked at where its columns have one sign, exponents of such columns are whole, and the weights
are solved again on all rows.
"""

import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from nalm.discover.law.expression import Array, Input, Node, Power, Sum
from nalm.discover.problem import Problem
from nalm.discover.stages.additive import solve
from nalm.discover.stages.weights import even, weights

ROWS = 240  # looked at by the search for exponents
WIDEST = 8  # inputs
STARTS = 128
HALVINGS = {10: 40, 25: 16}  # after so many steps, so many of the starts go on
STEPS = 70
LARGEST = 14.0  # exponent
COUNTS = (2, 3, 4, 5)  # terms of the sum
WORTH = 0.9  # a further term leaves less than so much of what was left
FOUND, PROMISING = 1e-20, 1e-12  # of the mean square of the target: only rounding is left; nearly so
NOISY = 0.05  # the same where noise is admitted


def monomials(problem: Problem, powers: Sequence[float] = (1.0, -1.0, 2.0)) -> Iterator[Node]:
    r"""Propose powers of y (y, 1/y, y squared) as :math:`\sum_k c_k \prod_i x_i^{p_{ki}}`, with two to five terms.

    More and more terms, for each power of y as long as that leaves clearly less of it.
    """
    y, columns = problem.y, problem.columns
    rows = _orthant(problem.x[:, columns])
    if not columns or len(columns) > WIDEST or len(rows) <= len(columns) or not (y[rows] != 0).all():
        return
    logs = np.log(np.abs(problem.x[rows][:, columns]))
    logs = logs - logs.mean(0)
    rng = np.random.default_rng(problem.seed)
    near = _nearest(logs, y[rows], np.ones(len(rows)) if problem.noise == 0 else even(y[rows], 0.0))
    left = {p: np.inf for p in powers if p == 1 or ((y != 0).all() if p == -1 else (y > 0).all())}
    for count in COUNTS:
        if len(rows) < count * (len(columns) + 1) + 4:
            return
        for power, before in list(left.items()):
            starts = rng.normal(power * near, 1.5, (STARTS, count, len(columns)))
            p, share = starts[0], np.inf
            with contextlib.suppress(np.linalg.LinAlgError):
                p, share = exponents(logs, *_weighted(y[rows], power, problem), starts, problem.check)
            if share < (PROMISING if problem.noise == 0 else NOISY):
                yield from _candidates(problem, p, power)
            if share < WORTH * before:
                left[power] = share
            else:
                del left[power]


def _weighted(y: Array, power: float, problem: Problem) -> tuple[Array, Array]:
    """Return a power of y times a weight of each row, and the weights, the last of those that can be tried."""
    *_, weight = weights(replace(problem, y=y), power)
    return y**power * weight, weight


def exponents(
    logs: Array, target: Array, weight: Array, starts: Array, check: Callable[[], None]
) -> tuple[Array, float]:
    """Return the best exponents (terms, inputs) reached from any start, and the share of the target they leave.

    Levenberg-Marquardt on all starts at once, with the slopes of Kaufman; the worse ones are given up on the way.
    """
    p, total = starts, float(np.mean(target**2))
    r, slopes = _fit(logs, target, weight, p)
    error = np.mean(r**2, -1) / total
    damping, before = np.full(len(p), 1e-2), np.inf
    for step in range(STEPS):
        check()
        hessian = slopes @ slopes.swapaxes(1, 2)
        size = np.trace(hessian, axis1=1, axis2=2) / hessian.shape[1]
        hessian += (damping * size + 1e-300)[:, None, None] * np.eye(hessian.shape[1])
        move = np.linalg.solve(hessian, slopes @ r[..., None])[..., 0]
        trial = np.clip(p - move.reshape(p.shape), -LARGEST, LARGEST)
        r_trial, slopes_trial = _fit(logs, target, weight, trial)
        error_trial = np.mean(r_trial**2, -1) / total
        better = error_trial < error
        p[better], r[better], slopes[better] = trial[better], r_trial[better], slopes_trial[better]
        error[better] = error_trial[better]
        damping = np.where(better, np.maximum(damping / 5, 1e-14), damping * 4)
        if error.min() < FOUND:
            break
        if step in HALVINGS:
            if error.min() > 0.98 * before:
                break
            before = error.min()
            kept = np.argsort(error)[: HALVINGS[step]]
            p, r, slopes, error, damping = p[kept], r[kept], slopes[kept], error[kept], damping[kept]
    best = int(np.argmin(error))
    return p[best], float(error[best])


def _fit(logs: Array, target: Array, weight: Array, p: Array) -> tuple[Array, Array]:
    """Return residuals (starts, rows) and slopes (starts, terms * inputs, rows) at p (starts, terms, inputs)."""
    m = np.exp(np.clip(p @ logs.T, -60, 60)) * weight
    m /= np.maximum(np.sqrt((m**2).sum(-1, keepdims=True)), 1e-300)
    q, r = np.linalg.qr(m.swapaxes(1, 2))
    inner = target @ q
    diagonal = np.abs(np.diagonal(r, axis1=1, axis2=2))
    c = np.linalg.solve(r + np.eye(p.shape[1]) * (diagonal < 1e-12)[:, None, :], inner[..., None])
    slopes = ((m * c)[:, :, None, :] * logs.T).reshape(len(p), -1, len(target))
    slopes -= (slopes @ q) @ q.swapaxes(1, 2)
    return target - (q @ inner[..., None])[..., 0], -slopes


def _orthant(x: Array) -> NDArray[np.intp]:
    """Return up to ``ROWS`` rows of the most frequent combination of signs, without zeros."""
    rows = np.flatnonzero((x != 0).all(1))
    signs, which, count = np.unique(x[rows] > 0, axis=0, return_inverse=True, return_counts=True)
    return np.asarray(rows[which.ravel() == np.argmax(count)][:ROWS] if len(signs) else rows, np.intp)


def _nearest(logs: Array, y: Array, weight: Array) -> Array:
    """Return the exponents of the nearest single product, by logarithms with these weights."""
    terms = np.column_stack([logs, np.ones(len(y))]) * weight[:, None]
    return np.asarray(solve(terms, weight * np.log(np.abs(y)))[:-1])


def _candidates(problem: Problem, p: Array, power: float) -> Iterator[Node]:
    """Solve the weights on all rows: exponents rounded to halves, then as they are; integers where signs change."""
    x = problem.x[:, problem.columns]
    target, weight = _weighted(problem.y, power, problem)
    p = np.where((x <= 0).any(0), np.round(p), p)
    halves = np.round(2 * p) / 2
    for q in (np.where(np.abs(p - halves) < 0.05, halves, p), p):
        with np.errstate(all="ignore"):
            m = np.stack([np.prod(x**k, 1) for k in q], 1) * weight[:, None]
        if np.isfinite(m).all():
            terms = tuple(Power(tuple(map(Input, problem.columns)), tuple(k)) for k in q)
            law = Sum(terms, tuple(solve(m, target)))
            yield law if power == 1 else Power((law,), (1 / power,))
        if (q == p).all():
            break
