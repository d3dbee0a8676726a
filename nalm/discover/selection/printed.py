"""Printed digits: laws that hold to half a unit of the last printed place of every number of a table."""

from dataclasses import replace

import numpy as np

from nalm.discover.certificate.lack_of_fit import structure
from nalm.discover.certificate.resolution import (
    DEARER,
    FEW_FITTED,
    VISIBLE,
    VISIBLE_TO_FITTED,
    hidden,
    next_effect,
)
from nalm.discover.digits import last_places, significant
from nalm.discover.law.expression import Array, Node, evaluate, numbers, renumbered, roles, used
from nalm.discover.problem import Problem
from nalm.discover.selection.evidence import Fitted, fit
from nalm.discover.selection.rows import NoiseKind, Observations, carried
from nalm.discover.selection.simplify import options

ROUNDS = 30  # of the fit of the largest deviation
STEPS = 20  # of the last place of y that its values must span
USUAL = (0.5, 1.0, 2.0)  # sizes of exponents that cost nothing
NEAR = 0.01  # of a nice number: how far off a fitted number may be to be tried as such
NEXT = 5e-4  # of a number of one digit: a fitted number so near it that is not it stands for something else
SLACK = 1e-9  # of half a unit: the rounding of float64


def allowed(node: Node, x: Array, x_units: Array, y_units: Array) -> Array:
    """Return how far y may be from the law on each row: half a unit of y, and what half a unit of x carries through."""
    with np.errstate(all="ignore"):
        return np.asarray(y_units / 2 + sum(carried(node, x, x_units / 2)))


def holds(found: Fitted, x_units: Array, y_units: Array) -> Fitted | None:
    """Return the law if it can hold to the printed digits on every row, with the numbers of the smallest deviation.

    The fit starts from least squares, with rows weighted by what is allowed; rows that are further off count more
    in the next round (Lawson), until all are within bounds or the rounds are over.
    """
    node, rows = found.node, replace(found.rows, noise=NoiseKind.ADDITIVE)
    weight = np.ones(len(rows))
    for _ in range(ROUNDS):
        bound = allowed(node, rows.x, x_units, y_units)
        if not (bound > 0).all():
            return None
        with np.errstate(all="ignore"):
            off = np.abs(rows.y - evaluate(node, rows.x)) / bound
        if not np.isfinite(off).all() or off.max() > 30:
            return None
        if off.max() <= 1 + SLACK:
            return replace(found, node=node)
        if not found.count:
            return None
        weight = weight * np.maximum(off, 1e-3)
        weight /= weight.mean()
        node = fit(node, replace(rows, error=bound / np.sqrt(weight)), found.free, found.stage).node
    return None


def with_nice_numbers(found: Fitted, x_units: Array, y_units: Array) -> Fitted:
    """Set numbers of a law to near nice values as long as it still holds to the printed digits."""
    for i in range(len(found.free)):
        values = numbers(found.node)
        for option in options(values[i], roles(found.node)[i]) - {0.0}:
            if (found.free[i] or option != values[i]) and abs(option - values[i]) <= NEAR * abs(option):
                free = found.free.copy()
                free[i] = False
                node = renumbered(found.node, [*values[:i], option, *values[i + 1 :]])
                found = holds(fit(node, found.rows, free, found.stage), x_units, y_units) or found
    return found


def _is_next_to_a_digit(found: Fitted, x_units: Array, y_units: Array) -> bool:
    """Return whether a fitted number is next to a number of one digit, with which the law does not hold.

    Such a number is a sign that a small term is missing: 0.0004999*a for log(1 + 0.0005*a).
    """
    values = numbers(found.node)
    for i, role in enumerate(roles(found.node)):
        digit = float(f"{values[i]:.0e}")
        if found.free[i] and role != "exponent" and 0 < abs(values[i] - digit) <= NEXT * abs(digit):
            free = found.free.copy()
            free[i] = False
            node = renumbered(found.node, [*values[:i], digit, *values[i + 1 :]])
            if holds(fit(node, found.rows, free, found.stage), x_units, y_units) is None:
                return True
    return False


def trend(found: Fitted, problem: Problem, x_units: Array, y_units: Array) -> float:
    """Return p of the test that what a law leaves, over what is allowed, has no structure: roundings have none.

    0.0004997*a*c holds to four digits for log(1 + 0.0005*a)*c where a is below 4, and leaves a slope.
    """
    rows = found.rows
    with np.errstate(all="ignore"):
        left = (rows.y - evaluate(found.node, rows.x)) / allowed(found.node, rows.x, x_units, y_units)
    return structure(found.node, left, replace(problem, held_x=rows.x, held_y=rows.y))


def within(rows: Observations, x_units: Array, y_units: Array, node: Node) -> bool:
    """Return whether a law holds to the printed digits on every row."""
    with np.errstate(all="ignore"):
        off = np.abs(rows.y - evaluate(node, rows.x)) / allowed(node, rows.x, x_units, y_units)
    return bool((off <= 1 + SLACK).all())


def resolved(found: Fitted, x_units: Array, y_units: Array) -> bool:
    """Return whether a term of natural size that the law lacks would have shown in the printed digits.

    The law must have a column, and y must vary by more than a few units of the last printed place. The
    effects of its numbers must not fall so steeply that the next term of a series would be within the
    rounding: 0.02*a - 2e-6*a**3 is the beginning of a sine. No fitted number may be next to a number of one
    digit with which the law does not hold.
    """
    rows, k = found.rows, found.count
    if not used(found.node) or np.ptp(rows.y) < STEPS * np.median(y_units):
        return False
    bound = allowed(found.node, rows.x, x_units, y_units)
    settled, fitted = hidden(found.node, found.free, rows.x, rows.y, bound)
    if len(rows) < 2 * len(numbers(found.node)) or settled < VISIBLE:
        return False
    if k and next_effect(found.node, rows.x, rows.y, bound) < 1:
        return False
    if _is_next_to_a_digit(found, x_units, y_units):
        return False
    powers = [v for v, role in zip(numbers(found.node), roles(found.node), strict=True) if role == "exponent"]
    odd = sum(abs(p) not in USUAL for p in powers)
    price = k + max(0, odd - 1)  # several odd exponents fit a smooth curve as fitted numbers do
    needed = VISIBLE_TO_FITTED * DEARER ** max(
        -1, price - FEW_FITTED
    )  # for one or two numbers less is enough
    return k == 0 or fitted >= needed


def printed_units(rows: Observations, problem: Problem) -> tuple[Array, Array] | None:
    """Return the last printed places of x and y, given or read off the numbers; None if y was not rounded."""
    digits = problem.digits
    if isinstance(digits, int):
        return np.stack([significant(c, digits) for c in rows.x.T], 1), significant(rows.y, digits)
    known = [None] * (rows.x.shape[1] + 1) if digits is None else digits
    y = last_places(rows.y, known[-1])
    if y is None:
        return None
    y = y if y.any() else np.ones(len(y))  # whole numbers were rounded to such
    columns = [last_places(c, how) for c, how in zip(rows.x.T, known[:-1], strict=True)]
    return np.stack([np.zeros(len(y)) if c is None else c for c in columns], 1), y
