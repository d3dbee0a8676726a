"""Least squares: the slopes of an expression in its numbers, and the Levenberg-Marquardt method of all stages."""

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from nalm.discover.law.expression import (
    Array,
    Function,
    Input,
    Mask,
    Node,
    Power,
    Sum,
    numbers,
    renumbered,
    roles,
)
from nalm.discover.law.functions import FUNCTIONS, beside_exp_slope, log_beside_exp


def tangent(node: Node, x: Array) -> tuple[Array, Array]:
    """Return the value (rows,) of an expression and its slopes (rows, numbers) in each of its numbers."""
    value, slopes = _tangent(node, x)
    return value, np.stack(slopes, 1) if slopes else np.empty((len(x), 0))


def _tangent(node: Node, x: Array) -> tuple[Array, list[Array]]:
    match node:
        case Input(index):
            return x[:, index], []
        case Sum(terms, weights, bias):
            parts = [_tangent(t, x) for t in terms]
            value = bias + sum((w * v for w, (v, _) in zip(weights, parts, strict=True)), np.zeros(len(x)))
            own = [v for v, _ in parts] + ([np.ones(len(x))] if bias else [])
            return value, own + [w * s for w, (_, ss) in zip(weights, parts, strict=True) for s in ss]
        case Power(factors, exponents, coefficient):
            parts = [_tangent(f, x) for f in factors]
            with np.errstate(all="ignore"):
                plain = np.ones(len(x))
                for (v, _), p in zip(parts, exponents, strict=True):
                    plain = plain * v**p
                value = coefficient * plain
                own = [value * np.log(np.abs(v)) for v, _ in parts] + [plain]
                chain = [p * value / v * s for (v, ss), p in zip(parts, exponents, strict=True) for s in ss]
            return value, own + chain
        case Function("log", Sum((Function("exp", argument),), (w,), bias)) if w > 0:
            inner, slopes = _tangent(argument, x)
            steep = beside_exp_slope(inner, w, bias)
            with np.errstate(all="ignore"):
                own = [steep / w] + ([steep / w * np.exp(-inner)] if bias else [])
            return log_beside_exp(inner, w, bias), own + [steep * s for s in slopes]
        case Function(name, argument):
            inner, slopes = _tangent(argument, x)
            with np.errstate(all="ignore"):
                steep = FUNCTIONS[name].slope(inner, np.zeros(len(x)))
                return FUNCTIONS[name].value(inner), [steep * s for s in slopes]


TINY = np.finfo(np.float64).tiny
UNSOLVABLE = (np.linalg.LinAlgError, ArithmeticError)  # of numbers too large to square, or all alike
PATIENCE, PROGRESS = 6, 0.98  # a search that gains less than 2% in so many steps is stuck


def solvable(candidates: Iterator[Node]) -> Iterator[Node]:
    """Yield candidates until the arithmetic behind them fails."""
    with contextlib.suppress(*UNSOLVABLE):
        yield from candidates


@dataclass
class Fit:
    """The result of a least-squares search: its parameters and the mean squared residual."""

    parameters: Array
    error: float


def levenberg(
    residual: Callable[[Array], tuple[Array, Array]],
    start: Array,
    *,
    steps: int = 50,
    settle: Callable[[Array], Array] = lambda p: p,
    check: Callable[[], None] = lambda: None,
    enough: float = 0.0,
) -> Fit:
    """Minimise by Levenberg-Marquardt, residual(p) = (r, J); damping is divided by 5 on success, times 4 on failure.

    ``settle`` moves parameters along directions that change nothing (a gauge); ``check`` may raise when
    time is up; the search stops early once the mean squared residual is below ``enough``.
    """
    p = settle(np.asarray(start, dtype=np.float64))
    r, slopes = residual(p)
    error = _mean_square(r)
    damping, seen = 1e-2, [error]
    for _ in range(steps):
        check()
        stuck = len(seen) > PATIENCE and error > seen[-PATIENCE - 1] * PROGRESS
        if not np.isfinite(error) or error <= enough or stuck:
            break
        slopes = np.nan_to_num(slopes, nan=0.0, posinf=0.0, neginf=0.0)
        hessian, gradient = slopes.T @ slopes, slopes.T @ r
        scale = np.diag(hessian).mean() if len(p) else 0.0
        if not scale > 0:
            break
        trial = settle(p - _solve(hessian + damping * scale * np.eye(len(p)), gradient))
        r_trial, slopes_trial = residual(trial)
        error_trial = _mean_square(r_trial)
        if error_trial < error:
            p, r, slopes, error = trial, r_trial, slopes_trial, error_trial
            damping = max(damping / 5, 1e-14)
        else:
            damping *= 4
        seen.append(error)
    return Fit(p, error)


def _mean_square(r: Array) -> float:
    with np.errstate(over="ignore", invalid="ignore"):
        return float(np.mean(r * r)) if len(r) and np.isfinite(r).all() else np.inf


def _solve(matrix: Array, vector: Array) -> Array:
    try:
        return np.asarray(np.linalg.solve(matrix, vector))
    except np.linalg.LinAlgError:
        return np.asarray(np.linalg.lstsq(matrix, vector, rcond=None)[0])


def refined(
    node: Node,
    x: Array,
    y: Array,
    weight: Array,
    *,
    free: Mask | None = None,
    steps: int = 8,
    check: Callable[[], None] = lambda: None,
) -> tuple[Node, Array]:
    """Fit the free numbers of an expression by Gauss-Newton; return also the standard error of every number.

    Steps are solved by singular values, so that numbers which only matter together move together.
    """
    values = np.array(numbers(node))
    free = np.ones(len(values), bool) if free is None else free
    spread, step = np.zeros(len(values)), np.zeros(len(values))
    biases = np.array([role == "bias" for role in roles(node)], bool)
    best, error = values, np.inf
    for _ in range(steps):
        check()
        for part in (1.0, 0.25, 0.05):  # of a step that overshoots
            values = best + part * step
            values = np.where(biases & (values == 0), TINY, values)  # a bias of 0 would not be a number
            trial, slopes = tangent(renumbered(node, values), x)
            r = weight * (y - trial)
            now = _mean_square(r)
            if now < error or not step.any():
                break
        if not now < error * (1 - 1e-6):
            break
        best, error = values, now
        moving = np.nan_to_num(weight[:, None] * slopes[:, free], nan=0.0, posinf=0.0, neginf=0.0)
        step = np.zeros(len(values))
        step[free], spread[free] = _gauss_newton(moving, r)
    return renumbered(node, best), spread


def _gauss_newton(slopes: Array, r: Array) -> tuple[Array, Array]:
    """Return the least-squares step, and the standard error of each parameter at this residual."""
    if not slopes.shape[1]:
        return np.empty(0), np.empty(0)
    norm = np.sqrt((slopes**2).sum(0))
    norm = np.where(norm > 0, norm, 1.0)
    if not np.isfinite(norm).all():
        return np.zeros(len(norm)), np.full(len(norm), np.inf)
    left, singular, right = np.linalg.svd(slopes / norm, full_matrices=False)
    kept = singular > 1e-13 * singular[0]
    inverse = np.where(kept, 1 / np.where(kept, singular, 1.0), 0.0)
    step = (right.T * inverse) @ (left.T @ r) / norm
    noise = np.sqrt(np.sum(r * r) / max(len(r) - slopes.shape[1], 1))
    return step, noise * np.sqrt(((right.T * inverse) ** 2).sum(1)) / norm
