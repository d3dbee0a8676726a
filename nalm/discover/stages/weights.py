"""Weights of rows in a fit of a function of y: noise that is even on y is not even on its logarithm or reciprocal."""

from collections.abc import Iterator

import numpy as np

from nalm.discover.law.expression import Array
from nalm.discover.problem import Problem

LEAST = 1e-3  # of the largest weight: a row with less would not be seen at all


def weights(problem: Problem, power: float) -> Iterator[Array]:
    r"""Yield the weights to try in a fit of y**power, or of log|y| if power is 0.

    The first make errors relative, as laws that hold to rounding need it. Where noise is admitted, those of noise
    of one size on y follow: it is :math:`|t'(y)|` times as large on t(y).
    """
    y = np.abs(problem.y)
    t = y**power
    yield np.ones(len(y)) if power == 0 else 1 / np.sqrt(np.median(t) ** 2 + t**2)
    if problem.noise != 0:
        yield even(y, power) if problem.error is None else problem.relative * even(y, power)


def even(y: Array, power: float) -> Array:
    """Return the weights of rows of y**power, or of log|y| if power is 0, if the noise on y has one size."""
    size = np.abs(y)
    size = size / (np.median(size) or size.max() or 1.0)
    with np.errstate(all="ignore"):
        found = np.minimum(size ** (1 - power), 1 / LEAST)
    return np.asarray(np.maximum(found, LEAST * found.max()))
