"""The mean step at which runs were solved, from a gamma distribution fitted to the steps."""

from math import exp, expm1, inf, log, sqrt

import numpy as np
import numpy.typing as npt

from nalm.stats.interval import SOLVED, Array, Interval, numbers
from nalm.stats.likelihood import CHI, crossing, ends, log_minus_digamma, stirling_rest
from nalm.stats.means import mean


def solved_at(steps: npt.ArrayLike) -> Interval:
    """Return the mean step of the solved runs, with the profile likelihood interval of the mean of a gamma."""
    x, centre, spread = _fitted(steps)
    if not spread:  # a step is zero, or all are equal
        return mean(x, 0.0)

    def profile(u: float) -> tuple[float, float]:  # at the mean centre * exp(u) and its best shape k
        wide = spread + expm1(-u) + u
        k = exp(crossing(lambda s: log_minus_digamma(exp(s)) - wide, -log(wide), 0.5))
        return log(k) / 2 - k * log_minus_digamma(k) - stirling_rest(k), -u

    _, low, high = ends(profile, 0.0, min(3 * sqrt(spread / len(x)), 1.0), len(x))
    return Interval(centre, centre * exp(low), centre * exp(high) if high < 709 else inf, len(x), "gamma")


def solved_at_published(steps: npt.ArrayLike) -> Interval:
    """Return the interval of the published tables, which fix the variance at that of the sample.

    With skewed steps their estimate therefore differs from the mean.
    """
    x, centre, spread = _fitted(steps)
    unit = float((x / centre).std(ddof=1)) if spread else 0.0
    if not unit * centre > 1e-5:
        return mean(x, 0.0)

    def likelihood(u: float) -> tuple[float, float]:  # at the mean centre * exp(u) and the shape k
        k = exp(2 * u) / unit**2
        return u - k * (expm1(-u) + u + spread) - stirling_rest(k), 2 * (
            log_minus_digamma(k) - spread - u
        ) - expm1(-u)

    best, low, high = (centre * exp(u) for u in ends(likelihood, 0.0, min(unit, 1), len(x), CHI))
    return Interval(best, low, high, len(x), "gamma, variance fixed")


def _fitted(steps: npt.ArrayLike) -> tuple[Array, float, float]:
    """Return the steps, their mean, and log(mean) - mean(log), which is 0 where no gamma fits."""
    x = numbers(steps, SOLVED, 0.0)
    centre = mean(x).estimate
    ratio = np.maximum(x / centre, 1e-300) if len(x) > 1 and x.min() > 0 else np.ones(1)
    spread = float((ratio - 1 - np.log(ratio)).mean())
    return x, centre, spread if spread > 1e-20 else 0.0
