"""A function of a product of powers, times a product of powers: the argument is found before the function."""

from collections.abc import Iterator

import numpy as np

from nalm.discover.fit.least_squares import refined
from nalm.discover.law.expression import Array, Function, Input, Node, Power, Sum, roles
from nalm.discover.problem import Problem
from nalm.discover.stages.shapes import Shape, evaluated
from nalm.discover.stages.symmetry import symmetric_pairs
from nalm.discover.stages.views import through
from nalm.discover.stages.weights import weights

ROWS = 240
WIDEST, WIDER = 7, 5  # columns with exponents -1, 0, 1 in the argument; and with -2, ..., 2
DEGREE = 9  # of the polynomial that stands for the unknown function
ARGUMENTS, FITS, FEWER = 6, 4, 2  # how many of the best are looked at; arguments under noise
POWERS = (1.0, -1.0, 2.0, -2.0, 0.5, -0.5)  # of the product with small whole exponents
RATES = np.geomspace(1e-3, 1e2, 101)  # of the argument over its median
NEAR = 0.05  # share of the logarithms left, above which a fit is not refined
STEEPEST = 4.0  # power of a function
STEPS = 25
SHAPES = (
    Shape("exp", lambda u: Function("exp", u)),
    Shape("exp - 1", lambda u: Sum((Function("exp", u),), (1.0,), -1.0)),
    Shape("1 - exp", lambda u: Sum((Function("exp", Sum((u,), (-1.0,))),), (-1.0,), 1.0)),
    Shape("exp + 1", lambda u: Sum((Function("exp", u),), (1.0,), 1.0)),
    Shape("1 + exp", lambda u: Sum((Function("exp", Sum((u,), (-1.0,))),), (1.0,), 1.0)),
    Shape("tanh", lambda u: Function("tanh", u)),
    Shape("cosh", lambda u: Function("cosh", u)),
    Shape("sinh", lambda u: Function("sinh", u)),
    Shape("atan", lambda u: Function("atan", u)),
    Shape("log + 1", lambda u: Function("log", Sum((u,), (1.0,), 1.0))),
    Shape("sin", lambda u: Function("sin", u)),
    Shape("cos", lambda u: Function("cos", u)),
    Shape("1 - cos", lambda u: Sum((Function("cos", u),), (-1.0,), 1.0)),
)


def argument(problem: Problem) -> Iterator[Node]:
    r"""Propose :math:`y = c \prod x_i^{p_i} \, g(a \prod x_i^{q_i})^r` with g of a list of functions.

    For every small whole q, log|y| is fitted by the logarithms of the columns and a polynomial of q.log|x|, whatever
    g is; the best q are kept. Then a and g are found on a grid, where c, p and r are solved for, and all numbers
    are refined. The same with a difference in place of two columns that y seems to depend on through it.
    """
    columns = [Input(i) for i in problem.columns]
    yield from _argument(problem)
    for i, j in symmetric_pairs(problem):
        others: list[Node] = [c for c in columns if c.index not in (i, j)]
        yield from through(problem, _argument, [*others, Sum((Input(i), Input(j)), (1.0, -1.0))])


def _argument(problem: Problem) -> Iterator[Node]:
    for weight in weights(problem, 0.0):
        yield from _with_weights(problem, weight)


def _with_weights(problem: Problem, weight: Array) -> Iterator[Node]:
    """Propose laws by fits of log|y| with these weights of the rows."""
    x, y = problem.x[:, problem.columns], problem.y
    rows = np.flatnonzero((x != 0).all(1) & (y != 0))[:ROWS]
    if not 0 < x.shape[1] <= WIDEST or len(rows) < 2 * (x.shape[1] + DEGREE):
        return
    logs, some = np.log(np.abs(x[rows])), weight[rows]
    basis, _ = np.linalg.qr(np.column_stack([np.ones(len(rows)), logs]) * some[:, None])
    t = np.log(np.abs(y[rows])) * some
    t = t - basis @ (basis.T @ t)
    total = float(t @ t)
    if not total > 1e-20 * len(rows):
        return
    few = FITS if problem.noise == 0 else len(SHAPES)  # noise decides between functions that are alike
    for q in directions(logs, t, basis, some, problem)[: ARGUMENTS if problem.noise == 0 else FEWER]:
        problem.check()
        fits: dict[str, tuple[float, float, float, Shape]] = {}  # the best of each shape
        for power in POWERS:
            u = np.exp(power * (logs @ q))
            scale = float(np.median(u))
            columns = np.stack([u * (rate / scale) for rate in RATES], 1)
            for shape in SHAPES:
                with np.errstate(all="ignore"):
                    values = np.log(np.abs(evaluated(shape, columns)))
                gain = gains(values, t, basis, some, None if shape.name == "exp" else STEEPEST)
                best = int(np.argmax(gain))
                fit = 1 - gain[best] / total, power, float(RATES[best] / scale), shape
                fits[shape.name] = min(fits.get(shape.name, fit), fit, key=lambda f: f[0])
        for left, power, rate, shape in sorted(fits.values(), key=lambda f: f[0])[:few]:
            if left < NEAR:
                yield from _candidates(problem, weight, power * q, rate, shape)


