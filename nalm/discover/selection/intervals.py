"""Intervals of the numbers of a law and of its predictions, from the curvature of the likelihood."""

from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy.special import stdtrit

from nalm.discover.fit.least_squares import tangent
from nalm.discover.law.expression import Array, Node, numbers
from nalm.discover.selection.evidence import Fitted
from nalm.discover.selection.rows import NoiseKind, Observations

LEVEL = 0.95


@dataclass(frozen=True)
class FittedNumber:
    """A fitted number: its value, its standard error, its 95% interval, and its name in a given form."""

    value: float
    error: float
    low: float
    high: float
    name: str = ""

    def moved(self, value: float) -> "FittedNumber":
        """Return the number at another value, with the same error."""
        off = value - self.value
        return FittedNumber(value, self.error, self.low + off, self.high + off, self.name)

    def __str__(self) -> str:
        value = f"{self.name} = {self.value:.10g}" if self.name else f"{self.value:.6g}"
        return f"{value} in [{self.low:.4g}, {self.high:.4g}]"


def constants(found: Fitted) -> tuple[FittedNumber, ...]:
    """Return the fitted numbers of a law, in its order."""
    wide = quantile(rows_left(found.rows, found.count))
    return tuple(
        FittedNumber(value, float(error), float(value - wide * error), float(value + wide * error))
        for value, error, free in zip(numbers(found.node), found.errors, found.free, strict=True)
        if free
    )


def quantile(left: float) -> float:
    """Return how many standard errors reach to the end of an interval (Student's t with so many rows left)."""
    return float(stdtrit(left, 0.5 + LEVEL / 2))


@dataclass(frozen=True, eq=False)
class Uncertainty:
    """How far a new measurement of y may be from a law: its numbers are not known exactly, and y is noisy."""

    spread: Array  # a root of the covariance of the law's numbers, (numbers, directions)
    noise: NoiseKind
    scatter: float  # standard deviation of the noise: of y, or relative to it (if both kinds, of that part)
    left: float  # rows beyond the fitted numbers; infinite where the noise is given
    floor: float = 0.0  # the value at which additive and relative noise are equal, where there are both

    @classmethod
    def of(cls, found: Fitted) -> Self:
        """Return the uncertainty of a law from its fit."""
        return cls.on(found.rows, found.spread, found.scatter, found.count)

    @classmethod
    def on(cls, rows: Observations, spread: Array, scatter: float, count: int) -> Self:
        """Return the uncertainty after a fit of ``count`` numbers.

        Where the noise is given for each row, a new row gets a typical one.
        """
        typical = float(np.sqrt(np.mean(rows.error**2))) if rows.noise == NoiseKind.GIVEN else scatter
        return cls(spread, rows.noise, typical, rows_left(rows, count), rows.floor)

    def interval(self, node: Node, x: Array) -> Array:
        """Return the 95% interval of a new measurement on each row of x, (rows, 2)."""
        with np.errstate(all="ignore"):
            value, slopes = tangent(node, x)
            relative = self.noise == NoiseKind.RELATIVE
            slopes = slopes / value[:, None] if relative else slopes
            fitted = self.spread.any(1)  # the slope in another number may have no value
            off = slopes[:, fitted] @ self.spread[fitted]
            noise = self.scatter * (np.hypot(self.floor, value) if self.noise == NoiseKind.BOTH else 1.0)
            wide = np.sqrt(noise**2 + np.square(off).sum(1)) * quantile(self.left)
            ends = [value * np.exp(s * wide) if relative else value + s * wide for s in (-1.0, 1.0)]
            return np.sort(np.stack(ends, 1), 1)


def rows_left(rows: Observations, count: int) -> float:
    """Return the rows beyond so many fitted numbers; infinite where the noise is given."""
    return np.inf if rows.noise == NoiseKind.GIVEN else max(len(rows) - count, 1)
