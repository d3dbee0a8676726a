"""Moves from a model to a simpler one: drop entries, fix exponents and arguments, straighten functions, tie, merge.

The standard errors of the numbers tell how far a move is from the fitted model.
"""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from nalm.discover.law.expression import Array
from nalm.ode.factors import Applied, Factor, Saturation
from nalm.ode.model import Entry, Model, Term, built, without

CLEARLY = 3.0  # standard errors

Move = tuple[float, Model]  # how many standard errors the simpler model is away, and the model


def standard_errors(slopes: Array, mean_square: float) -> Array:
    """Return standard errors of numbers (linear approximation) from the slopes of the residuals, (rows, numbers)."""
    return np.asarray(np.sqrt(np.square(covariance_root(slopes, mean_square)).sum(1)))


def covariance_root(slopes: Array, mean_square: float) -> Array:
    """Return a matrix that times its transpose is the covariance of numbers, to first order."""
    norm = np.sqrt(np.square(slopes).sum(0))
    norm = np.where((norm > 0) & np.isfinite(norm), norm, 1.0)
    _, s, right = np.linalg.svd(np.nan_to_num(slopes / norm), full_matrices=False)
    inverse = 1 / np.maximum(s, 1e-10 * s[0] + 1e-300)
    noise = np.sqrt(mean_square * len(slopes) / max(len(slopes) - slopes.shape[1], 1))
    return np.asarray(noise * right.T * inverse / norm[:, None])


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
    """Replace a saturating factor by its limits for a large and for a small K."""
    for k, m, index, _ in model.inner_places():
        factor = model.terms[k].factors[m]
        if isinstance(factor, Saturation):
            at = float(np.log(factor.half))
            yield abs(at - 3.0 * factor.order) / errors[index], model.remove_saturation(k, m, large=True)
            yield abs(at + 5.0 * factor.order) / errors[index], model.remove_saturation(k, m, large=False)


def fixed_arguments(model: Model, errors: Array, scales: Array) -> Iterator[Move]:
    """Fix a fitted argument of a function where it is a multiple of a half in the units of the data."""
    for k, m, index, end in model.inner_places():
        factor = model.terms[k].factors[m]
        if isinstance(factor, Applied) and end == index + 1:
            first = factor.variables[0]
            size = abs(factor.weights[first]) / scales[first]
            if nice := round(2 * size) / 2:
                weights = tuple(w * nice / size for w in factor.weights)
                fixed = replace(factor, weights=weights, free=False)
                yield abs(np.log(size / nice)) / errors[index], model.exchange_factor(k, m, fixed)


def straightened(model: Model, states: Array) -> Iterator[Move]:
    """Replace a function by a line in its variables: a curvature that the samples do not show is none."""
    for k, t in enumerate(model.terms):
        for m, factor in enumerate(t.factors):
            if isinstance(factor, Applied) and factor.name != "abs":
                rest = without(t, m)
                lines = [rest, *(_times(rest, i) for i in factor.variables)]
                columns = np.stack([np.ones(len(states)), *(states[:, i] for i in factor.variables)], 1)
                weights: Array = np.linalg.lstsq(columns, factor.value(states), rcond=None)[0].astype(
                    np.float64
                )
                if np.isfinite(weights).all():
                    yield 0.0, _exchanged(model, k, lines, weights)


def _times(term: Term, i: int) -> Term:
    """Return the term times a variable."""
    return replace(term, powers=tuple(p + (n == i) for n, p in enumerate(term.powers)))


def _exchanged(model: Model, k: int, terms: list[Term], weights: Array) -> Model:
    """Put a sum of terms in the place of one term of all equations; their exponents are not fitted."""
    entries = [e for e in model.entries if e.term != k]
    rates = list(model.rates)
    for e in model.entries:
        if e.term == k:
            for n, w in enumerate(weights.tolist()):
                entries.append(Entry(e.equation, len(model.terms) + n, len(rates)))
                rates.append(w * e.factor * model.rates[e.rate])
    settled = {(len(model.terms) + n, i) for n in range(len(terms)) for i in range(len(terms[n].powers))}
    wide = Model((*model.terms, *terms), model.entries, tuple(rates), model.settled | settled)
    return built(wide, entries)


def tied_rates(model: Model, errors: Array, scales: Array) -> Iterator[Move]:
    """Set the rates of two entries of one term equal, in the units of the data, up to a sign."""
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
                factors = tuple(map(_between, t.factors, u.factors))
                one = replace(t, powers=powers, factors=factors)
                freed = {(a, i) for i, (p, q) in enumerate(zip(t.powers, u.powers, strict=True)) if p != q}
                entries = [replace(e, term=a) if e.term == b else e for e in model.entries]
                terms = tuple(one if k == a else v for k, v in enumerate(model.terms))
                yield built(replace(model, terms=terms, settled=model.settled - freed), entries)


def _between(a: Factor, b: Factor) -> Factor:
    """Return a factor with numbers between those of two factors of one shape."""
    return a.renumbered([(p + q) / 2 for p, q in zip(a.numbers(), b.numbers(), strict=True)])
