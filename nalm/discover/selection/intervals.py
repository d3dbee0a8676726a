"""Intervals of the numbers of a law and of its predictions, from the curvature of the likelihood."""

from dataclasses import dataclass

import numpy as np
from scipy import stats

from nalm.discover.law.expression import numbers
from nalm.discover.selection.evidence import Fitted
from nalm.discover.selection.rows import NoiseKind

LEVEL = 0.95


@dataclass(frozen=True)
class FittedNumber:
    """A fitted number: its value, its standard error, its 95% interval, and its name in a given form."""

    value: float
    error: float
    low: float
    high: float
    name: str = ""

    def __str__(self) -> str:
        value = f"{self.name} = {self.value:.10g}" if self.name else f"{self.value:.6g}"
        return f"{value} in [{self.low:.4g}, {self.high:.4g}]"


def constants(found: Fitted) -> tuple[FittedNumber, ...]:
    """Return the fitted numbers of a law, in its order."""
    wide = quantile(found)
    return tuple(
        FittedNumber(value, float(error), float(value - wide * error), float(value + wide * error))
        for value, error, free in zip(numbers(found.node), found.errors, found.free, strict=True)
        if free
    )


def quantile(found: Fitted) -> float:
    """Return how many standard errors reach to the end of an interval (Student's t)."""
    left = np.inf if found.rows.noise == NoiseKind.GIVEN else max(len(found.rows) - found.count, 1)
    return float(stats.t.ppf(0.5 + LEVEL / 2, left))
