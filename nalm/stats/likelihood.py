"""Profile likelihood intervals: where a log likelihood has dropped on either side of its maximum."""

from collections.abc import Callable
from math import lgamma, log, log1p, pi

import scipy  # its parts load when first used

Curve = Callable[[float], tuple[float, float]]  # a log likelihood per run, and the sign of its slope
Ends = tuple[float, float, float]  # the estimate, then the ends

CHI = 3.841459 / 2  # how far the log likelihood drops to the ends of a published interval


def ends(curve: Curve, start: float, unit: float, n: int, drop: float | None = None) -> Ends:
    """Return where the log likelihood of n runs is highest, and where it has dropped on either side."""
    if drop is None:  # what gives normal values Student's interval; the limit 3.84 / 2 covers 75% with n = 2
        drop = n * log1p(float(scipy.special.stdtrit(n - 1, 0.975)) ** 2 / (n - 1)) / 2
    best = crossing(lambda t: curve(t)[1], start, unit)
    level = curve(best)[0] - drop / n
    low, high = (crossing(lambda t: curve(t)[0] - level, best, side) for side in (-unit, unit))
    return best, low, high


def crossing(f: Callable[[float], float], start: float, step: float) -> float:
    """Return where a function changes sign, searching along the step if f(start) > 0, else against it."""
    positive = f(start) > 0
    step = step if positive else -step
    while (f(start + step) > 0) == positive:
        start, step = start + step, 2 * step
    return float(scipy.optimize.brentq(f, start, start + step, xtol=1e-12 * min(abs(step), 1), rtol=1e-14))


def log_minus_digamma(k: float) -> float:
    """Return log(k) - digamma(k), without cancellation for large k."""
    if k < 20:
        return log(k) - float(scipy.special.psi(k))
    q = 1 / (k * k)
    return 1 / (2 * k) + q * (1 / 12 - q * (1 / 120 - q * (1 / 252 - q / 240)))


def stirling_rest(k: float) -> float:
    """Return log gamma(k) minus the leading terms of Stirling's formula, without cancellation for large k."""
    if k < 20:
        return lgamma(k) - (k - 0.5) * log(k) + k - log(2 * pi) / 2
    q = 1 / (k * k)
    return (1 / 12 - q * (1 / 360 - q * (1 / 1260 - q / 1680))) / k
