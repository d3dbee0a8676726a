"""The product of a power unit: least squares between logarithms, the sign by parity."""

from collections.abc import Iterator

import numpy as np

from nalm.discover.dimensions.units import balanced, halved, null_space
from nalm.discover.law.expression import Array, Input, Mask, Node, Power
from nalm.discover.problem import Problem
from nalm.discover.stages.additive import solve
from nalm.discover.stages.weights import even

TURNED = 0.3  # of the largest y: one of the other sign that is smaller can be noise


def power(problem: Problem) -> Iterator[Node]:
    r"""Propose y = c x_1^{p_1} x_2^{p_2} ..., from log|y| = log|c| + sum p_i log|x_i|.

    An input that is 0 where y is not has no power; elsewhere rows with a zero are left out. Exponents of
    inputs that go negative are whole, and sign(y) prod sign(x_i)^{p_i} must be one constant. With units the
    exponents keep to :math:`\sum_i p_i \dim x_i = \dim y`, as fitted and with as many halves as that allows.
    """
    x, y = problem.x, problem.y
    columns = [i for i in (*problem.columns, *problem.constants) if not ((x[:, i] == 0) & (y != 0)).any()]
    rows = (y != 0) & (x[:, columns] != 0).all(1)
    if not columns or rows.sum() <= len(columns) + 1:
        return
    x, y = x[np.ix_(rows, columns)], y[rows]
    logs, target = np.log(np.abs(x)), np.log(np.abs(y))
    whole: Mask = np.any(x < 0, axis=0)
    for constant in (False, True):
        problem.check()
        fits = _free if problem.dimensions is None else _balanced
        for p, c in fits(logs, target, whole, constant, problem, columns):
            sign = np.sign(y) * np.prod(np.where((x < 0) & (p % 2 == 1), -1.0, 1.0), 1)
            most = float(np.sign(sign @ np.abs(y)))
            other = np.abs(y[sign != most])  # noise can turn the sign of a small y
            if not len(other) or (problem.noise != 0 and other.max() < TURNED * np.abs(y).max()):
                yield Power(tuple(Input(i) for i in columns), tuple(p), most * c)


Fits = Iterator[tuple[Array, float]]  # exponents, and the size of the coefficient


def _free(
    logs: Array, target: Array, whole: Mask, constant: bool, problem: Problem, columns: list[int]
) -> Fits:
    p = np.zeros(len(columns))
    varied = np.ptp(logs, 0) > 0  # a column of -2 and 2 has a sign only
    terms = np.column_stack([logs[:, varied], np.ones(len(target))]) if constant else logs[:, varied]
    if not terms.shape[1]:
        return
    for weight in _weights(target, problem):
        fit = solve(terms * weight[:, None], target * weight)
        p[varied] = fit[:-1] if constant else fit
        p[whole] = np.round(p[whole])
        yield p.copy(), float(np.exp(np.clip(fit[-1], -700, 700))) if constant else 1.0


def _balanced(
    logs: Array, target: Array, whole: Mask, constant: bool, problem: Problem, columns: list[int]
) -> Fits:
    """Fit p = p_0 + N z with units, where N spans the exponents of products without a dimension."""
    assert problem.dimensions is not None
    units, wanted = [problem.dimensions[0][i] for i in columns], problem.dimensions[1]
    start = balanced(np.zeros(len(columns)), units, wanted)
    if start is None:
        return
    moves = null_space(units)
    n = moves.shape[1]
    terms = np.column_stack([logs @ moves, np.ones(len(target))])[:, : n + constant]
    for weight in _weights(target, problem):
        rest = (target - logs @ start) * weight
        fit = solve(terms * weight[:, None], rest) if terms.shape[1] else np.empty(0)
        p = start + moves @ fit[:n]
        p[whole] = np.round(p[whole])
        for exponents in (halved(p, units, wanted), balanced(p, units, wanted)):
            if exponents is not None:
                offset = np.average(target - logs @ exponents, weights=weight**2) if constant else 0.0
                yield exponents, float(np.exp(np.clip(offset, -700, 700)))


def _weights(logs: Array, problem: Problem) -> Iterator[Array]:
    """Yield the weights of the logarithms of some y: equal ones, and under noise those of even noise on y."""
    yield np.ones(len(logs))
    if problem.noise != 0:
        yield even(np.exp(logs - logs.max()), 0.0)
