"""Digits that the data resolve: numbers are rounded one after another, and those that are left are fitted again."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from nalm.discover.law.constants import is_plain
from nalm.discover.law.expression import Array, Node, evaluate, numbers, renumbered
from nalm.discover.selection.evidence import Fitted, fit

TENTH = 0.1  # of its standard error: what a number may be changed by
LOST = 0.1  # of -2 log likelihood, by all roundings together
MOST_DIGITS = 17
FEWEST_DIGITS, FEW_ROWS_DIGITS = 4, 6  # of an uncertified law, at least; of one with as many numbers as rows
SOME = 200  # rows that are looked at for different ones
LEAST = 1e-9  # of the spread of y: a smaller error of a law is none
NEARLY = 2e-3  # by which the mean square error of a law may grow


def rounded(found: Fitted, check: Callable[[], None] = lambda: None) -> Fitted:
    """Round the fitted numbers of a law to what the data resolve; the law fits as well as before.

    The least certain number is rounded first, to a tenth of its standard error, and the others are fitted again:
    c and p of c*x**p depend on each other. A number gets further digits if the likelihood falls by more than a
    twentieth of what one standard error is worth, and these digits help.
    """
    allowed, now = found.misfit + LOST, found
    pending = found.free.copy()
    different = len(np.unique(found.rows.x[:SOME], axis=0))
    most = MOST_DIGITS if different > found.count else FEW_ROWS_DIGITS
    while pending.any():
        check()
        values = np.array(numbers(now.node))
        spread = replace(now, free=pending).errors
        with np.errstate(all="ignore"):
            vague = np.where(pending, spread / np.maximum(np.abs(values), 1e-300), -1.0)
        i = int(np.argmax(vague))
        pending[i] = False
        least = min(resolved_digits(float(values[i]), float(spread[i])), most)
        for digits in range(least, most + 1):
            trial = values.copy()
            trial[i] = float(f"{values[i]:.{digits - 1}e}")
            node = renumbered(now.node, trial)
            then = (
                fit(node, now.rows, pending, now.stage, check) if pending.any() else replace(now, node=node)
            )
            if then.misfit <= max(allowed, now.misfit + LOST / 10) or digits == most:
                break
        now = then
    return replace(now, free=found.free)


def with_fewer_digits(node: Node, fits: Callable[[Node], bool]) -> Node:
    """Return a law with as few digits of its numbers, all alike, as still fit; plain numbers such as 2/3 stay.

    >>> from nalm.discover.law.expression import Input, Sum
    >>> with_fewer_digits(Sum((Input(0),), (0.123456789,), 2 / 3), lambda law: True)
    Sum(terms=(Input(index=0),), weights=(0.1235,), bias=0.6666666666666666)
    """
    values = numbers(node)
    if not np.isfinite(values).all():
        return node
    for digits in range(FEWEST_DIGITS, MOST_DIGITS):
        trial = renumbered(node, [v if is_plain(v) else float(f"{v:.{digits - 1}e}") for v in values])
        if fits(trial):
            return trial
    return node


def as_near(node: Node, x: Array, y: Array) -> Callable[[Node], bool]:
    """Return a test whether a law is as near to rows as another, up to a thousandth of its rms error.

    What is less than a billionth of the spread of y does not count.
    """

    def square(law: Node) -> float:
        with np.errstate(all="ignore"):
            return float(np.mean((y - evaluate(law, x)) ** 2))

    most = max(square(node) * (1 + NEARLY), float((LEAST * np.std(y)) ** 2))
    return lambda law: square(law) <= most


def resolved_digits(value: float, error: float) -> int:
    """Return how many digits reach down to a tenth of the standard error."""
    if value == 0 or not np.isfinite(error) or error <= 0:
        return 1 if value == 0 or error == np.inf else MOST_DIGITS
    places = np.floor(np.log10(abs(value))) - np.floor(np.log10(TENTH * error))
    return int(np.clip(1 + places, 1, MOST_DIGITS))


def shortened(value: float, error: float) -> float:
    """Round a number to a hundredth of its standard error: the others, which depend on it, are not fitted again.

    >>> shortened(0.39939422, 0.0009)
    0.399394
    """
    return float(f"{value:.{resolved_digits(value, error / 10) - 1}e}")
