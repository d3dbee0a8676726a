"""Tests of two success rates: Fisher's exact test, its power, and rates of which only a lower bound is known."""

import functools
from math import lgamma

import numpy as np
import numpy.typing as npt
import scipy  # its parts load when first used

from nalm.stats.comparison import LEVEL, POWER, Z90, Comparison, fewest, interval_of_difference
from nalm.stats.interval import Array
from nalm.stats.rates import wilson

RATE = 0.25  # the stated difference between two rates
TIE = 1 + 1e-7  # probabilities this close are equal: rounding


def same_rate(k: int, m: int, solved: int, n: int, stated: float = RATE) -> Comparison:
    """Compare k of m published runs with ours: the two-sided p of Fisher's exact test.

    Valid for any numbers of independent runs. A share over cases with unequal rates varies less than that of equal
    runs, so the test then errs towards no difference.
    """
    if not m or not n:
        return Comparison(1.0, False, None, f"{stated:g}")
    ends = (wilson(*pair, Z90) for pair in ((solved, n), (k, m)))
    low, high = interval_of_difference(*((i.estimate, i.low, i.high) for i in ends))
    p = float(fisher(k, m, [solved], n)[0])
    close = -stated <= low and high <= stated
    told = p < LEVEL or close  # the number of runs that would tell takes longest, and is not asked for
    return Comparison(p, close, None if told else runs_needed(k, m, n, stated), f"{stated:g}")


def at_least(k: int, m: int, solved: int, n: int, stated: float = RATE) -> Comparison:
    """Compare "at least k of m runs" with ours: Fisher's one-sided p, that ours is lower; 1 where ours is not."""
    if solved * m >= k * n:
        return Comparison(1.0, True, None, f"{stated:g}")
    both = same_rate(k, m, solved, n, stated)
    j = np.arange(max(0, k + solved - n), min(m, k + solved) + 1)
    chance = np.exp(_log_comb(m, j) + _log_comb(n, k + solved - j) - _log_comb(m + n, k + solved))
    return Comparison(min(1.0, float(chance[j >= k].sum())), both.close, both.needed, both.stated)


def fisher(k: int, m: int, y: npt.ArrayLike, n: int) -> Array:
    r"""Return the two-sided p of k of m runs beside y of n; y can be many numbers.

    Given the k + y successes of both, the first has j with the probability
    :math:`\binom{m}{j}\binom{n}{k + y - j} / \binom{m + n}{k + y}`; p is the sum over all j that are no likelier
    than k (Fisher 1935; the same as ``scipy.stats.fisher_exact``, which loads for a second).

    >>> fisher(25, 25, [19, 25], 25).round(4).tolist()
    [0.0223, 1.0]
    """
    y, j = np.reshape(y, (-1, 1)), np.arange(m + 1)[None, :]
    other = k + y - j  # successes of the second, if the first has j
    inside = (other >= 0) & (other <= n)
    log = _log_comb(m, j) + _log_comb(n, np.clip(other, 0, n)) - _log_comb(m + n, k + y)
    chance = np.where(inside, np.exp(log), 0.0)
    found: Array = np.minimum(1.0, np.where(chance <= TIE * chance[:, k : k + 1], chance, 0.0).sum(1))
    return found


@functools.lru_cache(maxsize=4096)
def runs_needed(k: int, m: int, n: int, stated: float = RATE) -> int | None:
    """Return how many runs, more than n, find a rate that is ``stated`` away from k / m with probability ``POWER``.

    The published count is taken as it is; of the two rates that far away the harder one counts.
    """
    rates = [r for r in (k / m - stated, k / m + stated) if 0 <= r <= 1] or [float(k / m < 0.5)]

    def enough(runs: int) -> bool:
        y = np.arange(runs + 1)
        found = fisher(k, m, y, runs) < LEVEL
        return all(float(_binomial(y, runs, rate)[found].sum()) >= POWER for rate in rates)

    return fewest(enough, n)


def _binomial(y: np.ndarray, n: int, rate: float) -> Array:
    found: Array = np.exp(
        _log_comb(n, y) + scipy.special.xlogy(y, rate) + scipy.special.xlog1py(n - y, -rate)
    )
    return found


def _log_comb(n: int, j: npt.ArrayLike) -> Array:
    j = np.asarray(j)
    found: Array = lgamma(n + 1) - scipy.special.gammaln(j + 1) - scipy.special.gammaln(n - j + 1)
    return found
