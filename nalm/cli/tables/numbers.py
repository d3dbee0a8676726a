"""Numbers and intervals as text for cells of a table."""

import math

from nalm.stats import Interval


def number(value: float, low: float | None, high: float | None, between: str = "\n") -> str:
    """Format a number and its interval, if it has one."""
    if low is None or high is None or low == high or not math.isfinite(high - low):
        return few(value)
    return f"{few(value)}{between}[dim]\\[{few(low)}, {few(high)}][/]"


def few(value: float) -> str:
    """Format a number: 3 significant digits, integers from 1,000, "not finite" for infinity and NaN.

    >>> few(0.12345), few(12345.6), few(1e12), few(math.nan)
    ('0.123', '12,346', '1e+12', 'not finite')
    """
    if not math.isfinite(value):
        return "not finite"
    return f"{value:,.0f}" if 1_000 <= abs(value) < 1e9 else f"{value:.3g}"


def interval(value: Interval | None) -> str:
    """Format an estimate and its interval; empty for None."""
    if value is None:
        return ""
    low, high = (None if end != end else end for end in (value.low, value.high))
    return number(value.estimate, low, high)


def rate(share: Interval) -> str:
    """Format a share and its interval.

    >>> rate(Interval(0.0, 0.0, 0.0038, 1000, "Wilson"))
    '0.000 [0.000, 0.004]'
    """
    return f"{share.estimate:.3f} [{share.low:.3f}, {share.high:.3f}]"
