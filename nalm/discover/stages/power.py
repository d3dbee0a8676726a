"""Stage P, the product of a power unit: least squares between logarithms, the sign by parity."""

from collections.abc import Iterator

import numpy as np

from nalm.discover.dimensions.units import balanced, halved, null_space
from nalm.discover.law.expression import Array, Input, Mask, Node, Power
from nalm.discover.problem import Problem
from nalm.discover.stages.additive import solve


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
            if (sign == sign[0]).all():
                yield Power(tuple(Input(i) for i in columns), tuple(p), float(sign[0] * c))


Fits = Iterator[tuple[Array, float]]  # exponents, and the size of the coefficient


def _free(
    logs: Array, target: Array, whole: Mask, constant: bool, problem: Problem, columns: list[int]
) -> Fits:
    p = np.zeros(len(columns))
    varied = np.ptp(logs, 0) > 0  # a column of -2 and 2 has a sign only
    terms = np.column_stack([logs[:, varied], np.ones(len(target))]) if constant else logs[:, varied]
    if terms.shape[1]:
        fit = solve(terms, target)
        p[varied] = fit[:-1] if constant else fit
        p[whole] = np.round(p[whole])
        yield p, np.exp(np.clip(fit[-1], -700, 700)) if constant else 1.0


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
    fit = solve(terms, target - logs @ start) if terms.shape[1] else np.empty(0)
    p = start + moves @ fit[:n]
    p[whole] = np.round(p[whole])
    for exponents in (halved(p, units, wanted), balanced(p, units, wanted)):
        if exponents is not None:
            offset = np.mean(target - logs @ exponents) if constant else 0.0
            yield exponents, np.exp(np.clip(offset, -700, 700))
