"""A polynomial of degree 2, its root, one over it, or a quotient of two: linear systems."""

from collections.abc import Iterator

import numpy as np

from nalm.discover.law.expression import Input, Node, Power, Sum
from nalm.discover.problem import Problem
from nalm.discover.stages.additive import solve
from nalm.discover.stages.ratio import quotient
from nalm.discover.stages.weights import weights

WIDEST, WIDEST_QUOTIENT = 20, 8  # inputs; their monomials are some 230 and 45 columns


def polynomial(problem: Problem) -> Iterator[Node]:
    """Propose y, y squared or 1/y as a polynomial of degree 2 by least squares; then y as a quotient of two."""
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
    powers = [1.0]
    powers += [2.0] if (y > 0).all() else []
    powers += [-1.0] if (y != 0).all() else []
    for power in powers:
        for r in weights(problem, power):
            problem.check()
            *numbers, bias = solve(terms * r[:, None], y**power * r)
            plain = Sum(tuple(monomials), tuple(numbers), float(bias))
            yield plain if power == 1 else Power((plain,), (1 / power,))
    if n <= WIDEST_QUOTIENT:
        yield from quotient(monomials, terms[:, :-1], problem, bias=True)
