"""The logarithm of a product of powers and a function: a sum of logarithms, as tables of spectra hold it."""

from collections.abc import Iterator

import numpy as np

from nalm.discover.fit.least_squares import refined
from nalm.discover.law.expression import Array, Function, Input, Node, Power, Sum, evaluate, roles
from nalm.discover.problem import Problem
from nalm.discover.stages.argument import (
    DEGREE,
    FEWER,
    NEAR,
    POWERS,
    RATES,
    ROWS,
    SHAPES,
    STEEPEST,
    STEPS,
    WIDEST,
    directions,
    gains,
)
from nalm.discover.stages.shapes import Shape, evaluated

FITS = 4  # functions of an argument that are refined
FAINT = 0.02  # of the spread of y: a logarithm that moves y by less is left out of a further candidate


def _logarithm_of(shape: Shape) -> Shape:
    return Shape(shape.name, lambda u: Function("log", shape.node(u)))


LOGARITHMS = [_logarithm_of(shape) for shape in SHAPES if shape.name != "exp"]  # that of exp is no function


def logarithm(problem: Problem) -> Iterator[Node]:
    r"""Propose :math:`y = c + \sum p_i \log x_i + r \log g(a \prod x_i^{q_i})` with g of a list of functions.

    That is the logarithm of what the stage ``argument`` proposes, which need not be a float64: a spectrum falls
    below the smallest of them. First come sums of logarithms alone.
    """
    places = [i for i in problem.columns if (problem.x[:, i] > 0).all() and (problem.held_x[:, i] > 0).all()]
    if not 0 < len(places) <= WIDEST:
        return
    logs = np.log(problem.x[:, places])
    terms: tuple[Node, ...] = tuple(Function("log", Input(i)) for i in places)
    whole = np.column_stack([np.ones(len(logs)), logs])
    c, *p = np.linalg.lstsq(whole, problem.y, rcond=1e-12)[0]
    yield Sum(terms, tuple(map(float, p)), float(c))
    rows = slice(ROWS)
    if len(logs[rows]) < 2 * (len(places) + DEGREE):
        return
    weight = problem.relative[rows]
    basis, _ = np.linalg.qr(whole[rows] * weight[:, None])
    t = problem.y[rows] * weight
    t = t - basis @ (basis.T @ t)
    total = float(t @ t)
    if not total > 0:
        return
    for q in directions(logs[rows], t, basis, weight, problem)[:FEWER]:
        fits: dict[str, tuple[float, Array, float, Shape]] = {}  # the best of each shape
        for power in POWERS:
            problem.check()
            u = np.exp(power * (logs[rows] @ q))
            scale = float(np.median(u))
            for shape in LOGARITHMS:
                gain = gains(evaluated(shape, u[:, None] * (RATES / scale)), t, basis, weight, STEEPEST)
                best = int(np.argmax(gain))
                fit = 1 - gain[best] / total, power * q, float(RATES[best] / scale), shape
                fits[shape.name] = min(fits.get(shape.name, fit), fit, key=lambda f: f[0])
        for left, exponents, rate, shape in sorted(fits.values(), key=lambda f: f[0])[:FITS]:
            if left < NEAR:
                yield from _candidates(problem, places, exponents, rate, shape)


def _candidates(problem: Problem, places: list[int], q: Array, rate: float, shape: Shape) -> Iterator[Node]:
    """Solve for the weights of the logarithms, refine them and the rate; then do so without faint terms."""
    kept = np.flatnonzero(q)
    inner = shape.node(Power(tuple(Input(places[i]) for i in kept), tuple(map(float, q[kept])), rate))
    terms: list[Node] = [*(Function("log", Input(i)) for i in places), inner]
    for _ in range(2):
        columns = np.stack([*(evaluate(term, problem.x) for term in terms), np.ones(len(problem.x))], 1)
        if not np.isfinite(columns).all():
            return
        weight = problem.relative
        *w, c = np.linalg.lstsq(columns * weight[:, None], problem.y * weight, rcond=1e-12)[0]
        node: Node = Sum(tuple(terms), tuple(map(float, w)), float(c))
        free = np.array([role == "coefficient" for role in roles(node)], bool)  # the rate
        free[: len(terms) + 1] = True
        node, _ = refined(node, problem.x, problem.y, weight, free=free, steps=STEPS, check=problem.check)
        yield node
        assert isinstance(node, Sum)
        size = np.abs(node.weights) * columns[:, :-1].std(0) / (np.std(problem.y) or 1.0)
        fewer = [term for term, moved in zip(node.terms, size, strict=True) if moved > FAINT]
        if len(fewer) == len(terms) or not fewer:
            return
        terms = fewer
