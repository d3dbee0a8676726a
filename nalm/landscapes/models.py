"""What trained models do, over two axes: predictions over two inputs, and where starts on a grid of weights lead."""

from collections.abc import Mapping, Sequence

import numpy as np
import torch

from nalm.config import Case
from nalm.errors import NALMError
from nalm.landscapes.grid import axis, points
from nalm.landscapes.surface import Array, Box, Surface
from nalm.units import UNITS, Unit
from nalm.units.baselines import BASELINES

REACH, FINE = 6.0, 120  # the plots of thesis section 1.4 cover [-6, 6] in steps of 0.1
BINS = 20  # heights they tell apart


def predictions(case: Case, weights: Mapping[str, Array], title: str) -> Surface:
    """A trained layer's prediction over both its inputs, in bins; boxes are where it was trained and tested."""
    x = axis(-REACH, REACH, FINE)
    y = _layer(case, weights)(torch.from_numpy(points(x, x)).float()).detach().double()
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
    made = {**UNITS, **BASELINES}[layer.unit](case.inputs, layer.out, **dict(layer.options)).eval()
    shaped = {n: torch.tensor(weights[n]).reshape(w.shape) for n, w in made.weights().items() if n in weights}
    if len(shaped) < len(made.weights()):
        raise NALMError(f"The weights of {case.name!r} are not all here: there are {', '.join(weights)}.")
    if isinstance(made, Unit):
        return made.assign_(shaped)
    with torch.no_grad():
        for name, value in shaped.items():
            made.get_parameter(name).copy_(value)
    return made


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
