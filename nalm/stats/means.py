"""Means with Student's t interval, medians with an interval of order statistics."""

from math import frexp, inf, nan, sqrt

import numpy as np
import numpy.typing as npt
import scipy  # its parts load when first used

from nalm.stats.interval import NUMBERS, Interval, numbers


def mean(values: npt.ArrayLike, bottom: float = -inf, top: float = inf) -> Interval:
    """Return the mean with Student's t interval, cut off at ``bottom`` and ``top``; one value has no interval."""
    x = numbers(values, NUMBERS)
    n, scale = len(x), 2.0 ** (frexp(float(np.abs(x).max(initial=0.0)))[1] - 1)
    if n < 2:
        return Interval(float(x[0]) if n else nan, nan, nan, n, "Student-t")
    x = x / scale  # so that no square overflows
    centre = float(np.clip(x.mean(), x.min(), x.max()))
    half = float(scipy.special.stdtrit(n - 1, 0.975) * x.std(ddof=1)) / sqrt(n) if np.ptp(x) else 0.0
    low, high = max((centre - half) * scale, bottom), min((centre + half) * scale, top)
    return Interval(centre * scale, low, high, n, "Student-t")


def one_more(values: npt.ArrayLike) -> Interval:
    r"""Return the mean, and the interval in which one more value lies with a chance of 95%.

    :math:`\bar x \pm t_{0.975, n - 1}\, s \sqrt{1 + 1/n}`, for values that are normally distributed.

    >>> print(one_more([1.0, 2.0, 3.0]))
    2.00 [-2.97, 6.97]
    """
    x = numbers(values, NUMBERS)
    n, method = len(x), "Student-t, one more value"
    if n < 2:
        return Interval(float(x[0]) if n else nan, nan, nan, n, method)
    centre = float(x.mean())
    half = float(scipy.special.stdtrit(n - 1, 0.975) * x.std(ddof=1)) * sqrt(1 + 1 / n)
    return Interval(centre, centre - half, centre + half, n, method)


def median(values: npt.ArrayLike) -> Interval:
    """Return the median with an interval of order statistics, which needs six values.

    Infinity may stand for a run that was never solved.
    """
    x = np.sort(numbers(values, NUMBERS, top=inf))
    n, method = len(x), "median, order statistics"
    if n == 0:
        return Interval(nan, nan, nan, 0, method)
    middle = float(np.clip(x[(n - 1) // 2] / 2 + x[n // 2] / 2, x[(n - 1) // 2], x[n // 2]))
    rank = int((scipy.special.bdtr(np.arange((n + 1) // 2), n, 0.5) <= 0.025).sum())  # of the low end
    low, high = (float(x[rank - 1]), float(x[n - rank])) if rank else (nan, nan)
    return Interval(middle, low, high, n, method)
