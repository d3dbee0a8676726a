"""Tests of a published median, or of another order statistic, against our runs; free of any distribution."""

from math import isfinite, isnan, sqrt

import numpy as np
import numpy.typing as npt
import scipy  # its parts load when first used

from nalm.stats.comparison import LEVEL, POWER, Z90, Comparison, fewest, interval_of_difference
from nalm.stats.interval import Array
from nalm.stats.two_means import Margin

MAD = 1.4826 * 1.2533  # times MAD / sqrt(n) is the standard error of a normal median


def same_median(
    value: float,
    m: int | None,
    ours: npt.ArrayLike,
    margin: Margin,
    slack: float = 0.0,
    mad: float | None = None,
) -> Comparison:
    """Compare the published median of m runs with ours by the control median test (Mathisen 1943).

    How many of our runs lie below the published median has, if all runs are alike, a distribution that depends on
    the numbers of runs only (``below``). p is twice the smaller tail; of an even m the tail of the farther of the
    two middle runs is taken. Exact for any distribution, also with ties, infinities and two modes. Runs of ours
    within ``slack`` of the value count for either side. Without m the value is taken as one run's.
    """
    x = np.sort(np.nan_to_num(np.asarray(ours, dtype=np.float64), nan=np.inf, posinf=np.inf, neginf=-np.inf))
    n, runs = len(x), m or 1
    if not n:
        return Comparison(1.0, False, None, margin.stated)
    p = _p(
        (runs + 1) // 2,
        runs // 2 + 1,
        runs,
        int((x <= value + slack).sum()),
        int((x < value - slack).sum()),
        n,
    )
    return Comparison(
        p, _close(value, runs, x, margin, slack, mad), _needed(value, runs, x, margin, p), margin.stated
    )


def same_least(value: float, m: int | None, ours: npt.ArrayLike, margin: Margin) -> Comparison:
    """Compare the published least of m runs with ours: the chance that so many of ours lie below it.

    Exact for any distribution. A least of ours that is larger is never a difference: too few runs of one side
    explain it. The two are close if they lie within the margin.
    """
    x = np.nan_to_num(np.asarray(ours, dtype=np.float64), nan=np.inf, posinf=np.inf)
    if not len(x):
        return Comparison(1.0, False, None, margin.stated)
    lead = float(x.min()) - value
    close = -margin.below <= lead <= margin.above
    count = int((x < value).sum())
    p = float(below(1, m or 1, len(x))[count:].sum())
    return Comparison(min(1.0, p), close, None, margin.stated)


def below(rank: int, m: int, n: int) -> Array:
    r"""Return the chance that 0, 1, ..., n of n runs lie below the run of that rank among m others, all alike.

    :math:`P(j) = \binom{j + r - 1}{j}\binom{n - j + m - r}{n - j} / \binom{m + n}{n}`.

    >>> below(1, 1, 2).round(3).tolist()
    [0.333, 0.333, 0.333]
    """
    j = np.arange(n + 1)
    g = scipy.special.gammaln
    log = g(j + rank) - g(j + 1) - g(rank) + g(n - j + m - rank + 1) - g(n - j + 1) - g(m - rank + 1)
    found: Array = np.exp(log - (g(m + n + 1) - g(n + 1) - g(m + 1)))
    return found


def _p(low_rank: int, high_rank: int, m: int, most: int, least: int, n: int) -> float:
    """Return the two-sided p: ``most`` of n runs of ours can be counted below the median, ``least`` must be."""
    few = float(below(low_rank, m, n)[: most + 1].sum())
    many = float(below(high_rank, m, n)[least:].sum())
    return min(1.0, 2 * few, 2 * many)


def _close(value: float, m: int, x: Array, margin: Margin, slack: float, mad: float | None) -> bool:
    n = len(x)
    rank = int((scipy.special.bdtr(np.arange((n + 1) // 2), n, 0.5) <= 0.05).sum())
    middle = float(np.median(x)) if isfinite(x[n // 2]) else np.inf
    if not rank or not isfinite(middle) or not isfinite(x[n - rank]):
        return False
    low, high = float(x[rank - 1]), float(x[n - rank])
    scale = sqrt(n / m)
    ends = (middle - low) * scale, (high - middle) * scale
    if mad is not None and not isnan(mad):
        ends = (Z90 * MAD * mad / sqrt(m),) * 2
    down, up = interval_of_difference((middle, low, high), (value, value - ends[0], value + ends[1]))
    return -margin.below - slack <= down and up <= margin.above + slack


def _needed(value: float, m: int, x: Array, margin: Margin, p: float) -> int | None:
    """Return how many runs would find a shift by the margin, if ours spread around the value as they do now."""
    middle = x[len(x) // 2]
    if p < LEVEL or not isfinite(middle):
        return None
    at = x - middle + value if margin.below == margin.above or not middle else x * (value / middle)
    shares = float((at <= value - margin.below).mean()), float((at >= value + margin.above).mean())

    def enough(runs: int) -> bool:
        low = 2 * np.cumsum(below((m + 1) // 2, m, runs)) < LEVEL  # counts below so small are a difference
        high = 2 * np.cumsum(below(m // 2 + 1, m, runs)[::-1])[::-1] < LEVEL
        powers = []
        for region, share in ((low, shares[0]), (high, 1 - shares[1])):
            chance = scipy.special.bdtr(np.arange(runs + 1), runs, share)
            powers.append(float(np.diff(chance, prepend=0.0)[region].sum()))
        return min(powers) >= POWER

    return fewest(enough, len(x))
