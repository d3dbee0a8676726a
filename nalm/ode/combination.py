"""Combination of the terms that were chosen for each equation to systems, in which equations share terms."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from nalm.discover.fit.description_length import FREE, SYMBOL
from nalm.ode.factors import Factor
from nalm.ode.model import Entry, Model, Term

NEAR = 0.04  # difference of exponents that count as equal
FLOOR = 1e-10  # of a share: what the spline leaves of a perfect fit


@dataclass(frozen=True)
class Choice:
    """Terms for one equation, their coefficients, and the share of the whitened changes that they leave."""

    terms: tuple[Term, ...]
    coefficients: tuple[float, ...]
    misfit: float


def length(choice: Choice, rows: int) -> float:
    """Return the description length of one equation."""
    return (
        rows * float(np.log(choice.misfit + FLOOR))
        + float(np.log(rows)) * _joined(Model((), (), ()), 0, choice).price
    )


def combined(options: Sequence[Sequence[Choice]], rows: int, most: int) -> list[tuple[float, Model]]:
    """Combine sets of terms of all equations, cheapest first, each structure once; shared terms are paid once.

    Each model comes with its description length by the integral form.
    A combination costs at least the rates that it adds; it is not built if even that lower bound is too high.
    """
    beam: list[tuple[float, float, Model]] = [(0.0, 0.0, Model((), (), ()))]
    each, width = float(np.log(rows)), 8 * most
    for j, choices in enumerate(options):
        misfits = [rows * float(np.log(c.misfit + FLOOR)) for c in choices]
        least = [m + each * (FREE + SYMBOL) * len(c.terms) for m, c in zip(misfits, choices, strict=True)]
        pairs = sorted((b[0] + least[c], n, c) for n, b in enumerate(beam) for c in range(len(choices)))
        wider: dict[object, tuple[float, float, Model]] = {}
        for bound, n, c in pairs:
            if len(wider) >= width and bound > sorted(w[0] for w in wider.values())[width - 1]:
                break
            joined = _joined(beam[n][2], j, choices[c])
            now = beam[n][1] + misfits[c]
            found = (now + each * joined.price, now, joined)
            key = (joined.pattern, len(joined.moving))
            if key not in wider or found[0] < wider[key][0]:
                wider[key] = found
        beam = sorted(wider.values(), key=lambda b: b[0])[:width]
    return [(cost, model) for cost, _, model in beam[:most]]


def _joined(model: Model, j: int, choice: Choice) -> Model:
    """Add the terms of one more equation; a term that is similar to an existing one becomes that one."""
    terms, settled, entries, rates = (
        list(model.terms),
        set(model.settled),
        list(model.entries),
        list(model.rates),
    )
    for t, c in zip(choice.terms, choice.coefficients, strict=True):
        near = [k for k, u in enumerate(terms) if _alike(t, u)]
        if not near:
            near = [len(terms)]
            terms.append(Term(tuple(nice(p) for p in t.powers), t.factors))
            settled |= {(near[0], i) for i, p in enumerate(t.powers) if nice(p) != p or given(t, p)}
        entries.append(Entry(j, near[0], len(rates)))
        rates.append(c)
    return Model(tuple(terms), tuple(entries), tuple(rates), frozenset(settled))


def nice(power: float) -> float:
    """Round an exponent to a multiple of a half if one is near."""
    return round(2 * power) / 2 if abs(power - round(2 * power) / 2) < NEAR and round(2 * power) else power


def _alike(a: Term, b: Term) -> bool:
    near = all(
        abs(p - q) < 3 * NEAR and (p == 0) == (q == 0) for p, q in zip(a.powers, b.powers, strict=True)
    )
    return near and len(a.factors) == len(b.factors) and all(map(_same, a.factors, b.factors))


def _same(a: Factor, b: Factor) -> bool:
    return a.shape == b.shape and all(abs(p - q) < 0.3 for p, q in zip(a.numbers(), b.numbers(), strict=True))


def given(term: Term, power: float) -> bool:
    """Return whether an exponent is not fitted: a negative one, or one of a term with further factors."""
    return bool(term.factors) or power < 0
