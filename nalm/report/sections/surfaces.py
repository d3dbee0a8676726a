"""Surfaces of trained models: predictions over two inputs, errors over a grid, and where initial weights lead."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch

from nalm.config import Case, Range
from nalm.errors import NALMError
from nalm.landscapes.grid import axis, points
from nalm.landscapes.surface import Array, Box, Surface
from nalm.operations import outputs
from nalm.report.figures import thinned
from nalm.report.study import Study
from nalm.results.curves import DRAWN
from nalm.results.runs import Outcome
from nalm.tasks.operands import apply
from nalm.tasks.sampler import marks
from nalm.units import UNITS, Unit
from nalm.units.baselines import BASELINES
from nalm.units.own import OWN

FINAL = "weights.0."  # prefix of a final weight among the curves of a run
REACH, FINE = 6.0, 120  # the plots of Mistry 2023, section 1.4 cover [-6, 6] in steps of 0.1
BINS = 20  # heights that they distinguish


def surfaces(study: Study) -> list[dict[str, Any]]:
    """Return the surfaces of an experiment as plain values."""
    return [thinned(surface.json()) for surface in drawn(study)]


def drawn(study: Study) -> list[Surface]:
    """Draw experiments with initial weights on a grid, and those that compare units with perceptrons of two inputs."""
    found = []
    compared = any(layer.unit in DRAWN for s in study.summaries for layer in s.case.model)
    for s in study.summaries:
        runs = study.runs[s.case.key]
        if s.case.recipe.grid:
            found += _from_grid(study, runs)
        elif compared and _of_two_numbers(s.case):
            found += _predicted(study, runs)
    return found


def _of_two_numbers(case: Case) -> bool:
    """Return whether a model is one layer of two numbers, without images and without errors over a grid.

    A user's unit is left out if it is not loaded.
    """
    known = all(layer.unit in {**UNITS, **BASELINES, **OWN} for layer in case.model)
    return known and case.inputs == 2 and len(case.model) == 1 and not (case.task.grids or case.task.images)


def _from_grid(study: Study, runs: Sequence[Outcome]) -> list[Surface]:
    case = runs[0].case
    paths = {o.seed: _paths(study, o) for o in runs}
    kept = [o for o in runs if len(paths[o.seed]) == 2]
    if not kept:
        return []
    begun, ended = (np.array([[path[i] for path in paths[o.seed]] for o in kept]) for i in (0, -1))
    title = f"{study.labels[case]}: starts that learn {case.train}"
    return [initial(case, [o.solved for o in kept], begun, ended, title)]


def _paths(study: Study, o: Outcome) -> list[np.ndarray]:
    curves = study.curves.get((o.case.key, o.seed), {})
    return [values for name, values in curves.items() if "[" in name]


def _predicted(study: Study, runs: Sequence[Outcome]) -> list[Surface]:
    """Draw one run for each ending: below the threshold or not, inside the training range and beyond it."""
    found: dict[str, Surface] = {}
    for o in runs:
        weights = _weights(study, o)
        how = " and ".join(
            f"{where} {'solved' if error < o.threshold else 'not'}"
            for where, error in (("inside", o.validation), ("beyond", o.test))
        )
        if weights and how not in found:
            title = f"{study.labels[o.case]}, {o.case.operation}, seed {o.seed}: {how}"
            found[how] = predictions(o.case, weights, title)
    return list(found.values())


def _weights(study: Study, o: Outcome) -> dict[str, np.ndarray]:
    """Return a run's final weights, flat: as stored, or the ends of their trajectories."""
    curves = study.curves.get((o.case.key, o.seed), {})
    found = {n.removeprefix(FINAL): values for n, values in curves.items() if n.startswith(FINAL)}
    ends: dict[str, list[float]] = {}
    for name, values in curves.items():
        if name.startswith("0.") and "[" in name and not found:
            ends.setdefault(name[2 : name.index("[")], []).append(values[-1])
    return found or {name: np.array(values) for name, values in ends.items()}


