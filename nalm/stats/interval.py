"""The result type ``Interval``, and the checks on what it is computed from."""

from dataclasses import asdict, dataclass
from math import floor, inf, isfinite, isnan, log10
from typing import Any

import numpy as np
import numpy.typing as npt

from nalm.errors import NALMError

Array = npt.NDArray[np.float64]

LARGEST = float(np.finfo(float).max)
NUMBERS = "Values are finite numbers, got {}; leave out the runs without one."
SOLVED = "Steps and sparsity errors are not negative, got {}; leave out the runs that were not solved."


@dataclass(frozen=True)
class Interval:
    """An estimate and its 95% interval; both ends are NaN if n values are too few for an interval."""

    estimate: float
    low: float
    high: float
    n: int
    method: str

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high

    def plain(self) -> dict[str, Any]:
        """Return the fields as JSON can hold them: ``None`` for a number that is not finite."""
        return {n: None if isinstance(v, float) and not isfinite(v) else v for n, v in asdict(self).items()}

    def __str__(self) -> str:
        if isnan(self.estimate):
            return "no values"
        size = max(abs(v) for v in (self.estimate, self.low, self.high) if not isnan(v))
        digits = max(2, -floor(log10(self.high - self.low))) if 0 < self.high - self.low < inf else 2
        form = f".{digits}f" if 0.01 <= size < 100 or size == 0 else ".0f" if 100 <= size < 1e12 else ".1e"
        ends = f"[{self.low:{form}}, {self.high:{form}}]" if self.low <= self.high else "(no interval)"
        if self.low == self.high and self.n > 1:  # an interval without width would look like certainty
            ends = f"(all {self.n} equal)"
        return f"{self.estimate:{form}} {ends}"


@dataclass(frozen=True)
class Difference(Interval):
    """The first of two paired cases minus the second, and the p-value of the hypothesis that they are equal."""

    p: float


def numbers(values: npt.ArrayLike, sentence: str, bottom: float = -LARGEST, top: float = LARGEST) -> Array:
    """Return the values as a one-dimensional array; raise the sentence if one is outside the bounds."""
    try:
        x = np.array(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise NALMError(sentence.format(type(values).__name__)) from None
    bad = x[~((bottom <= x) & (x <= top))]
    if x.ndim != 1 or bad.size:
        raise NALMError(sentence.format(bad[0] if bad.size else f"an array of shape {x.shape}"))
    return x


def pair(a: npt.ArrayLike, b: npt.ArrayLike) -> tuple[Array, Array]:
    """Return both as arrays of the same length; raise if the lengths differ."""
    x, y = numbers(a, NUMBERS), numbers(b, NUMBERS)
    if len(x) != len(y):
        raise NALMError(f"Pairs need equally many values, got {len(x)} and {len(y)}; match their seeds.")
    return x, y
