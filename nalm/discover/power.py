"""Stage P, the product of a power unit: least squares between logarithms, the sign by parity."""

from collections.abc import Iterator

import numpy as np

from nalm.discover.additive import solve
from nalm.discover.expression import Input, Node, Power
from nalm.discover.problem import Problem


def power(problem: Problem) -> Iterator[Node]:
    r"""y = c x_1^{p_1} x_2^{p_2} ..., from log|y| = log|c| + sum p_i log|x_i|.

    An input that is 0 where y is not has no power; elsewhere rows with a zero are left out. Exponents of
    inputs that go negative are whole, and sign(y) prod sign(x_i)^{p_i} must be one constant.
    """
    x, y = problem.x, problem.y
    columns = [i for i in problem.columns if not ((x[:, i] == 0) & (y != 0)).any()]
    rows = (y != 0) & (x[:, columns] != 0).all(1)
    if not columns or rows.sum() <= len(columns) + 1:
        return
    x, y = x[np.ix_(rows, columns)], y[rows]
    logs, target = np.log(np.abs(x)), np.log(np.abs(y))
    varied = np.ptp(logs, 0) > 0  # a column of -2 and 2 has a sign only
    for constant in (False, True):
        problem.check()
        p = np.zeros(len(columns))
        terms = np.column_stack([logs[:, varied], np.ones(len(y))]) if constant else logs[:, varied]
        if not terms.shape[1]:
            continue
        fit = solve(terms, target)
        p[varied] = fit[:-1] if constant else fit
        whole = (x < 0).any(0)
        p[whole] = np.round(p[whole])
        sign = np.sign(y) * np.prod(np.where((x < 0) & (p % 2 == 1), -1.0, 1.0), 1)
        if (sign != sign[0]).any():
            continue
        c = sign[0] * (np.exp(np.clip(fit[-1], -700, 700)) if constant else 1.0)
        yield Power(tuple(Input(i) for i in columns), tuple(p), float(c))
