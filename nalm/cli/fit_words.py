"""Numbers of a fit as words: with intervals, with fewer digits, as a share."""

import math
import re
from typing import Any


def with_interval(c: dict[str, Any]) -> str:
    """Format a fitted number with its 95% interval, to the digits that this leaves.

    >>> with_interval({"name": "", "value": 2.3142, "error": 0.02, "low": 2.2742, "high": 2.3542})
    '2.314 ± 0.040'
    >>> with_interval({"name": "k", "value": 2.3142, "error": 0.02, "low": 2.2642, "high": 2.3342})
    'k = 2.314 [2.264, 2.334]'
    >>> with_interval({"name": "", "value": 2.3142, "error": None, "low": None, "high": None})
    '2.314 (not determined)'
    """
    name = f"{c['name']} = " if c["name"] else ""
    value, low, high = c["value"], c["low"], c["high"]
    if not c["error"] or low is None or high is None or not high > low:
        return f"{name}{value:.4g} (not determined)"
    half = (high - low) / 2
    places = 1 - math.floor(math.log10(half))  # two digits of the interval
    if not -3 < places < 9:
        return f"{name}{value:.4g} [{low:.4g}, {high:.4g}]"
    digits = max(places, 0)
    if abs((high - value) - (value - low)) > 0.1 * half:
        return f"{name}{value:.{digits}f} [{low:.{digits}f}, {high:.{digits}f}]"
    return f"{name}{value:.{digits}f} ± {half:.{digits}f}"


def short(formula: str) -> str:
    """Shorten the numbers of a formula to six digits, for tables.

    >>> short("2.0060666807*sqrt(x1) - 0.5")
    '2.00607*sqrt(x1) - 0.5'
    """
    return re.sub(r"\b\d+\.\d+(e[+-]?\d+)?", lambda m: f"{float(m[0]):.6g}", formula)


def format_share(share: float | None) -> str:
    """Format a share of the variance as a sentence.

    >>> [format_share(0.123), format_share(0.99987), format_share(1.0), format_share(-3.0), format_share(None)]
    ['The law explains 12% of the variance.', 'The law explains 99.987% of the variance.',
     'The law explains all of the variance.', 'The law explains none of the variance.', '']
    """
    if share is None:
        return ""
    zeros = re.match("0*", f"{1 - share:.9f}"[2:])  # decimals of the unexplained share
    digits = len(zeros[0]) if zeros else 0
    word = "none" if share <= 0 else "all" if share > 1 - 1e-9 else f"{100 * share:.{digits}f}%"
    return f"The law explains {word} of the variance."
