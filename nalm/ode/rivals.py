"""Rivals: other equations, no longer than those found, that the same samples cannot tell from them.

Along one trajectory the variables can depend on each other, for example by a conserved sum. Then an equation can be
written in other ways that agree on every sample and differ elsewhere.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from nalm.discover.law.expression import Array
from nalm.ode.families import families
from nalm.ode.model import Entry, Model, Term, built, value
from nalm.ode.selection import best_sets

SAME = 1e-6  # of the right-hand side: what the samples cannot tell
BEAM = 30
ALIKE = 1e-20  # share of a column that others leave, by rounding
WIDER = 1.0  # of the ranges: how far around the samples two equations are compared
POINTS = 200


def rivals(
    model: Model, states: Array, signed: np.ndarray, sizes: Array, check: Callable[[], None]
) -> Iterator[tuple[int, Model]]:
    """Yield equations that have a rival, each with the model that has the rival in its place.

    The terms of a rival have no fitted numbers but their rates; there are at most as many as in the equation found.
    """
    terms = [
        t for t in dict.fromkeys(t for family in families(signed, sizes) for t in family) if _is_settled(t)
    ]
    columns = np.stack([value(t, states) for t in terms], 1)
    finite = np.flatnonzero(np.isfinite(columns).all(0))
    terms, columns = [terms[int(k)] for k in finite], columns[:, finite]
    low, high = states.min(0), states.max(0)
    around = WIDER * (high - low)
    floor = np.where(signed, low - around, np.maximum(low - around, low / 4))
    elsewhere = np.random.default_rng(0).uniform(floor, high + around, (POINTS, len(low)))
    matrix = model.matrix()
    for j in range(states.shape[1]):
        own = [model.terms[e.term] for e in model.entries if e.equation == j]
        y = sum((matrix[j, k] * value(t, states) for k, t in enumerate(model.terms)), np.zeros(len(states)))
        for chosen in best_sets(columns, y, len(own), BEAM, check, least=ALIKE):
            c, *_ = np.linalg.lstsq(columns[:, chosen], y, rcond=None)
            rival = with_equation(model, j, [terms[k] for k in chosen], c.tolist())
            if np.sqrt(np.mean((columns[:, chosen] @ c - y) ** 2)) < SAME * np.sqrt(np.mean(y**2)):
                found, other = (_rates(m, j, elsewhere) for m in (model, rival))
                if np.nanmax(np.abs(found - other)) > 10 * SAME * np.nanmax(np.abs(found)):
                    yield j, rival
                    break


def with_equation(model: Model, j: int, terms: Sequence[Term], coefficients: Sequence[float]) -> Model:
    """Return the model with other terms in one equation."""
    kept = [e for e in model.entries if e.equation != j]
    first, rate = len(model.terms), len(model.rates)
    new = [Entry(j, first + k, rate + k) for k in range(len(terms))]
    settled = {(first + k, i) for k, t in enumerate(terms) for i in range(len(t.powers))}
    wide = replace(
        model,
        terms=(*model.terms, *terms),
        rates=(*model.rates, *coefficients),
        settled=model.settled | settled,
    )
    return built(wide, [*kept, *new])


def _is_settled(term: Term) -> bool:
    return term.whole() and not any(f.numbers() for f in term.factors)


def _rates(model: Model, j: int, x: Array) -> Array:
    with np.errstate(all="ignore"):
        c = model.matrix()
        return sum((c[j, k] * value(t, x) for k, t in enumerate(model.terms)), np.zeros(len(x)))
