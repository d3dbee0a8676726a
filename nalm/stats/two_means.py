"""Tests of two means of which one is published: Student's test from summaries."""

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil, inf, isfinite, nan, sqrt

import numpy as np
import numpy.typing as npt
import scipy  # its parts load when first used

from nalm.stats.comparison import MOST, Z90, Z95, Comparison
from nalm.stats.interval import NUMBERS, numbers

FACTOR = 2.0  # the stated difference between errors, or between steps


@dataclass(frozen=True)
class Mean:
    """A mean, its standard error (NaN if unknown) and the number of runs behind it (None if unknown)."""

    estimate: float
    error: float
    n: int | None


@dataclass(frozen=True)
class Margin:
    """The stated difference: how far our number may lie below and above the published one."""

    below: float
    above: float
    stated: str

    @classmethod
    def factor(cls, value: float, factor: float = FACTOR) -> "Margin":
        """Return the margin that allows ours to be a factor smaller or larger than the published value."""
        size = abs(value)
        return cls(size * (1 - 1 / factor), size * (factor - 1), f"a factor {factor:g}")

    @classmethod
    def points(cls, points: float) -> "Margin":
        """Return the margin that allows ours to be so much smaller or larger."""
        return cls(points, points, f"{points:g}")


def mean_of(
    values: npt.ArrayLike, estimate: Callable[[npt.NDArray[np.float64]], float] | None = None
) -> Mean:
    r"""Return the mean of our runs, or another estimate, with its standard error.

    The error of the mean is :math:`s / \sqrt n`; that of another estimate is the jackknife's,
    :math:`\sqrt{\frac{n - 1}{n} \sum_i (t_{-i} - \bar t)^2}`, where :math:`t_{-i}` leaves out run i.

    >>> mean_of([1.0, 2.0, 3.0]).error, mean_of([1.0, 2.0, 3.0], lambda x: float(x.mean())).error
    (0.5773502691896258, 0.5773502691896258)
    """
    x = numbers(values, NUMBERS)
    n = len(x)
    if estimate is None:
        return Mean(float(x.mean()) if n else nan, float(x.std(ddof=1)) / sqrt(n) if n > 1 else nan, n)
    if n < 2:
        return Mean(estimate(x) if n else nan, nan, n)
    _, first, count = np.unique(x, return_index=True, return_counts=True)  # equal runs leave equal rests
    without = np.repeat([estimate(np.delete(x, i)) for i in first], count)
    return Mean(estimate(x), float(without.std()) * sqrt(n - 1), n)


def of_interval(estimate: float, low: float, high: float, n: int | None) -> Mean:
    """Return a mean that was published with Student's 95% interval."""
    quantile = float(scipy.special.stdtrit(n - 1, 0.975)) if n is not None and n > 1 else Z95
    return Mean(estimate, (high - low) / (2 * quantile), n)


def same_mean(theirs: Mean, ours: Mean, margin: Margin, slack: float = 0.0) -> Comparison:
    r"""Compare two means by Student's test, with the larger of the two standard deviations for both.

    :math:`t = (\bar x - \bar y) / \big(s \sqrt{1/n_x + 1/n_y}\big)`, with :math:`n_x + n_y - 2` degrees of freedom.
    If both are means of the same runs, they have the same deviation; the larger one is at least the pooled one, so the
    test errs towards no difference. That keeps it valid for few runs beside many, where Welch's test is not: two runs
    can be equal by chance. Valid for runs that are not too skewed, or many; otherwise a test of medians is better.

    Differences up to ``slack`` (rounding) are none. Without the error of one side there is no test, p is 1: how skewed
    its runs were is unknown. A published number without an error is close if our interval lies within the margin.
    """
    n, m = ours.n or 1, theirs.n or 1
    known = [(s.error * sqrt(k), k - 1) for s, k in ((ours, n), (theirs, m)) if isfinite(s.error)]
    if not known or not isfinite(ours.estimate):
        return Comparison(1.0, False, None, margin.stated)
    sd, degrees = max(d for d, _ in known), max(1, sum(k for _, k in known))
    told = 1 / m if isfinite(theirs.error) else 0.0  # as much of the variance as is known to be theirs
    error = sd * sqrt(1 / n + told)
    lead = ours.estimate - theirs.estimate
    away = max(abs(lead) - slack, 0.0)
    p = (
        1.0
        if not away or len(known) < 2
        else 2 * float(scipy.special.stdtr(degrees, -away / error))
        if error
        else 0.0
    )
    half = float(scipy.special.stdtrit(degrees, 0.95)) * error
    inside = -margin.below - slack <= lead - half and lead + half <= margin.above + slack
    # error with which the test finds the margin
    least = (min(margin.below, margin.above) + slack) / (Z90 + Z95)
    rest = (least / sd) ** 2 - told if sd else inf
    runs = 1 / rest if rest > 0 else inf
    needed = max(n + 1, ceil(runs)) if runs <= MOST else None
    return Comparison(p, inside and isfinite(ours.error), needed, margin.stated)
