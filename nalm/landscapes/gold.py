"""Errors of units with gold weights that divide by numbers close to 0 (Mistry 2023, Figure 5.12)."""

import numpy as np
import torch
from torch import Tensor

from nalm.config import Range
from nalm.landscapes.surface import Array, Curves
from nalm.operations import operation
from nalm.tasks.sampler import published
from nalm.units import NMRU, NRU, ModifiedRealNPU, Unit

TOPS = tuple(10.0**e for e in range(-8, 1))
ROWS, SEED = 10_000, 8689336  # rows and seed of the published test sets
NO_EPS = 1e-38  # negligible beside any input; 0 would also remove the logarithms
NOTE = (
    "Squared errors in float32 on the published test sets. The error of the Real NPU comes from its epsilon; without "
    "it the rounding of logarithms remains, and for the other units that of inputs. The published NMRU rounds more, "
    "because it computes (w x + 1) - w."
)


def unit_with(name: str, task: str, inputs: int) -> Unit:
    """Return a unit with gold weights and its paper's epsilon."""
    units: dict[str, Unit] = {
        "NRU": NRU(inputs, 1),
        "RealNPU": ModifiedRealNPU(inputs, 1),
        "RealNPU, no epsilon": ModifiedRealNPU(inputs, 1, eps=NO_EPS),
        "NMRU": NMRU(inputs, 1),
    }
    unit = units[name].eval()
    shapes = unit.weights()
    weights = unit.gold_weights(task, inputs)
    return unit.assign_({n: torch.tensor(v).expand_as(shapes[n]) for n, v in weights.items()})


@torch.no_grad()
def error(unit: Unit, task: str, top: float) -> float:
    """Return the mean squared error on inputs between 0 and ``top``."""
    x = published(Range(0, top), ROWS, unit.in_features, SEED)
    formula = operation(task)
    # in float64; rounded to float32 afterwards, like the inputs
    y: Tensor = formula.formula(*x.unbind(-1)[: formula.arity])
    return float((unit(x.float()).squeeze(-1) - y.float()).square().mean())


def _curves(name: str, title: str, task: str, inputs: int) -> Curves:
    names = ("NRU", "RealNPU", "RealNPU, no epsilon", "NMRU")
    series: dict[str, Array] = {
        n: np.log10([max(error(unit_with(n, task, inputs), task, top), 1e-38) for top in TOPS]) for n in names
    }
    return Curves(
        f"landscapes/{name}",
        title,
        "log10 of the largest input",
        "log10 of the squared error",
        np.log10(TOPS).round(),
        series,
        source="Mistry 2023, Figure 5.12",
        note=NOTE,
    )


def one() -> Curves:
    """Compute 1/a from a alone."""
    return _curves("gold-one", "1/a with perfect weights", "reciprocal", 1)


def selected() -> Curves:
    """Compute 1/a from a and b."""
    return _curves("gold-selected", "1/a beside b with perfect weights", "reciprocal", 2)


def quotient() -> Curves:
    """Compute a/b."""
    return _curves("gold-quotient", "a/b with perfect weights", "divide", 2)
