"""Families of terms that are tried where the first library does not explain the samples.

Each holds the plain polynomials and terms of one kind, so that a beam search is not lost among functions that look
alike. The search divides every variable by its largest absolute value; weights inside functions are given in the
units of the data, so that sin(x) has the weight 1.
"""

import itertools
from collections.abc import Callable, Iterator

import numpy as np

from nalm.discover.law.expression import Array
from nalm.ode.factors import Applied, Saturation
from nalm.ode.library import HALVES
from nalm.ode.model import Term

DEGREE = {1: 5, 2: 5, 3: 4}  # of polynomials, by the number of variables; 3 for more
ORDERS = (2.0, 3.0, 4.0, 5.0)  # n of K + x**n
FINER = (0.06, 0.1, 0.16, 0.25, 0.4, 0.63, 1.0, 1.6)  # roots of K over the largest value
WAVES = (0.3, 1.0, 2.0, 4.0)  # half periods within the largest size, where the frequency is fitted
RATES = (0.3, 1.0, 3.0, 8.0)  # of an exponential function, over the largest size
STEPS = (3.0, 8.0, 20.0)  # steepness of a logistic function, over the largest size
LARGEST = 50.0  # argument of an exponential function


class Space:
    """The variables: how many there are, which can be negative, and their largest absolute values in the data."""

    def __init__(self, signed: np.ndarray, sizes: Array):
        self.signed, self.sizes, self.d = signed, sizes, len(signed)

    def term(self, exponents: dict[int, float], *factors: Applied | Saturation) -> Term:
        """Return a term with these exponents and factors."""
        return Term(tuple(exponents.get(i, 0.0) for i in range(self.d)), factors)

    def applied(
        self,
        name: str,
        weights: dict[int, float],
        offset: float = 0.0,
        power: float = 1.0,
        *,
        free: bool = False,
    ) -> Applied:
        """Return a function of a sum with weights in the units of the data; ``free`` ones are fitted."""
        scaled = tuple(float(weights.get(i, 0.0) * self.sizes[i]) for i in range(self.d))
        return Applied(name, scaled, offset, power, free)

    @property
    def positive(self) -> list[int]:
        """The variables that are never negative."""
        return [i for i in range(self.d) if not self.signed[i]]


def polynomials(space: Space, degree: int) -> Iterator[Term]:
    """Yield all monomials up to a degree."""
    for powers in itertools.product(range(degree + 1), repeat=space.d):
        if sum(powers) <= degree:
            yield Term(tuple(map(float, powers)))


def powers(space: Space) -> Iterator[Term]:
    """Yield polynomials of a high degree, quotients of two variables, and absolute values."""
    yield from polynomials(space, DEGREE.get(space.d, 3))
    for i in space.positive:
        for p in (-1.0, -2.0):
            yield space.term({i: p})
            for j in range(space.d):
                if j != i:
                    yield from (space.term({i: p, j: q}) for q in (1.0, 2.0))
    for i in np.flatnonzero(space.signed).tolist():
        size = space.applied("abs", {i: 1.0})
        yield space.term({}, size)
        yield from (space.term({j: p}, size) for j in range(space.d) for p in (1.0, 2.0))
    for i, j in itertools.combinations(range(space.d), 2):
        yield space.term({}, space.applied("abs", {i: 1.0, j: -1.0}))


def saturations(space: Space) -> Iterator[Term]:
    """Yield rates with K + x**n in the denominator, and with two denominators."""
    yield from polynomials(space, 2)
    for i, order in itertools.product(range(space.d), (1.0, *ORDERS)):
        if space.signed[i] and order % 2:
            continue
        for half in HALVES if order == 1 or space.d > 2 else FINER:
            below = Saturation(i, half**order, order)
            for p in (0.0, 1.0, 2.0) if order < 3 else (order,) if space.d > 2 else (0.0, order):
                yield space.term({i: p}, below)
                if order < 3:
                    yield from (space.term({i: p, j: 1.0}, below) for j in range(space.d) if j != i)
    few = HALVES[1::2] if space.d < 4 else HALVES[2:3]
    for i, j in itertools.combinations(space.positive, 2):
        for a, b in itertools.product(few, few):
            two = (Saturation(i, a), Saturation(j, b))
            yield from (space.term(p, *two) for p in ({i: 1.0, j: 1.0}, {i: 1.0}, {j: 1.0}))


def waves(space: Space) -> Iterator[Term]:
    """Yield sines and cosines of states and of their differences, times powers and one another."""
    yield from polynomials(space, 3 if space.d < 3 else 2)
    each: list[list[Applied]] = []
    for i in range(space.d):
        own = [space.applied(name, {i: w}) for w in (1.0, 2.0) for name in ("sin", "cos")]
        each.append([*own, space.applied("tan", {i: 1.0}, power=-1.0)])
        yield from (space.term({}, f) for f in each[i])
        yield space.term({}, space.applied("tan", {i: 1.0}))
        for f, j in itertools.product(own, range(space.d)):
            yield space.term({j: 1.0}, f)
            if j != i:
                yield space.term({j: 2.0}, f)
                if not space.signed[j]:
                    yield space.term({j: -1.0}, f)
        for w, name in itertools.product(WAVES, ("sin", "cos")):
            yield space.term({}, space.applied(name, {i: w * np.pi / space.sizes[i]}, free=True))
    for i, j in itertools.combinations(range(space.d), 2):
        for sign, name in itertools.product((1.0, -1.0), ("sin", "cos")):
            yield space.term({}, space.applied(name, {i: 1.0, j: sign}))
        if space.d < 4:
            yield from (space.term({}, f, g) for f in each[i] for g in each[j])


def growth(space: Space) -> Iterator[Term]:
    """Yield exponential functions, logarithms and logistic functions of states, times powers."""
    yield from polynomials(space, 2)
    for i in range(space.d):
        weights = [s * r / space.sizes[i] for r in RATES for s in (1.0, -1.0)]
        functions = [space.applied("exp", {i: w}, free=True) for w in weights]
        functions += [space.applied("exp", {i: w}) for w in (1.0, -1.0) if space.sizes[i] < LARGEST]
        if not space.signed[i]:
            functions.append(space.applied("log", {i: 1.0}))
        for f in functions:
            yield space.term({}, f)
            yield from (space.term({j: 1.0}, f) for j in range(space.d))
        middles = (0.2, 0.5, 0.8) if not space.signed[i] else (-0.5, 0.0, 0.5)
        for steep, middle, sign in itertools.product(STEPS, middles, (1.0, -1.0)):
            f = space.applied(
                "logistic", {i: sign * steep / space.sizes[i]}, -sign * steep * middle, free=True
            )
            yield space.term({}, f)
    for i, j in itertools.combinations(range(space.d), 2):
        for sign in (1.0, -1.0):
            if space.sizes[i] + space.sizes[j] < LARGEST:
                yield space.term({}, space.applied("exp", {i: sign, j: -sign}))


FAMILIES: tuple[Callable[[Space], Iterator[Term]], ...] = (powers, saturations, waves, growth)


def families(signed: np.ndarray, sizes: Array) -> list[list[Term]]:
    """List the terms of every family."""
    space = Space(signed, sizes)
    return [list(dict.fromkeys(family(space))) for family in FAMILIES]
