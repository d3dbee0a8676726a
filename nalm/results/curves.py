"""Read curves and trajectories from a store, thinned for display, and choose the best runs to draw."""

import math
from collections.abc import Sequence

import numpy as np

from nalm.config.labels import unit_of
from nalm.results.runs import Outcome
from nalm.results.store import Store

POINTS = 51  # points per curve
SHOWN = ("steps", "test")  # curves that are read for every run
RECORDS = "records."
MOVING = 5  # seeds whose weight trajectories are read
DRAWN = ("MLP",)  # baselines whose predictions are drawn


def error(o: Outcome, name: str = "test") -> float:
    """Return the error of a run at the end of training; NaN counts as infinite."""
    return math.inf if math.isnan(o.measures[name]) else o.measures[name]


def economical(o: Outcome) -> float:
    """Return error times number of nonzero parameters, which is small for a sparse and precise fit."""
    return error(o) * max(1.0, *(v for name, v in o.measures.items() if name.startswith("nonzero")))


def best(outcomes: Sequence[Outcome]) -> set[tuple[str, int]]:
    """Choose the runs that are drawn from their final weights: per case and grid, the run with the least error.

    For fitted systems, per model the run with the least error and the one with the least error times parameters.
    """
    found: dict[tuple[str, str], Outcome] = {}
    for o in outcomes:
        if o.case.task.fits_trajectory:
            for name, rank in (("error", error), ("economy", economical)):
                first = found.setdefault((unit_of(o.case), name), o)
                if rank(o) < rank(first):
                    found[unit_of(o.case), name] = o
        for name, _ in o.case.task.grids:
            first = found.setdefault((o.case.hash, name), o)
            if error(o, name) < error(first, name):
                found[o.case.hash, name] = o
    return {(o.case.hash, o.seed) for o in found.values()}


def points(store: Store, o: Outcome, finest: bool = False) -> dict[str, np.ndarray]:
    """Return a run's curves at about 51 of its evaluations, and for the first seeds the trajectories of its weights.

    Every run has trajectories if initial weights lie on a grid, because they are drawn as one map. Final weights are
    included for perceptrons with two inputs and for the ``finest`` runs, which are drawn from them. Networks that read
    images also have their records, always at the evaluation that counts; sequences have every evaluation, since
    reference runs decide which of them solves a length.
    """
    arrays = store.arrays(o.case.hash, o.seed)
    count = len(arrays["steps"])
    every = o.case.task.lengths
    kept = np.linspace(0, count - 1, count if every else min(POINTS, count)).round().astype(int)
    if o.case.task.images:
        kept = np.append(kept, np.flatnonzero(arrays["steps"] == o.best_step))
    kept = np.unique(kept)
    found = {name: arrays[name][kept] for name in SHOWN}
    if finest:
        found |= {name: v.flatten() for name, v in arrays.items() if name.startswith("weights.")}
    recorded = {n.removeprefix(RECORDS): v for n, v in arrays.items() if n.startswith(RECORDS)}
    found |= {name: v[kept] if v.shape == (count,) else v.flatten() for name, v in recorded.items()}
    if o.seed >= MOVING and not o.case.recipe.grid and not o.case.task.images:
        return found
    paths = {n.removeprefix("trajectories."): v for n, v in arrays.items() if n.startswith("trajectories.")}
    for name, values in paths.items():
        flat = values[kept].reshape(len(kept), -1)
        found |= {f"{name}[{i}]": flat[:, i] for i in range(flat.shape[1])}
    if o.case.inputs == 2 and any(layer.unit in DRAWN for layer in o.case.model) and not o.case.task.grids:
        found |= {name: v.flatten() for name, v in arrays.items() if name.startswith("weights.")}
    return found
