"""The sum of a NAU: weighted least squares, without and with a bias."""

from collections.abc import Iterator

import numpy as np
from scipy.linalg import lstsq

from nalm.discover.law.expression import Array, Input, Node, Sum
from nalm.discover.problem import Problem


def solve(columns: Array, target: Array) -> Array:
    """Solve least squares with columns scaled to one size; for dependent columns return the shortest solution."""
    size = np.sqrt((columns**2).mean(0))
    size = np.where(size > 0, size, 1.0)
    weights = lstsq(columns / size, target, cond=1e-13, lapack_driver="gelsy", check_finite=False)[0]
    return weights / size


def additive(problem: Problem) -> Iterator[Node]:
    r"""Propose y = w.x + b, or a constant, by least squares with errors relative to y where y is large.

    .. math:: \min_w \sum_k r_k^2 (y_k - w \cdot x_k)^2, \qquad r_k = 1 / \sqrt{\mathrm{med}|y|^2 + y_k^2}

    With units, only columns of y's dimension are added, and a bias only where y has none.
    """
    if problem.y_is_constant and True in problem.biases:
        yield Sum((), (), float(np.median(problem.y)))
        return
    r, columns = problem.relative, problem.addends
    inputs = tuple(Input(i) for i in columns)
    x = problem.x[:, columns] * r[:, None]
    if columns:
        problem.check()
        yield Sum(inputs, tuple(solve(x, r * problem.y)))
    if True in problem.biases:
        *weights, bias = solve(np.column_stack([x, r]), r * problem.y)
        yield Sum(inputs, tuple(weights), float(bias))
