"""Stage Q, a sum of squares and products of inputs, its root, or one over it: one linear system."""

from collections.abc import Iterator

import numpy as np

from nalm.discover.additive import solve
from nalm.discover.expression import Input, Node, Power, Sum
from nalm.discover.problem import Problem

WIDEST = 20  # inputs; their monomials are some 230 columns


def polynomial(problem: Problem) -> Iterator[Node]:
    """y, y squared or 1/y as a polynomial of degree 2, all coefficients at once by least squares."""
    columns, y = problem.columns, problem.y
    n = len(columns)
    if not n or n > WIDEST or (n + 1) * (n + 2) // 2 + 4 > len(y):
        return
    x = problem.x[:, columns]
    i, j = np.triu_indices(n)
    monomials: list[Node] = [Input(c) for c in columns]
    monomials += [
        Power((Input(columns[a]),), (2.0,))
        if a == b
        else Power((Input(columns[a]), Input(columns[b])), (1.0, 1.0))
        for a, b in zip(i, j, strict=True)
    ]
    terms = np.column_stack([x, x[:, i] * x[:, j], np.ones(len(y))])
    targets = [(y, 1.0)]
    targets += [(y**2, 0.5)] if (y > 0).all() else []
    targets += [(1 / y, -1.0)] if (y != 0).all() else []
    for target, exponent in targets:
        problem.check()
        r = 1 / np.sqrt(np.median(np.abs(target)) ** 2 + target**2)
        *weights, bias = solve(terms * r[:, None], target * r)
        plain = Sum(tuple(monomials), tuple(weights), float(bias))
        yield plain if exponent == 1 else Power((plain,), (exponent,))
