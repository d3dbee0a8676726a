"""Outcomes of runs in, 95% intervals that know their method out; ``*_published`` keeps the tables' two slips."""

from collections.abc import Callable
from dataclasses import dataclass
from math import erfc, exp, expm1, floor, frexp, inf, isnan, lgamma, log, log1p, log10, nan, pi, sqrt

import numpy as np
import numpy.typing as npt
import scipy  # its parts load when first used

from nalm.errors import NALMError

Array = npt.NDArray[np.float64]
Curve = Callable[[float], tuple[float, float]]  # a log likelihood per run, and the sign of its slope
Ends = tuple[float, float, float]  # the estimate, then the ends

Z = 1.959964  # the normal quantile of 0.975, as published
CHI = 3.841459 / 2  # how far the log likelihood drops to the ends of a published interval
TINY = 1e-16  # how far the published fit moves sparsity errors into (0, 0.5)
LARGEST = float(np.finfo(float).max)

NUMBERS = "Values are finite numbers, got {}; leave out the runs without one."
SOLVED = "Steps and sparsity errors are not negative, got {}; leave out the runs that were not solved."
FLAGS = "Outcomes are True or False, got {}; give one for every run."


@dataclass(frozen=True)
class Interval:
    """An estimate and its 95% interval; both ends are NaN where n values are too few to have one."""

    estimate: float
    low: float
    high: float
    n: int
    method: str

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high

    def overlaps(self, other: "Interval") -> bool:
        """Whether some value lies in both; never, if one of them has no ends."""
        return self.low <= other.high and other.low <= self.high

    def __str__(self) -> str:
        if isnan(self.estimate):
            return "no values"
        size = max(abs(v) for v in (self.estimate, self.low, self.high) if not isnan(v))
        digits = max(2, -floor(log10(self.high - self.low))) if 0 < self.high - self.low < inf else 2
        form = f".{digits}f" if 0.01 <= size < 100 or size == 0 else ".0f" if 100 <= size < 1e12 else ".1e"
        ends = f"[{self.low:{form}}, {self.high:{form}}]" if self.low <= self.high else "(no interval)"
        return f"{self.estimate:{form}} {ends}"


@dataclass(frozen=True)
class Difference(Interval):
    """The lead of the first of two paired cases, and the chance p of such a lead between equals."""

    p: float


def success_rate(solved: npt.ArrayLike) -> Interval:
    """Share of solved runs: 25 of 25 gives [0.87, 1.00], not [1, 1]."""
    flags = _numbers(solved, FLAGS, 0.0, 1.0)
    if (flags % 1).any():
        raise NALMError(FLAGS.format(flags[flags % 1 > 0][0]))
    return wilson(int(flags.sum()), len(flags))


def wilson(successes: int, n: int) -> Interval:
    """Score interval of a proportion (Wilson 1927)."""
    if not 0 <= successes <= n:
        raise NALMError(f"There cannot be {successes} successes in {n} runs; count both over the same runs.")
    if n == 0:
        return Interval(nan, nan, nan, 0, "Wilson")
    p, extra = successes / n, Z * Z / n
    centre = (p + extra / 2) / (1 + extra)
    half = Z * sqrt(p * (1 - p) / n + extra / (4 * n)) / (1 + extra)
    low, high = centre - half if successes else 0.0, centre + half if successes < n else 1.0
    return Interval(p, low, high, n, "Wilson")


def mean(values: npt.ArrayLike, bottom: float = -inf, top: float = inf) -> Interval:
    """Mean with Student's t interval, its ends kept within what is possible; one value has no interval."""
    x = _numbers(values, NUMBERS)
    n, scale = len(x), 2.0 ** (frexp(float(np.abs(x).max(initial=0.0)))[1] - 1)
    if n < 2:
        return Interval(float(x[0]) if n else nan, nan, nan, n, "Student-t")
    x = x / scale  # so that no square overflows
    centre = float(np.clip(x.mean(), x.min(), x.max()))
    half = float(scipy.special.stdtrit(n - 1, 0.975) * x.std(ddof=1)) / sqrt(n) if np.ptp(x) else 0.0
    low, high = max((centre - half) * scale, bottom), min((centre + half) * scale, top)
    return Interval(centre * scale, low, high, n, "Student-t")


