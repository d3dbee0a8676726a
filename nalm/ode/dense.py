"""A second way to a structure: fit all monomials at once between neighbouring samples, then drop what is not needed.

It needs no path between the samples, so it serves where they are too far apart for a spline.
"""

from collections import Counter
from collections.abc import Callable

import numpy as np

from nalm.discover.law.expression import Array
from nalm.ode.model import Entry, Model, Term, built
from nalm.ode.moves import standard_errors
from nalm.ode.shooting import Samples, matched, weighted_gaps

NEEDED = 10.0  # standard errors; entries with fewer are dropped
ROUNDS = 12
LARGEST = 5  # terms of an equation; more can look like anything
MEETING = 1e-4  # of the spread: larger gaps are those of noise, or of a system of another kind


def pruned_polynomial(
    terms: tuple[Term, ...], start: Array, samples: Samples, check: Callable[[], None]
) -> Model | None:
    """Return a polynomial system whose stretches between the samples meet; None if no such polynomial does it.

    ``start`` are the first rates, (equations, terms).
    """
    d, n = start.shape
    entries = tuple(Entry(j, k, j * n + k) for j in range(d) for k in range(n))
    settled = frozenset((k, i) for k in range(n) for i in range(d))
    model = Model(terms, entries, tuple(start.ravel().tolist()), settled)
    for _ in range(ROUNDS):
        model = matched(model, samples.x, samples, check, 6)
        r, slopes = weighted_gaps(model, samples.x, samples, check)
        off = float(np.mean(r**2))
        if not off < MEETING**2:
            return None
        errors = standard_errors(slopes, off + 1e-20)
        clear = np.abs(model.rates) / np.maximum(errors[: len(model.rates)], 1e-300)
        faint = np.flatnonzero(clear < NEEDED)
        if not len(faint):
            break
        if len(faint) > 2:  # those below their median go together
            faint = faint[clear[faint] <= np.median(clear[faint])]
        left = [e for e in model.entries if e.rate not in set(faint.tolist())]
        if len({e.equation for e in left}) < d:
            return None
        model = built(model, left)
    largest = max(Counter(e.equation for e in model.entries).values())
    return model if largest <= LARGEST else None
