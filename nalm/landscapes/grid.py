"""Many weights at once: the points of a grid, and a unit that is a population with one run per point."""

from collections.abc import Mapping
from typing import TypeVar

import numpy as np
import torch
from torch import Tensor, nn

from nalm.landscapes.surface import Array
from nalm.units import Unit

U = TypeVar("U", bound=Unit)


def axis(low: float, high: float, steps: int) -> Array:
    """Both ends and equal steps between them; round numbers are met exactly."""
    return np.linspace(low, high, steps + 1).round(12)


def points(x: Array, y: Array) -> Array:
    """Every point of a grid, (len(y) * len(x), 2), row by row."""
    return np.stack(np.meshgrid(x, y), -1).reshape(-1, 2)


def _widened(unit: U, runs: int) -> U:
    """The unit itself as a population of that many runs, in float64, every parameter 0."""
    for name, first in unit.start().items():
        zeros = torch.zeros(runs, *first.shape, dtype=torch.float64)
        setattr(unit, name, nn.Parameter(zeros))
    return unit


def populate(unit: U, weights: Mapping[str, Tensor]) -> U:
    """The unit itself as a population with these effective weights (runs, ...)."""
    runs = len(next(iter(weights.values())))
    return _widened(unit, runs).assign_(weights)


def populate_raw(unit: U, parameters: Mapping[str, Tensor]) -> U:
    """The unit itself as a population with these raw parameters; those not named are 0."""
    runs = len(next(iter(parameters.values())))
    Unit.assign_(_widened(unit, runs), parameters)
    return unit