def predictions(case: Case, weights: Mapping[str, Array], title: str) -> Surface:
    """Compute a trained layer's prediction over both inputs, in bins; boxes show the training and test ranges."""
    x = axis(-REACH, REACH, FINE)
    y = _layer(case, weights)(torch.from_numpy(points(x, x))).detach()
    z = y.numpy().reshape(len(x), len(x))
    low, high = float(z.min()), float(z.max())
    width = (high - low) / BINS or 1.0
    binned = low + width * (np.floor((z - low) / width).clip(0, BINS - 1) + 0.5)
    boxes = (Box(case.train.low, case.train.high, "#0072b2"), Box(case.test.low, case.test.high, "#d55e00"))
    source = "Mistry 2023, section 1.4.1"
    return Surface("predictions", title, "x1", "x2", x, x, binned, source, boxes=boxes)


def _layer(case: Case, weights: Mapping[str, Array]) -> torch.nn.Module:
    """Build the one layer of a case with these effective weights, given flat."""
    (layer,) = case.model
    kind = {**UNITS, **BASELINES, **OWN}[layer.unit]
    made = kind(case.inputs, layer.out, **dict(layer.options)).eval().double()
    shaped = {n: torch.tensor(weights[n]).reshape(w.shape) for n, w in made.weights().items() if n in weights}
    if len(shaped) < len(made.weights()):
        raise NALMError(
            f"Some weights of {case.name!r} are missing, there are only {', '.join(weights)}: export the results again."
        )
    if isinstance(made, Unit):
        return made.assign_(shaped)
    with torch.no_grad():
        for name, value in shaped.items():
            made.get_parameter(name).copy_(value)
    return made


def errors_over(case: Case, weights: Mapping[str, Array], name: str, points_of: Range) -> tuple[Array, Array]:
    """Return a grid of both inputs, and the absolute errors [y, x] of a trained model in one operation over it."""
    x = np.array(marks(points_of))
    at = torch.from_numpy(points(x, x))
    with torch.no_grad():
        said = _stacked(case, weights)(at)[:, outputs(case.operation).index(name)]
    away = (said - apply(name, at.unbind(-1))).abs().numpy()
    return x, away.reshape(len(x), len(x))


def orbit(case: Case, weights: Mapping[str, Array], start: Sequence[float], steps: int) -> Array:
    """Simulate states (steps + 1, k) of a fitted system by Euler's method in steps of 1."""
    rate, states = _stacked(case, weights), [torch.tensor(start, dtype=torch.float64)]
    with torch.no_grad():
        for _ in range(steps):
            states.append(states[-1] + rate(states[-1]))
    found: Array = torch.stack(states).numpy()
    return found


def _stacked(case: Case, weights: Mapping[str, Array]) -> torch.nn.Module:
    """Build the layers of a case in float64 with effective weights given flat as 0.weight, 1.weight, ..."""
    layers, width = [], case.inputs
    for i, layer in enumerate(case.model):
        one = case.replace(model=(layer,), inputs=width, operation=case.operation)
        layers.append(
            _layer(one, {n.removeprefix(f"{i}."): v for n, v in weights.items() if n.startswith(f"{i}.")})
        )
        width = layer.out
    return torch.nn.Sequential(*layers)


def initial(case: Case, solved: Sequence[bool], begun: Array, ended: Array, title: str) -> Surface:
    """Show which initial weights (runs, 2) on a grid lead to a solved run, and where each run ends."""
    side = case.recipe.grid
    x = axis(0, 1, side - 1)
    z = np.full((side, side), np.nan)
    for good, (first, second) in zip(solved, (begun * (side - 1)).round().astype(int), strict=True):
        z[second, first] = float(good)
    moved = np.concatenate([begun, ended], 1)
    note = f"{sum(solved)} of {len(solved)} runs are solved. An arrow leads from initial to final weights."
    return Surface("starts", title, "w1", "w2", x, x, z, "Mistry 2023, Figure 4.3", note, arrows=moved)
