"""The mean sparsity error, from a beta distribution fitted to the errors."""

from math import exp, inf, log, log1p, sqrt

import numpy as np
import numpy.typing as npt
import scipy  # its parts load when first used

from nalm.stats.interval import SOLVED, Array, Interval, numbers
from nalm.stats.likelihood import CHI, Ends, crossing, ends, log_minus_digamma, stirling_rest
from nalm.stats.means import mean

TINY = 1e-16  # how far the published fit moves sparsity errors into (0, 0.5)


def sparsity(errors: npt.ArrayLike) -> Interval:
    """Return the mean sparsity error, with the profile likelihood interval of the mean of a beta on [0, 0.5].

    Errors above 0.5, which unbounded weights can have, count as 0.5. If all errors are equal, or their mean lies
    outside the interval of the beta, Student's t interval within [0, 0.5] replaces it.
    """
    x = np.minimum(numbers(errors, SOLVED, 0.0, inf), 0.5)
    plain = mean(x, 0.0, 0.5)
    fit = _fitted(np.clip(2 * x, TINY, 1 - TINY)) if len(x) > 1 else None
    if fit is None or not fit[1] <= 2 * plain.estimate <= fit[2]:
        return plain
    return Interval(plain.estimate, fit[1] / 2, fit[2] / 2, len(x), "beta")


def sparsity_published(errors: npt.ArrayLike) -> Interval:
    """Return the interval of the published tables: half the mean of a beta on [0, 1], or Student's t.

    Their fit did not double the errors. They used Student's t where the fit had no standard error: its start was
    too unlikely, so that it could not move, or it ended near 0. The method of the interval says which one it is.
    """
    x = np.clip(numbers(errors, SOLVED, 0.0, inf), TINY, 0.5 - TINY)
    plain = mean(x, 0.0, 0.5)
    if len(x) < 2 or x.std(ddof=1) <= 1e-10:
        return plain
    total = max(plain.estimate * (0.5 - plain.estimate) / float(x.var(ddof=1)) - 1, 1e-5)
    a, b = 2 * plain.estimate * total, (1 - 2 * plain.estimate) * total  # where their fit starts
    start = (a - 1) * np.log(x) + (b - 1) * np.log1p(-x) - scipy.special.betaln(a, b)
    fit = None if (start <= -1e6).all() else _fitted(x, CHI)
    if fit is None or fit[0] / 2 < 2e-5:  # their Hessian stepped below 0 from 1.8e-5; their fits stray by 5%
        return plain
    return Interval(fit[0] / 2, fit[1] / 2, fit[2] / 2, len(x), "beta, halved")


def _fitted(y: Array, drop: float | None = None) -> Ends | None:
    """Return the mean of the best beta and its profile likelihood interval, or None if the values are equal."""
    centre, other = float(y.mean()), float((1 - y).mean())
    variance = float((y if centre < other else 1 - y).var(ddof=1))  # of the smaller, which has more digits
    if variance <= 1e-8 * min(centre, other) ** 2 * max(centre, other):
        return None
    log_y, log_z = float(np.log(y).mean()), float(np.log1p(-y).mean())
    guess, unit = log(centre * other / variance), 2 * sqrt(variance / len(y)) / (centre * other)

    def profile(t: float) -> tuple[float, float]:  # at the mean m = 1 / (1 + exp(-t)) and its best a + b
        log_m, log_r = -log1p(exp(-t)), -log1p(exp(t))
        m, r = exp(log_m), exp(log_r)
        base = m * (log_y - log_m) + r * (log_z - log_r)
        w = crossing(
            lambda s: (
                base
                + m * log_minus_digamma(m * exp(s))
                + r * log_minus_digamma(r * exp(s))
                - log_minus_digamma(exp(s))
            ),
            guess,
            1,
        )
        v = exp(w)
        value = (
            v * base
            + (log_m + log_r + w) / 2
            - stirling_rest(m * v)
            - stirling_rest(r * v)
            + stirling_rest(v)
        )
        return value, log_y - log_m + log_minus_digamma(m * v) - (log_z - log_r + log_minus_digamma(r * v))

    best, low, high = ends(profile, log(centre / other), min(unit, 1.0), len(y), drop)
    return 1 / (1 + exp(-best)), 1 / (1 + exp(-low)), 1 / (1 + exp(-high))
