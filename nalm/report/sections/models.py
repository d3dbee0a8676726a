"""What trained models do, over two axes: predictions over two inputs, and where starts on a grid of weights lead."""

from collections.abc import Mapping, Sequence

import numpy as np
import torch

from nalm.config import Case, Range
from nalm.errors import NALMError
from nalm.landscapes.grid import axis, points
from nalm.landscapes.surface import Array, Box, Surface
from nalm.operations import outputs
from nalm.tasks.operands import apply
from nalm.tasks.sampler import marks
from nalm.units import UNITS, Unit
from nalm.units.baselines import BASELINES

REACH, FINE = 6.0, 120  # the plots of thesis section 1.4 cover [-6, 6] in steps of 0.1
BINS = 20  # heights they tell apart


def predictions(case: Case, weights: Mapping[str, Array], title: str) -> Surface:
    """A trained layer's prediction over both its inputs, in bins; boxes are where it was trained and tested."""
    x = axis(-REACH, REACH, FINE)
    y = _layer(case, weights)(torch.from_numpy(points(x, x))).detach()
    z = y.numpy().reshape(len(x), len(x))
    low, high = float(z.min()), float(z.max())
    width = (high - low) / BINS or 1.0
    binned = low + width * (np.floor((z - low) / width).clip(0, BINS - 1) + 0.5)
    boxes = (Box(case.train.low, case.train.high, "#0072b2"), Box(case.test.low, case.test.high, "#d55e00"))
    source = "thesis section 1.4.1"
    return Surface("predictions", title, "x1", "x2", x, x, binned, source, boxes=boxes)


def _layer(case: Case, weights: Mapping[str, Array]) -> torch.nn.Module:
    """The case's one layer with these effective weights, given flat."""
    (layer,) = case.model
    made = {**UNITS, **BASELINES}[layer.unit](case.inputs, layer.out, **dict(layer.options)).eval().double()
    shaped = {n: torch.tensor(weights[n]).reshape(w.shape) for n, w in made.weights().items() if n in weights}
    if len(shaped) < len(made.weights()):
        raise NALMError(f"The weights of {case.name!r} are not all here: there are {', '.join(weights)}.")
    if isinstance(made, Unit):
        return made.assign_(shaped)
    with torch.no_grad():
        for name, value in shaped.items():
            made.get_parameter(name).copy_(value)
    return made


def errors_over(case: Case, weights: Mapping[str, Array], name: str, points_of: Range) -> tuple[Array, Array]:
    """A trained model's absolute errors in one of its operations, [y, x] over a grid of both inputs, and the grid."""
    x = np.array(marks(points_of))
    at = torch.from_numpy(points(x, x))
    with torch.no_grad():
        said = _stacked(case, weights)(at)[:, outputs(case.operation).index(name)]
    away = (said - apply(name, at.unbind(-1))).abs().numpy()
    return x, away.reshape(len(x), len(x))


def orbit(case: Case, weights: Mapping[str, Array], start: Sequence[float], steps: int) -> Array:
    """States (steps + 1, k) of a fitted system by Euler's method in steps of 1."""
    rate, states = _stacked(case, weights), [torch.tensor(start, dtype=torch.float64)]
    with torch.no_grad():
        for _ in range(steps):
            states.append(states[-1] + rate(states[-1]))
    found: Array = torch.stack(states).numpy()
    return found


def _stacked(case: Case, weights: Mapping[str, Array]) -> torch.nn.Module:
    """The case's layers one after another, in float64, with effective weights given flat as 0.weight, 1.weight, ..."""
    layers, width = [], case.inputs
    for i, layer in enumerate(case.model):
        one = case.replace(model=(layer,), inputs=width, operation=case.operation)
        layers.append(
            _layer(one, {n.removeprefix(f"{i}."): v for n, v in weights.items() if n.startswith(f"{i}.")})
        )
        width = layer.out
    return torch.nn.Sequential(*layers)


def starts(case: Case, solved: Sequence[bool], begun: Array, ended: Array, title: str) -> Surface:
    """Which starts (runs, 2) on a grid end well, and where each of them ends."""
    side = case.recipe.grid
    x = axis(0, 1, side - 1)
    z = np.full((side, side), np.nan)
    for good, (first, second) in zip(solved, (begun * (side - 1)).round().astype(int), strict=True):
        z[second, first] = float(good)
    moved = np.concatenate([begun, ended], 1)
    note = f"{sum(solved)} of {len(solved)} starts are solved. An arrow leads from a start to its end."
    return Surface("starts", title, "w1", "w2", x, x, z, "thesis Figure 4.3", note, arrows=moved)
