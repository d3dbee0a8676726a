"""A product of powers of some columns times a law of the others: the powers are read off and divided out."""

from collections.abc import Iterator, Sequence
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
from nalm.discover.stages.scratchpad import scratchpad
from nalm.discover.stages.views import Propose
from nalm.discover.stages.weights import weights

WIDEST = 12  # columns
# standard errors within which a second-order weight counts as 0 and an exponent as a half; the second under noise
SIGMAS, FEWER_SIGMAS = 5.0, 2.0
STAGES: tuple[Propose, ...] = (
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
    yield from on_the_rest(problem, STAGES if problem.noise == 0 else (*STAGES, scratchpad))


def on_the_rest(problem: Problem, stages: Sequence[Propose]) -> Iterator[Node]:
    """Yield what stages propose for y over the columns that only multiply it, times the product of their powers."""
    for inner, monomial in separations(problem):
        for stage in stages:
            for node in stage(inner):
                yield Power((node, monomial), (1.0, 1.0))


def separations(problem: Problem) -> Iterator[tuple[Problem, Node]]:
    """Yield the problem of y over columns that only multiply it, and their product of powers.

    Noise hides second-order terms: where it is admitted, also fewer columns are divided out, those with hardly any.
    """
    seen: list[dict[int, float]] = [{}]
    for weight in weights(problem, 0.0):
        for sigmas in (SIGMAS,) if problem.noise == 0 else (FEWER_SIGMAS, SIGMAS):
            problem.check()
            exponents = factors(problem, weight, sigmas)
            divided = divided_out(problem, exponents) if exponents not in seen else None
            seen.append(exponents)
            if divided is not None:
                yield divided


def divided_out(problem: Problem, exponents: dict[int, float]) -> tuple[Problem, Node] | None:
    """Return the problem of y over a product of powers of columns, and the product; None if there is none.

    Where noise is admitted, its size on the quotient is that on y over the product.
    """
    rest = [i for i in problem.columns if i not in exponents]
    if not exponents or len(rest) < (2 if problem.noise == 0 else 1):
        return None
    x, held = (_values(exponents, v) for v in (problem.x, problem.held_x))
    before = np.ones(len(x) + len(held)) if problem.error is None else problem.error
    error = problem.error if problem.noise == 0 else before / np.abs(np.concatenate([x, held]))
    inner = replace(problem, y=problem.y / x, held_y=problem.held_y / held, columns=rest, error=error)
    monomial = powered([Input(i) for i in exponents], list(exponents.values()))
    return (inner, monomial) if np.isfinite(inner.y).all() else None


def factors(problem: Problem, weight: Array | None = None, sigmas: float = SIGMAS) -> dict[int, float]:
    """Return the columns that only multiply y, with their exponents in halves, by a fit with these weights."""
    weight = np.ones(len(problem.y)) if weight is None else weight
    columns = [i for i in problem.columns if (problem.x[:, i] != 0).all()]
    n = len(columns)
    if n < 3 or n > WIDEST or (problem.y == 0).any() or len(problem.y) < (n + 1) * (n + 2):
        return {}
    z = np.log(np.abs(problem.x[:, columns]))
    spread = z.std(0)
    z = (z - z.mean(0)) / np.where(spread > 0, spread, 1.0)
    logs = np.log(np.abs(problem.y)) * weight
    one, two = np.triu_indices(n)
    w, errors = _solved(np.column_stack([z, z[:, one] * z[:, two], np.ones(len(z))]) * weight[:, None], logs)
    bent = [bool((np.abs(w) > sigmas * errors)[n:-1][(one == k) | (two == k)].any()) for k in range(n)]
    both = [k for k, (i, j) in enumerate(zip(one, two, strict=True)) if bent[i] and bent[j]]
    fewer = z[:, one[both]] * z[:, two[both]]  # columns without second-order terms are known now
    w, errors = _solved(np.column_stack([z, fewer, np.ones(len(z))]) * weight[:, None], logs)
    found = {}
    for k, column in enumerate(columns):
        p = float(w[k] / spread[k]) if spread[k] > 0 else 0.0
        half = round(2 * p) / 2
        if half and not bent[k] and abs(p - half) * spread[k] < sigmas * errors[k]:
            found[column] = half
    return found


def _solved(terms: Array, target: Array) -> tuple[Array, Array]:
    """Return the weights of a least-squares fit and their standard errors."""
    w = solve(terms, target)
    scatter = float(np.sum((target - terms @ w) ** 2)) / (len(terms) - terms.shape[1])
    return w, np.sqrt(scatter * np.abs(np.diag(np.linalg.pinv(terms.T @ terms))))


def _values(exponents: dict[int, float], x: Array) -> Array:
    with np.errstate(all="ignore"):
        return np.asarray(np.prod([x[:, i] ** p for i, p in exponents.items()], axis=0))
