"""Moves from a model to a simpler one: drop entries, fix exponents, remove saturation, tie rates, merge terms.

The standard errors of the numbers tell how far a move is from the fitted model.
"""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from nalm.discover.law.expression import Array
from nalm.ode.model import Model, built

CLEARLY = 3.0  # standard errors

Move = tuple[float, Model]  # how many standard errors the simpler model is away, and the model


def dropped_entries(model: Model, errors: Array) -> Iterator[Move]:
    """Drop a term from an equation that has others; entries of one rate are dropped together."""
    for k, e in enumerate(model.entries):
        if sum(o.equation == e.equation for o in model.entries) > 1:
            shared = [o for o in model.entries if o.rate == e.rate]
            others = [o for o in model.entries if o not in shared]
            simpler = built(model, others) if len(shared) > 1 else model.drop_entry(k)
            yield abs(model.rates[e.rate]) / errors[e.rate], simpler


def fixed_exponents(model: Model, errors: Array) -> Iterator[Move]:
    """Fix a fitted exponent at a near multiple of a half or at 0; last, fix all that are clearly near one."""
    together = model
    for index, (k, i) in enumerate(model.moving, len(model.rates)):
        p = model.terms[k].powers[i]
        half = round(2 * p) / 2
        for nice in {round(p), half, 0.0}:
            yield abs(p - nice) / errors[index], model.fix_exponent(k, i, float(nice))
        if half and abs(p - half) < CLEARLY * errors[index]:
            together = together.fix_exponent(k, i, half)
    if together != model:
        yield 0.0, together


def removed_saturations(model: Model, errors: Array) -> Iterator[Move]:
    """Replace a saturating term by its limits for a large and for a small K."""
    for index, k in enumerate(model.saturating, len(model.rates) + len(model.moving)):
        large, small = (abs(np.log(model.terms[k].half) - at) / errors[index] for at in (3.0, -5.0))
        yield large, model.remove_saturation(k, large=True)
        yield small, model.remove_saturation(k, large=False)


def tied_rates(model: Model, errors: Array, scales: Array) -> Iterator[Move]:
    """Give two entries of one term the same rate, in the units of the data, up to a sign."""
    for a, e in enumerate(model.entries):
        for b, o in enumerate(model.entries):
            if a < b and e.term == o.term and e.rate != o.rate and e.equation != o.equation:
                one = model.rates[e.rate] * e.factor * scales[e.equation]
                two = model.rates[o.rate] * o.factor * scales[o.equation]
                unsure = np.hypot(
                    errors[e.rate] * e.factor * scales[e.equation],
                    errors[o.rate] * o.factor * scales[o.equation],
                )
                sign = float(np.sign(one * two)) or 1.0
                factor = sign * scales[e.equation] / scales[o.equation]
                yield abs(one - sign * two) / unsure, model.tie_rates(a, b, factor)


def merged_terms(model: Model) -> Iterator[Model]:
    """Yield models in which two terms of one shape are one term, with exponents in between and free again."""
    for a, t in enumerate(model.terms):
        for b, u in enumerate(model.terms[a + 1 :], a + 1):
            where = [{e.equation for e in model.entries if e.term == k} for k in (a, b)]
            if t.shape == u.shape and not where[0] & where[1]:
                powers = tuple((p + q) / 2 for p, q in zip(t.powers, u.powers, strict=True))
                one = replace(t, powers=powers, half=float(np.sqrt(t.half * u.half)))
                freed = {(a, i) for i, (p, q) in enumerate(zip(t.powers, u.powers, strict=True)) if p != q}
                entries = [replace(e, term=a) if e.term == b else e for e in model.entries]
                terms = tuple(one if k == a else v for k, v in enumerate(model.terms))
                yield built(replace(model, terms=terms, settled=model.settled - freed), entries)
