"""When a network on sequences counts as solved: it is as good as one whose arithmetic is given (spec section 16).

For every length the limit is a one-sided upper bound of the mean error of reference runs, each taken where its
validation error is lowest. The published code takes the quantile at 8 degrees of freedom however many runs are left.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from scipy import stats

from nalm.errors import NALMError

Array = npt.NDArray[np.float64]
LEVEL, DEGREES = 0.99, 8
LEARNT = (
    0.5  # a reference that leaves more than this share of the target's variance has not learnt its digits
)


def limits(errors: Array) -> Array:
    r"""The limit at every length, :math:`\bar e + t_{0.99, 8}\, s / \sqrt n`, of references' errors (runs, lengths).

    One reference alone has no spread: its limit is its own error.

    >>> limits(np.array([[1.0], [3.0]])).round(4).tolist()  # mean 2, deviation sqrt 2: 2 + 2.8965
    [4.8965]
    """
    if errors.ndim != 2 or not len(errors):
        raise NALMError("A limit needs at least one reference run that has learnt its digits, got none.")
    n = len(errors)
    spread = errors.std(0, ddof=1) if n > 1 else np.zeros(errors.shape[1])
    found: Array = errors.mean(0) + stats.t.ppf(LEVEL, DEGREES) * spread / np.sqrt(n)
    return found


def learnt(validation: Sequence[float], variance: float) -> npt.NDArray[np.bool_]:
    """Which reference runs count: the published ones that did not learn were left out by hand, these by a rule."""
    return np.array([error < LEARNT * variance for error in validation], bool)


def first_below(steps: npt.NDArray[np.int64], errors: Array, limit: Array) -> list[int | None]:
    """For every length the first evaluated step whose error is below the limit; errors are (evaluations, lengths).

    >>> first_below(np.array([0, 5, 10]), np.array([[9.0, 9.0], [1.0, 9.0], [2.0, 9.0]]), np.array([3.0, 3.0]))
    [5, None]
    """
    low = errors < limit
    return [int(steps[np.argmax(column)]) if column.any() else None for column in low.T]
