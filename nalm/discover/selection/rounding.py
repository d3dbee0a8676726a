"""Digits that the data resolve: numbers are rounded one after another, and those that are left are fitted again."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from nalm.discover.law.expression import numbers, renumbered
from nalm.discover.selection.evidence import Fitted, fit

TENTH = 0.1  # of its standard error: what a number may be changed by
LOST = 0.1  # of -2 log likelihood, by all roundings together
MOST_DIGITS = 17


def rounded(found: Fitted, check: Callable[[], None] = lambda: None) -> Fitted:
    """Round the fitted numbers of a law to what the data resolve; the law fits as well as before.

    The least certain number is rounded first, to a tenth of its standard error, and the others are fitted again:
    c and p of c*x**p depend on each other. A number gets further digits if the likelihood falls by more than a
    twentieth of what one standard error is worth.
    """
    allowed, now = found.misfit + LOST, found
    pending = found.free.copy()
    while pending.any():
        check()
        values = np.array(numbers(now.node))
        spread = replace(now, free=pending).errors
        with np.errstate(all="ignore"):
            vague = np.where(pending, spread / np.maximum(np.abs(values), 1e-300), -1.0)
        i = int(np.argmax(vague))
        pending[i] = False
        for digits in range(resolved_digits(float(values[i]), float(spread[i])), MOST_DIGITS + 1):
            trial = values.copy()
            trial[i] = float(f"{values[i]:.{digits - 1}e}")
            node = renumbered(now.node, trial)
            then = (
                fit(node, now.rows, pending, now.stage, check) if pending.any() else replace(now, node=node)
            )
            if then.misfit <= allowed or digits == MOST_DIGITS:
                break
        now = then
    return replace(now, free=found.free)


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
