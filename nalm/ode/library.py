"""The first library: products of powers, and rates that saturate. ``families.py`` has the others."""

import itertools
from collections.abc import Sequence

import numpy as np

from nalm.ode.factors import Saturation
from nalm.ode.model import Term

POWERS = (0.25, 0.5, 0.75, 1.0, 1.5, 2.0)  # of variables that are never negative
SIGNED = (1.0, 2.0, 3.0)  # of variables that take both signs
HALVES = (0.03, 0.1, 0.3, 1.0, 3.0)  # K over the largest value


def library(signed: np.ndarray) -> list[Term]:
    """List constants, powers, products of two powers, plain products of three, and saturating rates."""
    d = len(signed)
    few = (0.5, 1.0, 2.0) if d > 4 else POWERS
    powers = [SIGNED if signed[i] else few for i in range(d)]

    def term(**exponents: float) -> Term:
        return Term(tuple(exponents.get(str(i), 0.0) for i in range(d)))

    found = [Term((0.0,) * d)]
    for i in range(d):
        found += [term(**{str(i): p}) for p in powers[i]]
    for i, j in itertools.combinations(range(d), 2):
        found += [term(**{str(i): p, str(j): q}) for p in powers[i] for q in powers[j]]
    for three in itertools.combinations(range(d), 3):
        found.append(term(**{str(i): 1.0 for i in three}))
    for below in np.flatnonzero(~signed).tolist():
        for other, half in itertools.product(range(d), HALVES):  # itself: alone
            one = tuple(1.0 if n in (below, other) else 0.0 for n in range(d))
            found.append(Term(one, (Saturation(below, half),)))
    return found


def whole(terms: Sequence[Term]) -> list[int]:
    """Return the indices of terms with integer exponents."""
    return [k for k, t in enumerate(terms) if t.whole()]
