"""Pictures of trained models: what they predict over two inputs, and where starts on a grid lead."""

from collections.abc import Sequence

import numpy as np

from nalm.config import Case
from nalm.landscapes import Surface
from nalm.report.sections.models import predictions, starts
from nalm.report.study import Study
from nalm.results.curves import DRAWN
from nalm.results.runs import Outcome

FINAL = "weights.0."  # before the name of a final weight, among the curves of a run


def drawn(study: Study) -> list[Surface]:
    """The pictures of an experiment that starts on a grid, or that compares units with perceptrons of two inputs."""
    found = []
    compared = any(layer.unit in DRAWN for s in study.summaries for layer in s.case.model)
    for s in study.summaries:
        runs = study.runs[s.case.key]
        if s.case.recipe.grid:
            found += _starts(study, runs)
        elif compared and _of_two_numbers(s.case):
            found += _predictions(study, runs)
    return found


def _of_two_numbers(case: Case) -> bool:
    """Whether a model takes two numbers, rather than what a network reads of images, and is not drawn elsewhere."""
    return case.inputs == 2 and len(case.model) == 1 and not case.task.grids and not case.task.images


def _starts(study: Study, runs: Sequence[Outcome]) -> list[Surface]:
    case = runs[0].case
    paths = {o.seed: _paths(study, o) for o in runs}
    kept = [o for o in runs if len(paths[o.seed]) == 2]
    if not kept:
        return []
    begun, ended = (np.array([[path[i] for path in paths[o.seed]] for o in kept]) for i in (0, -1))
    title = f"{study.labels[case]}: starts that learn {case.train}"
    return [starts(case, [o.solved for o in kept], begun, ended, title)]


def _paths(study: Study, o: Outcome) -> list[np.ndarray]:
    curves = study.curves.get((o.case.key, o.seed), {})
    return [values for name, values in curves.items() if "[" in name]


def _predictions(study: Study, runs: Sequence[Outcome]) -> list[Surface]:
    """One picture for each way to end: below the threshold or not, inside the training range and beyond it."""
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
    """A run's final weights, flat: as they were kept, or where their paths end."""
    curves = study.curves.get((o.case.key, o.seed), {})
    found = {n.removeprefix(FINAL): values for n, values in curves.items() if n.startswith(FINAL)}
    ends: dict[str, list[float]] = {}
    for name, values in curves.items():
        if name.startswith("0.") and "[" in name and not found:
            ends.setdefault(name[2 : name.index("[")], []).append(values[-1])
    return found or {name: np.array(values) for name, values in ends.items()}