def gains(values: Array, t: Array, basis: Array, weight: Array, steepest: float | None) -> Array:
    """Return how much of t each column of logarithms of functions explains; 0 where one has no value.

    A column is multiplied by the power of the function, at most ``steepest``; None is any: the power of exp is a rate.
    """
    fine = np.isfinite(values).all(0)
    values = np.where(fine, values, 0.0) * weight[:, None]
    values = values - basis @ (basis.T @ values)
    norm, along = np.maximum((values**2).sum(0), 1e-300), values.T @ t
    fine &= norm > 1e-12
    if steepest is not None:
        fine &= np.abs(along) < (steepest + 0.5) * norm
    return np.where(fine, along**2 / norm, 0.0)


def directions(logs: Array, t: Array, basis: Array, weight: Array, problem: Problem) -> list[Array]:
    """Return the exponents of the arguments of which a smooth function explains most of t."""
    n = logs.shape[1]
    largest = 2 if n <= WIDER else 1
    grid = np.array(list(np.ndindex(*(2 * largest + 1,) * n)), float) - largest
    lead = grid[np.arange(len(grid)), (grid != 0).argmax(1)]
    coarse = np.gcd.reduce(np.abs(grid).astype(int), axis=1)
    grid = grid[(lead > 0) & (coarse == 1)]
    left = np.ones(len(grid))
    for start in range(0, len(grid), 200):
        problem.check()
        s = grid[start : start + 200] @ logs.T  # (directions, rows)
        low, high = s.min(1, keepdims=True), s.max(1, keepdims=True)
        angle = np.arccos(np.clip(2 * (s - low) / (high - low) - 1, -1, 1))
        shapes = np.cos(angle[..., None] * np.arange(2, DEGREE + 1)) * weight[:, None]
        shapes = shapes - basis @ (basis.T @ shapes)
        q, _ = np.linalg.qr(shapes)
        left[start : start + 200] = 1 - ((t @ q) ** 2).sum(-1) / (t @ t)
    return [grid[k] for k in np.argsort(left)[:ARGUMENTS]]


def _candidates(problem: Problem, weight: Array, q: Array, rate: float, shape: Shape) -> Iterator[Node]:
    """Solve for the other numbers on all rows, then refine them all but the exponents of the argument."""
    inputs = tuple(Input(i) for i in problem.columns)
    x, y = problem.x, problem.y
    with np.errstate(all="ignore"):
        columns = np.column_stack([x[:, problem.columns], evaluated(shape, _monomial(x, inputs, q, rate))])
        logs = np.column_stack([np.log(np.abs(columns)), np.ones(len(y))])
        t = np.log(np.abs(y))
    fine = np.isfinite(logs).all(1) & np.isfinite(t)
    if fine.sum() <= logs.shape[1]:
        return
    some = weight[fine]
    *p, c = np.linalg.lstsq(logs[fine] * some[:, None], t[fine] * some, rcond=1e-12)[0]
    power = p.pop()
    if shape.name == "exp":  # its power is a rate
        rate, columns[:, -1], power = rate * power, columns[:, -1] ** power, 1.0
    p = np.round(2 * np.array([*p, power])) / 2
    with np.errstate(all="ignore"):
        plain = np.prod(columns**p, 1)
        c = float(np.median(y / plain))
    if not np.isfinite(c) or not 0 < abs(p[-1]) <= STEEPEST:
        return
    kept, used = np.flatnonzero(q), np.flatnonzero(p[:-1])
    inner = shape.node(Power(tuple(inputs[i] for i in kept), tuple(q[kept]), rate))
    node = Power((*(inputs[i] for i in used), inner), (*p[used], p[-1]), c)
    free = np.array([role != "exponent" for role in roles(node)], bool)
    yield refined(node, x, y, problem.relative, free=free, steps=STEPS, check=problem.check)[0]


def _monomial(x: Array, inputs: tuple[Input, ...], q: Array, rate: float) -> Array:
    u = np.full(len(x), rate)
    for i, p in zip(inputs, q, strict=True):
        u = u * x[:, i.index] ** p
    return u[:, None]
