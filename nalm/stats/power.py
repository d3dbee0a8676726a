"""The power of McNemar's exact test: how many pairs of runs find a difference between two success rates."""

import numpy as np
import scipy  # its parts load when first used

from nalm.stats.comparison import LEVEL, POWER, fewest


def mcnemar_power(gain: float, loss: float, pairs: int, level: float = LEVEL) -> float:
    """Return the chance that the test finds a difference when a share ``gain`` of pairs is solved by the first only.

    ``loss`` is the share that only the second solves; all other pairs do not count. The sum runs over every number of
    pairs that differ and that occurs with a chance above 1e-12.

    >>> round(mcnemar_power(0.3, 0.0, 25), 3), round(mcnemar_power(0.1, 0.1, 25), 3)
    (0.807, 0.009)
    """
    differ = gain + loss
    if pairs < 1 or differ <= 0:
        return 0.0
    d = np.arange(pairs + 1)
    log = scipy.special.gammaln
    chance = np.exp(
        log(pairs + 1) - log(d + 1) - log(pairs - d + 1)
        + scipy.special.xlogy(d, differ) + scipy.special.xlogy(pairs - d, max(0.0, 1 - differ))
    )  # fmt: skip
    d, chance = d[chance > 1e-12], chance[chance > 1e-12]
    last = _critical(d, level)
    share = gain / differ
    below = np.where(last >= 0, scipy.special.bdtr(last.clip(0), d, share), 0.0)
    above = np.where(last >= 0, scipy.special.bdtr(last.clip(0), d, 1 - share), 0.0)
    return float((chance * np.minimum(below + above, 1.0)).sum())


def _critical(d: np.ndarray, level: float) -> np.ndarray:
    """Return the largest count of the rarer side with a two-sided p of at most ``level``; -1 if there is none."""
    k = np.floor(scipy.special.bdtrik(level / 2, np.maximum(d, 1), 0.5))
    k = np.where(np.isnan(k), -1.0, k)
    for step in (1, 0, -1):  # the inverse is rounded: test its neighbours
        fits = (
            (k + step >= 0)
            & (2 * scipy.special.bdtr((k + step).clip(0), np.maximum(d, 1), 0.5) <= level)
            & (d > 0)
        )
        if step == 1:
            best = np.where(fits, k + 1, -1.0)
        else:
            best = np.where((best < 0) & fits, k + step, best)
    return best


def pairs_needed(gain: float, loss: float, pairs: int, level: float = LEVEL) -> int | None:
    """Return the least number of pairs above ``pairs`` that finds this difference with probability 0.95, if any does.

    >>> pairs_needed(0.3, 0.1, 25), pairs_needed(0.1, 0.1, 25)
    (129, None)
    """
    if gain == loss:
        return None
    return fewest(lambda n: mcnemar_power(gain, loss, n, level) >= POWER, pairs)