def median(values: npt.ArrayLike) -> Interval:
    """Median between order statistics, from six values on; infinity may stand for a run that never got there."""
    x = np.sort(_numbers(values, NUMBERS, top=inf))
    n, method = len(x), "median, order statistics"
    if n == 0:
        return Interval(nan, nan, nan, 0, method)
    middle = float(np.clip(x[(n - 1) // 2] / 2 + x[n // 2] / 2, x[(n - 1) // 2], x[n // 2]))
    rank = int((scipy.special.bdtr(np.arange((n + 1) // 2), n, 0.5) <= 0.025).sum())  # of the low end
    low, high = (float(x[rank - 1]), float(x[n - rank])) if rank else (nan, nan)
    return Interval(middle, low, high, n, method)


def solved_at(steps: npt.ArrayLike) -> Interval:
    """Mean step of the solved runs, with the profile likelihood interval of the mean of a gamma."""
    x, centre, spread = _gamma(steps)
    if not spread:  # a step is zero, or all are equal
        return mean(x, 0.0)

    def profile(u: float) -> tuple[float, float]:  # at the mean centre * exp(u) and its best shape k
        wide = spread + expm1(-u) + u
        k = exp(_crossing(lambda s: _gap(exp(s)) - wide, -log(wide), 0.5))
        return log(k) / 2 - k * _gap(k) - _rest(k), -u

    _, low, high = _ends(profile, 0.0, min(3 * sqrt(spread / len(x)), 1.0), len(x))
    return Interval(centre, centre * exp(low), centre * exp(high) if high < 709 else inf, len(x), "gamma")


def solved_at_published(steps: npt.ArrayLike) -> Interval:
    """The same in the published tables: the variance stayed that of the sample, the mean strayed if skewed."""
    x, centre, spread = _gamma(steps)
    unit = float((x / centre).std(ddof=1)) if spread else 0.0
    if not unit * centre > 1e-5:
        return mean(x, 0.0)

    def likelihood(u: float) -> tuple[float, float]:  # at the mean centre * exp(u) and the shape k
        k = exp(2 * u) / unit**2
        return u - k * (expm1(-u) + u + spread) - _rest(k), 2 * (_gap(k) - spread - u) - expm1(-u)

    best, low, high = (centre * exp(u) for u in _ends(likelihood, 0.0, min(unit, 1), len(x), CHI))
    return Interval(best, low, high, len(x), "gamma, variance fixed")


def sparsity(errors: npt.ArrayLike) -> Interval:
    """Mean sparsity error, with the profile likelihood interval of the mean of a beta on [0, 0.5].

    Errors above 0.5, which unbounded weights can have, count as 0.5. Where the errors contradict the
    beta, being equal or having their mean outside the interval, Student's t within [0, 0.5] replaces it.
    """
    x = np.minimum(_numbers(errors, SOLVED, 0.0, inf), 0.5)
    plain = mean(x, 0.0, 0.5)
    fit = _beta(np.clip(2 * x, TINY, 1 - TINY)) if len(x) > 1 else None
    if fit is None or not fit[1] <= 2 * plain.estimate <= fit[2]:
        return plain
    return Interval(plain.estimate, fit[1] / 2, fit[2] / 2, len(x), "beta")


def sparsity_published(errors: npt.ArrayLike) -> Interval:
    """The same in the published tables: half the mean of a beta on [0, 1], or the mean with Student's t.

    Their fit did not double the errors. Student's t took over where it had no standard error: it could
    not move, its start being too unlikely, or it ended near 0. The method says which it is.
    """
    x = np.clip(_numbers(errors, SOLVED, 0.0, inf), TINY, 0.5 - TINY)
    plain = mean(x, 0.0, 0.5)
    if len(x) < 2 or x.std(ddof=1) <= 1e-10:
        return plain
    total = max(plain.estimate * (0.5 - plain.estimate) / float(x.var(ddof=1)) - 1, 1e-5)
    a, b = 2 * plain.estimate * total, (1 - 2 * plain.estimate) * total  # where their fit starts
    start = (a - 1) * np.log(x) + (b - 1) * np.log1p(-x) - scipy.special.betaln(a, b)
    fit = None if (start <= -1e6).all() else _beta(x, CHI)
    if fit is None or fit[0] / 2 < 2e-5:  # their Hessian stepped below 0 from 1.8e-5; their fits stray by 5%
        return plain
    return Interval(fit[0] / 2, fit[1] / 2, fit[2] / 2, len(x), "beta, halved")


def rate_difference(a_solved: npt.ArrayLike, b_solved: npt.ArrayLike) -> Difference:
    """Success rate of a minus that of b: Newcombe's score interval (1998, method 10), exact McNemar p."""
    first, second = success_rate(a_solved), success_rate(b_solved)
    a, b = _pair(a_solved, b_solved)
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
    """Mean of a - b over the pairs with Student's t interval, and the p of Wilcoxon's signed rank test."""
    with np.errstate(over="ignore"):
        gain = np.subtract(*_pair(a, b))
    t = mean(gain)
    return Difference(t.estimate, t.low, t.high, t.n, "Student-t; p Wilcoxon", _signed_rank(gain[gain != 0]))


def holm(p_values: npt.ArrayLike) -> list[float]:
    """The p of each of several tests, raised so that a false alarm among them all stays unlikely."""
    p = _numbers(p_values, "A p-value lies between 0 and 1, got {}; give one for every test.", 0.0, 1.0)
    order = np.argsort(p)
    p[order] = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    return [float(v) for v in np.minimum(p, 1.0)]


def _signed_rank(gain: Array) -> float:
    """Two-sided p of Wilcoxon's test of differences that are not 0, ties and all; exact up to 500."""
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


def _gamma(steps: npt.ArrayLike) -> tuple[Array, float, float]:
    """The steps, their mean, and how far its log is above the mean log; 0 where no gamma fits."""
    x = _numbers(steps, SOLVED, 0.0)
    centre = mean(x).estimate
    ratio = np.maximum(x / centre, 1e-300) if len(x) > 1 and x.min() > 0 else np.ones(1)
    spread = float((ratio - 1 - np.log(ratio)).mean())
    return x, centre, spread if spread > 1e-20 else 0.0


def _beta(y: Array, drop: float | None = None) -> Ends | None:
    """The mean of the beta that fits best, and its profile likelihood interval; None if values are equal."""
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
        w = _crossing(lambda s: base + m * _gap(m * exp(s)) + r * _gap(r * exp(s)) - _gap(exp(s)), guess, 1)
        v = exp(w)
        value = v * base + (log_m + log_r + w) / 2 - _rest(m * v) - _rest(r * v) + _rest(v)
        return value, log_y - log_m + _gap(m * v) - (log_z - log_r + _gap(r * v))

    best, low, high = _ends(profile, log(centre / other), min(unit, 1.0), len(y), drop)
    return 1 / (1 + exp(-best)), 1 / (1 + exp(-low)), 1 / (1 + exp(-high))


def _ends(curve: Curve, start: float, unit: float, n: int, drop: float | None = None) -> Ends:
    """Where the log likelihood of n runs is highest, and on either side where it has dropped."""
    if drop is None:  # what gives normal values Student's interval; the limit 3.84 / 2 covers 75% with n = 2
        drop = n * log1p(float(scipy.special.stdtrit(n - 1, 0.975)) ** 2 / (n - 1)) / 2
    best = _crossing(lambda t: curve(t)[1], start, unit)
    level = curve(best)[0] - drop / n
    low, high = (_crossing(lambda t: curve(t)[0] - level, best, side) for side in (-unit, unit))
    return best, low, high


def _crossing(f: Callable[[float], float], start: float, step: float) -> float:
    """Where a function changes sign: along the step if it starts positive, the other way if not."""
    positive = f(start) > 0
    step = step if positive else -step
    while (f(start + step) > 0) == positive:
        start, step = start + step, 2 * step
    return float(scipy.optimize.brentq(f, start, start + step, xtol=1e-12 * min(abs(step), 1), rtol=1e-14))


def _gap(k: float) -> float:
    """log(k) - digamma(k), to all digits."""
    if k < 20:
        return log(k) - float(scipy.special.psi(k))
    q = 1 / (k * k)
    return 1 / (2 * k) + q * (1 / 12 - q * (1 / 120 - q * (1 / 252 - q / 240)))


def _rest(k: float) -> float:
    """log gamma(k) less the leading terms of Stirling's formula, to all digits."""
    if k < 20:
        return lgamma(k) - (k - 0.5) * log(k) + k - log(2 * pi) / 2
    q = 1 / (k * k)
    return (1 / 12 - q * (1 / 360 - q * (1 / 1260 - q / 1680))) / k


def _pair(a: npt.ArrayLike, b: npt.ArrayLike) -> tuple[Array, Array]:
    x, y = _numbers(a, NUMBERS), _numbers(b, NUMBERS)
    if len(x) != len(y):
        raise NALMError(f"Pairs need equally many values, got {len(x)} and {len(y)}; match their seeds.")
    return x, y


def _numbers(values: npt.ArrayLike, sentence: str, bottom: float = -LARGEST, top: float = LARGEST) -> Array:
    """The values as a row of numbers within bounds; the sentence, should one not be."""
    try:
        x = np.array(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise NALMError(sentence.format(type(values).__name__)) from None
    bad = x[~((bottom <= x) & (x <= top))]
    if x.ndim != 1 or bad.size:
        raise NALMError(sentence.format(bad[0] if bad.size else f"an array of shape {x.shape}"))
    return x
