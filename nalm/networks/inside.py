"""Functions on any module that holds units: project, penalties, snap and formulas of all of them at once.

A module may be a unit itself, an ``nn.Sequential``, a compiled or distributed module, or a population of any of these.
"""

import itertools
import warnings
from typing import TypeVar

import torch
from torch import nn

from nalm.errors import NALMError
from nalm.networks.symptoms import OFF_GRID, farthest
from nalm.units.base import Formulas, Trainable, Unit, Weights

M = TypeVar("M", bound=nn.Module)


class FarFromGrid(UserWarning):
    """Weights were far from their grid when they were moved onto it: the network computes something else now."""


def units_in(model: nn.Module) -> dict[str, Trainable]:
    """Return the outermost units of a module by their names; the parts of a network of units belong to it.

    >>> from nalm.units import NMU
    >>> list(units_in(nn.Sequential(nn.Linear(8, 2), nn.ReLU(), NMU(2, 1))))
    ['2']
    """
    found: dict[str, Trainable] = {}
    for name, module in model.named_modules():
        if isinstance(module, Trainable) and not any(_within(name, outer) for outer in found):
            found[name] = module
    return found


def _within(name: str, outer: str) -> bool:
    return outer == "" or name.startswith(f"{outer}.")


def some_units_in(model: nn.Module) -> dict[str, Trainable]:
    """Return the outermost units of a module; raise an error if it has none."""
    if not isinstance(model, nn.Module):
        raise NALMError(f"A module is needed, got {type(model).__name__}: pass the network itself.")
    found = units_in(model)
    if not found:
        raise NALMError(
            f"{type(model).__name__} holds no unit: put one into it, such as nalm.NMU(in_features, out_features)."
        )
    return found


def project(model: nn.Module) -> None:
    """Move the parameters of every unit back into their bounds; call it after every optimiser step.

    >>> from nalm.units import NMU
    >>> net = nn.Sequential(nn.Linear(8, 2), NMU(2, 1))
    >>> _ = nn.init.constant_(net[1].weight, 22.0)
    >>> project(net)
    >>> net[1].weight.tolist()
    [[1.0, 1.0]]
    """
    for unit in some_units_in(model).values():
        unit.project()


def penalties(model: nn.Module) -> Weights:
    """Return each penalty by name, summed over the units that have it, one value per run of a population.

    Penalties that need a unit's inputs are left out.

    >>> from nalm.units import NAU, NMU
    >>> list(penalties(nn.Sequential(NAU(4, 2), NMU(2, 1))))
    ['weight']
    """
    total: Weights = {}
    for unit in some_units_in(model).values():
        for name, value in unit.penalties().items():
            total[name] = total[name] + value if name in total else value
    return total


@torch.no_grad()
def snap(model: M) -> M:
    """Move the weights of every unit onto their grids, in place, and return the module; other layers stay as they are.

    A unit with a weight that moves by more than 0.1 gives the warning ``FarFromGrid``: its formula is not what the
    network computed before. ``snap_`` of a unit moves without a warning.

    >>> from nalm.units import NMU
    >>> net = nn.Sequential(nn.Linear(8, 2), NMU(2, 1).assign_({"weight": torch.tensor([[0.98, 0.95]])}))
    >>> snap(net)[1].weight.tolist()
    [[1.0, 1.0]]
    """
    for name, unit in some_units_in(model).items():
        if isinstance(unit, Unit):
            weight, distance = farthest(unit)
            unit.snap_()
            if not distance <= OFF_GRID:
                warnings.warn(_moved(name, unit, weight, distance), FarFromGrid, stacklevel=2)
    return model


def _moved(name: str, unit: Unit, weight: str, distance: float) -> str:
    where = f"Unit {name!r}" if name else "The unit"
    return (
        f"{where} ({unit.label}) had its weight {weight!r} {distance:.2g} away from its grid: its formula is not what "
        "it computed before. Train longer with nalm.attach before nalm.snap, and compare errors before and after it."
    )


def formulas_in(model: nn.Module) -> dict[str, Formulas]:
    """Return the formulas of every unit with rounded weights, by the name of the unit inside the module.

    The inputs of a unit are called a, b, c, ... Where one unit follows another inside an ``nn.Sequential``, its
    formulas are written in the inputs of the first. (``nalm.formulas`` is the name of a package.)

    >>> from nalm.units import NAU, NMU
    >>> sums = NAU(3, 2).assign_({"weight": torch.tensor([[1.0, 1, 0], [0, 0, -1]])})
    >>> formulas_in(nn.Sequential(nn.Linear(8, 3), sums, NMU.solved("multiply")))
    {'1': [a + b, -c], '2': [-c*(a + b)]}
    """
    units, found = some_units_in(model), dict[str, Formulas]()
    before = _predecessors(model)
    for name, unit in units.items():
        if isinstance(unit, Unit):
            found[name] = unit.formulas(found.get(before[name]) if name in before else None)
    return found


def _predecessors(model: nn.Module) -> dict[str, str]:
    """Return, for units inside an ``nn.Sequential``, the name of the unit whose outputs they read."""
    found: dict[str, str] = {}
    for name, module in model.named_modules():
        if isinstance(module, nn.Sequential):
            children = [(f"{name}.{key}" if name else key, child) for key, child in module.named_children()]
            for (first, one), (second, two) in itertools.pairwise(children):
                if isinstance(one, Unit) and isinstance(two, Unit):
                    found[second] = first
    return found
