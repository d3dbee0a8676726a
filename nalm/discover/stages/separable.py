"""Stage X, a product of powers of some columns times a law of the others: the powers are read off and divided out."""

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from nalm.discover.law.expression import Array, Input, Node, Power, powered
from nalm.discover.problem import Problem
from nalm.discover.stages.additive import additive, solve
from nalm.discover.stages.chebyshev import chebyshev
from nalm.discover.stages.polynomial import polynomial
from nalm.discover.stages.product import product
from nalm.discover.stages.ratio import ratio
from nalm.discover.stages.rational import rational

WIDEST = 12  # columns
SIGMAS = 5.0  # standard errors within which second-order weights are none, and an exponent is a half
STAGES: tuple[Callable[[Problem], Iterator[Node]], ...] = (
    additive,
    ratio,
    product,
    polynomial,
    chebyshev,
    rational,
)


def separable(problem: Problem) -> Iterator[Node]:
    r"""Propose y = x_1^p ... g(x_k, ...): columns that only multiply are divided out, and g is a law of one stage.

    The logarithm of such a y is a sum :math:`p \log x_1 + h(x_k, ...)`: in a polynomial of degree 2 of all logarithms
    no second-order term has x_1. That shows on the data which columns they are, and their exponents.
    """
    divided = divided_out(problem)
    if divided is not None:
        inner, monomial = divided
        for stage in STAGES:
            for node in stage(inner):
                yield Power((node, monomial), (1.0, 1.0))


def divided_out(problem: Problem) -> tuple[Problem, Node] | None:
    """Return the problem of y over the columns that only multiply it, and their product of powers, if there are any."""
    exponents = factors(problem)
    rest = [i for i in problem.columns if i not in exponents]
    if not exponents or len(rest) < 2:
        return None
    x, held = (_values(exponents, v) for v in (problem.x, problem.held_x))
    inner = replace(problem, y=problem.y / x, held_y=problem.held_y / held, columns=rest)
    monomial = powered([Input(i) for i in exponents], list(exponents.values()))
    return (inner, monomial) if np.isfinite(inner.y).all() else None


def factors(problem: Problem) -> dict[int, float]:
    """Return the columns that only multiply y, with their exponents in halves."""
    columns = [i for i in problem.columns if (problem.x[:, i] != 0).all()]
    n = len(columns)
    if n < 3 or n > WIDEST or (problem.y == 0).any() or len(problem.y) < (n + 1) * (n + 2):
        return {}
    z = np.log(np.abs(problem.x[:, columns]))
    spread = z.std(0)
    z = (z - z.mean(0)) / np.where(spread > 0, spread, 1.0)
    one, two = np.triu_indices(n)
    terms = np.column_stack([z, z[:, one] * z[:, two], np.ones(len(z))])
    logs = np.log(np.abs(problem.y))
    w = solve(terms, logs)
    error = SIGMAS * float(np.sqrt(np.mean((logs - terms @ w) ** 2) / len(z)))
    found = {}
    for k, column in enumerate(columns):
        second = np.abs(w[n:-1][(one == k) | (two == k)]).max()
        p = float(w[k] / spread[k]) if spread[k] > 0 else 0.0
        half = round(2 * p) / 2
        if half and abs(p - half) * spread[k] < error and second < error:
            found[column] = half
    return found


def _values(exponents: dict[int, float], x: Array) -> Array:
    with np.errstate(all="ignore"):
        return np.asarray(np.prod([x[:, i] ** p for i, p in exponents.items()], axis=0))
