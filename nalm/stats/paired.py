"""Differences between two cases that were run with the same seeds, and Holm's correction."""

from math import erfc, nan, sqrt

import numpy as np
import numpy.typing as npt
import scipy  # its parts load when first used

from nalm.stats.interval import Array, Difference, numbers, pair
from nalm.stats.means import mean
from nalm.stats.rates import success_rate


def rate_difference(a_solved: npt.ArrayLike, b_solved: npt.ArrayLike) -> Difference:
    """Return the success rate of a minus that of b: Newcombe's score interval (1998, method 10), exact McNemar p."""
    first, second = success_rate(a_solved), success_rate(b_solved)
    a, b = pair(a_solved, b_solved)
    both, only_a, only_b = int((a * b).sum()), int((a > b).sum()), int((a < b).sum())
    n, lead = len(a), (only_a - only_b) / len(a) if len(a) else nan
    margins = (both + only_a) * (n - both - only_a) * (both + only_b) * (n - both - only_b)
    excess = both * (n - both - only_a - only_b) - only_a * only_b
    phi = min(excess, max(excess - n / 2, 0.0)) / sqrt(margins) if margins else 0.0
    down = (first.estimate - first.low, second.high - second.estimate)
    up = (first.high - first.estimate, second.estimate - second.low)
    below, above = (sqrt(x * x - 2 * phi * x * y + y * y) for x, y in (down, up))
    p = min(2 * float(scipy.special.bdtr(min(only_a, only_b), only_a + only_b, 0.5)), 1.0)
    return Difference(lead, lead - below, lead + above, n, "Newcombe 10; p McNemar", p)


def paired_difference(a: npt.ArrayLike, b: npt.ArrayLike) -> Difference:
    """Return the mean of a - b with Student's t interval, and the p of Wilcoxon's signed rank test."""
    with np.errstate(over="ignore"):
        gain = np.subtract(*pair(a, b))
    t = mean(gain)
    return Difference(t.estimate, t.low, t.high, t.n, "Student-t; p Wilcoxon", _signed_rank(gain[gain != 0]))


def holm(p_values: npt.ArrayLike) -> list[float]:
    """Return Holm's corrected p-values, which bound the chance of one false alarm among all tests."""
    p = numbers(p_values, "A p-value lies between 0 and 1, got {}; give one for every test.", 0.0, 1.0)
    order = np.argsort(p)
    p[order] = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    return [float(v) for v in np.minimum(p, 1.0)]


def _signed_rank(gain: Array) -> float:
    """Return the two-sided p of Wilcoxon's test for differences that are not 0; exact up to 500 of them.

    ``scipy.stats.wilcoxon`` is exact only without ties; steps at evaluations every 1,000 steps have many.
    """
    _, place, count = np.unique(np.abs(gain), return_inverse=True, return_counts=True)
    ranks = (2 * np.cumsum(count) - count + 1)[place]  # twice the mean rank, so whole
    total, up = int(ranks.sum()), int(ranks[gain > 0].sum())
    low = min(up, total - up)
    if len(gain) > 500:
        return erfc(max(total / 2 - low - 1, 0) / sqrt(float(np.square(ranks, dtype=float).sum()) / 2))
    chance = np.eye(1, total + 1)[0]
    for rank in ranks:
        chance[rank:] += chance[: total + 1 - rank].copy()
        chance /= 2
    return min(1.0, 2 * float(chance[: low + 1].sum()))
