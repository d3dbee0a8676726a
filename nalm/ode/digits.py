"""Numbers with the digits that the samples resolve: plain exponents where they stand, then rounding one after another.

Errors of rates, exponents and numbers inside factors depend on each other. So exponents and numbers inside are rounded
first, and after each of them the others are fitted again, to first order.
"""

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from nalm.discover.law.constants import recognised
from nalm.discover.law.expression import Array
from nalm.ode.factors import Saturation
from nalm.ode.moves import standard_errors
from nalm.ode.refine import FLOOR
from nalm.ode.scales import DataScales, decimal, rounded
from nalm.ode.search import SystemSearch
from nalm.ode.shooting import Shot, shoot

AGAINST = 6.0  # nats beside the price of a number: less does not speak against a whole or half exponent
COST = 6.0  # nats that rounding may cost


def with_plain_exponents(search: SystemSearch, shot: Shot) -> Shot:
    """Replace fitted exponents by whole or half ones unless the samples speak against them, then by other numbers.

    The rest is fitted again with each.
    """
    fitter = search.fitter
    for k, i in shot.model.moving:
        p = shot.model.terms[k].powers[i]
        for plain in sorted({float(round(p)), round(2 * p) / 2} - {0.0}, key=lambda v: abs(v - p)):
            found = shoot(shot.model.fix_exponent(k, i, plain), shot.states, search.samples, search.check, 10)
            if found.joined and fitter.length(found) < fitter.length(shot) + AGAINST:
                shot = found
                break
    return _with_recognised(search, shot)


def _with_recognised(search: SystemSearch, shot: Shot) -> Shot:
    """Replace fitted exponents by recognised numbers where the data admit it, and refit the rest."""
    model, errors = shot.model, search.fitter.errors(shot)
    for index, (k, i) in enumerate(model.moving, len(model.rates)):
        found = recognised(model.terms[k].powers[i], max(3 * errors[index], 1e-6))
        if found is not None and found != 0:
            model = model.fix_exponent(k, i, found)
    if model != shot.model:
        again = shoot(model, shot.states, search.samples, search.check, 10)
        if again.error <= max(shot.error * 1.05, FLOOR):
            return again
    return shot


def rounded_numbers(
    search: SystemSearch, shot: Shot, spread: Array, scales: DataScales
) -> tuple[Shot, Array]:
    """Round exponents and numbers of factors; return the fit, and errors to a tenth of which numbers are to be rounded.

    These are those of the rates beside the rounded numbers, and 0 for the latter. Where rounding costs too much, all
    digits are kept.
    """
    model, fitter = shot.model, search.fitter
    inside = len(model.numbers()) - len(model.rates)
    if not inside:
        return shot, np.maximum(spread, fitter.errors(shot))
    lead = len(search.samples.first) * search.samples.x.shape[1]
    slopes = np.nan_to_num((search.samples.scale[:, :, None] * shot.slopes).reshape(fitter.count, -1))
    square, free, move = max(shot.error, 1e-20), np.ones(slopes.shape[1], bool), np.zeros(slopes.shape[1])
    fine = np.zeros(len(model.numbers()))
    for place, aim in _rounding(shot, scales):
        at = lead + place
        error = standard_errors(slopes[:, free], square)[int(free[:at].sum())]
        value = float(model.numbers()[place] + move[at])
        step = aim(value, error) - value
        free[at] = False
        move[at] += step
        move[free] -= np.linalg.lstsq(slopes[:, free], step * slopes[:, at], rcond=None)[0]
    numbers = model.numbers() + move[lead:]
    again = shoot(
        model.renumbered(numbers), shot.states + shot.slopes @ move, search.samples, search.check, 0
    )
    if not again.joined or fitter.length(again) > fitter.length(shot) + COST:
        return shot, fine
    fine[: len(model.rates)] = standard_errors(slopes[:, free], square)[lead:]
    return again, fine


def _rounding(shot: Shot, scales: DataScales) -> Iterator[tuple[int, Callable[[float, float], float]]]:
    """Yield the place of every exponent and number inside, and what rounds it from its value and error."""
    model = shot.model
    for place, _ in enumerate(model.moving, len(model.rates)):
        yield place, decimal
    for k, m, first, end in model.inner_places():
        factor = model.terms[k].factors[m]
        size = factor.half if isinstance(factor, Saturation) else factor.weights[factor.variables[0]]
        unit = scales.unit(factor) * size / np.exp(model.numbers()[first])  # of the number's exponential
        yield first, partial(_rounded_logarithm, unit=float(unit))
        yield from ((place, rounded) for place in range(first + 1, end))


def _rounded_logarithm(value: float, error: float, unit: float) -> float:
    """Round unit * exp(value), which has the relative error ``error``, and return the value that gives it."""
    shown = unit * np.exp(value)
    near = rounded(float(shown), float(abs(shown) * error))
    return float(np.log(near / unit)) if near / unit > 0 else value
