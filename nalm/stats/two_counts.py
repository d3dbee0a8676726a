"""Tests of what was counted over several cases: ranges on which a unit succeeds, or is better than another.

Only the count was published, not the rates. What the published runs would have counted is predicted from our runs:
a case that k of n runs of ours solved is solved by X of m others with the beta-binomial probability, which counts the
chance of ours and that of theirs.
"""

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import scipy  # its parts load when first used

from nalm.stats.comparison import LEVEL, Comparison
from nalm.stats.interval import Array

SHARE = 0.25  # of all cases: the stated difference between two counts, 2 of 9 ranges
EXACT = 250  # seeds up to which the lead of one case over another is predicted exactly
PRIORS = (1e-3, 0.1, 0.5, 1.0)  # from as good as none to that all rates are equally likely
Chances = Callable[[int, float], tuple[Sequence[float], Sequence[float]]]


@dataclass(frozen=True)
class Rate:
    """Solved runs of n."""

    solved: int
    n: int

    def times(self, factor: int) -> "Rate":
        """Return the same rate of so many times as many runs."""
        return Rate(self.solved * factor, self.n * factor)


@dataclass(frozen=True)
class Paired:
    """Seeds that only the first of two cases solves, that only the second solves, and all of them."""

    first: int
    second: int
    n: int

    def times(self, factor: int) -> "Paired":
        """Return the same shares of so many times as many seeds."""
        return Paired(self.first * factor, self.second * factor, self.n * factor)


@functools.lru_cache(maxsize=4096)
def predicted(rate: Rate, m: int, prior: float = 0.5) -> Array:
    r"""Return the chance that 0, 1, ..., m of m runs are solved, if k of n others were.

    :math:`P(x) = \binom{m}{x} B(k + x + a, n - k + m - x + a) / B(k + a, n - k + a)`: the beta-binomial
    distribution with the prior a; 1/2 is Jeffreys'.

    >>> predicted(Rate(0, 25), 25).round(2)[:3].tolist()
    [0.71, 0.18, 0.07]
    """
    k, n, x = rate.solved, rate.n, np.arange(m + 1)
    s = scipy.special
    log = s.gammaln(m + 1) - s.gammaln(x + 1) - s.gammaln(m - x + 1)
    log += s.betaln(k + x + prior, n - k + m - x + prior) - s.betaln(k + prior, n - k + prior)
    found: Array = np.exp(log)
    return found


@functools.lru_cache(maxsize=4096)
def predicted_leads(pairs: Paired, m: int, prior: float = 0.5) -> Array:
    """Return the chance that the first of two cases is solved by -m, ..., m more of m seeds than the second.

    Counts of seeds that only the first solves, only the second, and both or neither are Dirichlet-multinomial, with
    the prior for each: two cases with the same seeds can be alike or opposite, as ours are.

    >>> predicted_leads(Paired(1, 0, 4), 1).round(3).tolist()
    [0.091, 0.636, 0.273]
    """
    first, second, same = (
        count + prior for count in (pairs.first, pairs.second, pairs.n - pairs.first - pairs.second)
    )
    if m > EXACT:  # the normal distribution with the same mean and variance
        total = first + second + same
        mean, both = m * (first - second) / total, (first + second) / total
        spread = m * (both - (mean / m) ** 2) * (m + total) / (1 + total)
        density = np.exp(-((np.arange(-m, m + 1) - mean) ** 2) / (2 * spread))
        return density / density.sum()
    g = scipy.special.gammaln
    x, y = np.meshgrid(np.arange(m + 1), np.arange(m + 1), indexing="ij")
    x, y = x[x + y <= m], y[x + y <= m]
    z = m - x - y
    log = g(m + 1) - g(x + 1) - g(y + 1) - g(z + 1) + g(pairs.n + 3 * prior) - g(pairs.n + m + 3 * prior)
    log += g(first + x) - g(first) + g(second + y) - g(second) + g(same + z) - g(same)
    return np.bincount(x - y + m, np.exp(log), 2 * m + 1).astype(np.float64)


def counted(chances: Sequence[float]) -> Array:
    """Return the distribution of how many of independent events happen (Poisson's binomial).

    >>> counted([0.5, 0.5]).tolist()
    [0.25, 0.5, 0.25]
    """
    found = np.ones(1)
    for chance in chances:
        found = np.convolve(found, (1 - chance, chance))
    return found


def same_count(count: int, mine: int, chances: Chances, n: int) -> Comparison:
    """Compare a published count over cases with ours, from n runs per case.

    ``chances(f, prior)`` are the chances of every case to be counted, for their runs and for ours, if ours were f times
    as many with the same rates. The difference of two counts that are drawn so has a distribution; p is twice the
    smaller tail at the observed difference, the largest over ``PRIORS``: how likely a unit that never failed is to fail
    once depends on the prior, so no single one is safe. Without chances for ours, and 0 for ``mine``, theirs is
    compared with the prediction alone, which is safe where it is a count of rates and not of differences of rates.
    The counts are close if every published count that would not differ lies within a ``SHARE`` of the cases of it.
    """

    def p_values(factor: int) -> Array:  # by the published count
        found = []
        for prior in PRIORS:
            theirs, ours = chances(factor, prior)
            first = len(ours) - mine  # where the published count is 0
            tails = _tails(np.convolve(counted(theirs), counted(ours)[::-1]))
            found.append(tails[first : first + len(theirs) + 1])
        best: Array = np.max(found, 0)
        return best

    stated = int(SHARE * len(chances(1, PRIORS[0])[0]))
    return _predicted(p_values, count, stated, n, f"{stated} ranges")


def same_difference(value: float, pairs: Paired, m: int, stated: float) -> Comparison:
    """Compare a published difference of two rates over m seeds with that of our pairs.

    p is twice the smaller tail of what our pairs predict (``predicted_leads``), the largest over ``PRIORS``.
    """

    def p_values(factor: int) -> Array:
        best: Array = np.max([_tails(predicted_leads(pairs.times(factor), m, a)) for a in PRIORS], 0)
        return best

    return _predicted(p_values, round((value + 1) * m), stated * m, pairs.n, f"{stated:g}")


def _predicted(
    p_values: Callable[[int], Array], place: int, margin: float, n: int, stated: str
) -> Comparison:
    """Judge the published value at a place, given p for all places and for f times as many runs of ours."""

    def close(found: Array) -> bool:
        kept = np.flatnonzero(found >= LEVEL)
        return bool(len(kept)) and float(np.abs(kept - place).max()) <= margin

    now = p_values(1)
    p = float(now[place]) if 0 <= place < len(now) else 0.0
    near = close(now)
    told = p < LEVEL or near
    factor = None if told else _enough_times(lambda f: close(p_values(f)))
    return Comparison(p, near, factor * n if factor else None, stated)


def _enough_times(enough: Callable[[int], bool]) -> int | None:
    """Return the least power of 2, up to 128, that is enough."""
    return next((2**i for i in range(1, 8) if enough(2**i)), None)


def _tails(chance: Array) -> Array:
    """Return twice the smaller tail at every value of a distribution."""
    up = np.cumsum(chance[::-1])[::-1]
    found: Array = np.minimum(1.0, 2 * np.minimum(np.cumsum(chance), up))
    return found
