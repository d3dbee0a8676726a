"""The points of a grid over two weights, and units as populations with one run per point."""

from collections.abc import Mapping
from typing import TypeVar

import numpy as np
import torch
from torch import Tensor, nn

from nalm.landscapes.surface import Array
from nalm.units import Unit

U = TypeVar("U", bound=Unit)


def axis(low: float, high: float, steps: int) -> Array:
    """Return both ends and equal steps between them, rounded so that round numbers are exact."""
    return np.linspace(low, high, steps + 1).round(12)


def points(x: Array, y: Array) -> Array:
    """Return every point of a grid, (len(y) * len(x), 2), row by row."""
    return np.stack(np.meshgrid(x, y), -1).reshape(-1, 2)


def _widened(unit: U, runs: int) -> U:
    """Turn a unit into a population of ``runs`` in float64, with every parameter 0."""
    for name, first in unit.start().items():
        zeros = torch.zeros(runs, *first.shape, dtype=torch.float64)
        setattr(unit, name, nn.Parameter(zeros))
    return unit


def populate(unit: U, weights: Mapping[str, Tensor]) -> U:
    """Turn a unit into a population with these effective weights (runs, ...)."""
    runs = len(next(iter(weights.values())))
    return _widened(unit, runs).assign_(weights)


def populate_raw(unit: U, parameters: Mapping[str, Tensor]) -> U:
    """Turn a unit into a population with these raw parameters; the others are 0."""
    runs = len(next(iter(parameters.values())))
    Unit.assign_(_widened(unit, runs), parameters)
    return unit
