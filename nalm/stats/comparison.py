"""The result type ``Comparison``: a test of two numbers, and the size of a difference that it can find."""

from collections.abc import Callable
from dataclasses import dataclass
from math import sqrt

LEVEL = 0.05  # a p below this is a difference
POWER = 0.95  # with which a stated difference is found when enough runs were made
Z90, Z95 = 1.644854, 1.959964  # normal quantiles of 0.95 and 0.975
MOST = 10_000  # runs: a number above this is called none


@dataclass(frozen=True)
class Comparison:
    """A test of the hypothesis that a published number and ours estimate the same truth.

    ``close``: the 90% interval of the difference lies within the stated difference, so one that large is excluded
    (two one-sided tests at 5%). ``needed``: runs of ours with which the test finds the stated difference with
    probability 0.95, so that it either finds or excludes one; None if no number of runs of ours does.
    """

    p: float
    close: bool
    needed: int | None
    stated: str  # the stated difference in words, such as "0.25"


def interval_of_difference(
    a: tuple[float, float, float], b: tuple[float, float, float]
) -> tuple[float, float]:
    """Return the interval of a - b from two triples (estimate, low, high) of the same level.

    Zou and Donner 2008 (method of variance estimates recovery); with Wilson's intervals this is Newcombe's
    interval. Valid for independent estimates, also where their intervals are not symmetric.

    >>> low, high = interval_of_difference((5, 2, 8), (1, -3, 5))
    >>> low, high
    (-1.0, 9.0)
    """
    (x, x_low, x_high), (y, y_low, y_high) = a, b
    down, up = sqrt((x - x_low) ** 2 + (y_high - y) ** 2), sqrt((x_high - x) ** 2 + (y - y_low) ** 2)
    return x - y - down, x - y + up


def fewest(enough: Callable[[int], bool], start: int) -> int | None:
    """Return the least number of runs above ``start`` that is enough; None if even ``MOST`` are not.

    ``enough`` is taken to stay true once it is.

    >>> fewest(lambda n: n >= 37, 10), fewest(lambda n: False, 10)
    (37, None)
    """
    low, high = start, max(2 * start, start + 1)
    while high < MOST and not enough(high):
        low, high = high, 2 * high
    if high >= MOST and not enough(high := MOST):
        return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high
