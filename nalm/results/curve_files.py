"""Curves of runs as a CSV file: the part of the stored curves that the report shows."""

import csv
from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np
import numpy.typing as npt

from nalm.config import Case
from nalm.errors import NALMError

Array = npt.NDArray[np.float64]
POINTS = 21  # points per curve
SEEDS = 5  # seeds per case whose curves are written
NAMED = 8  # weights up to which trajectories are written for every seed; of more, for one seed
UNSHOWN = ("validation", "seen.confusion", "examples.", "pairs.")  # MNIST images are not ours to publish
WEIGHTS = "weights."  # final weights, which predictions are drawn from
HEADER = ("case", "seed", "curve", "values")
DIGITS = {"steps": 12, WEIGHTS: 7}  # significant digits; four for any other curve


def whole(case: Case) -> bool:
    """Return whether the curves of every run are needed: for initial weights on a grid, and for images."""
    return bool(case.recipe.grid or case.task.images)


def thinned(curves: Mapping[str, Array], case: Case, place: int) -> dict[str, Array]:
    """Return the curves of a run that are written; ``place`` is the index of its seed within the case.

    >>> from nalm.config import Arithmetic, Case, Layer, Range
    >>> case = Case((Layer("NMU"),), Arithmetic("multiply", Range(0, 1), Range(1, 2)))
    >>> {name: len(v) for name, v in thinned({"steps": np.arange(51.0), "test": np.ones(51)}, case, 0).items()}
    {'steps': 21, 'test': 21}
    """
    found = {name: values for name, values in curves.items() if not name.startswith(UNSHOWN)}
    paths = [name for name in found if "[" in name]
    if place and len(paths) > NAMED and not whole(case):
        found = {name: values for name, values in found.items() if name not in paths}
    if case.task.images:  # verdicts need the evaluation that counts; for sequences, all
        return found
    count = len(found["steps"])
    kept = np.linspace(0, count - 1, min(POINTS, count)).round().astype(int)
    return {name: v if name.startswith(WEIGHTS) else v[kept] for name, v in found.items()}


def text(runs: Iterable[tuple[str, int, Mapping[str, Array]]]) -> str:
    """Format curves as CSV, one line each; seeds of a case that have the same steps share one line for them."""
    lines = [list(HEADER)]
    shared: dict[tuple[str, str], list[str]] = {}
    for case, seed, curves in runs:
        for name, values in curves.items():
            digits = DIGITS.get(WEIGHTS if name.startswith(WEIGHTS) else name, 4)
            written = " ".join(f"{float(v):.{digits}g}" for v in values)
            if name == "steps" and (case, written) in shared:
                shared[case, written][1] += f" {seed}"
                continue
            lines.append([case, str(seed), name, written])
            if name == "steps":
                shared[case, written] = lines[-1]
    return "".join(",".join(line) + "\n" for line in lines)


def read(path: Path) -> dict[tuple[str, int], dict[str, Array]]:
    """Read the curves of a file by case (first 12 letters of its hash) and seed; empty without the file."""
    found: dict[tuple[str, int], dict[str, Array]] = {}
    for row in rows(path, HEADER) if path.exists() else []:
        try:
            values = np.array([float(v) for v in row["values"].split()])
            seeds = [int(seed) for seed in row["seed"].split()]
            if not seeds:
                raise ValueError("it has no seed")
            for seed in seeds:
                found.setdefault((row["case"], seed), {})[row["curve"]] = values
        except (ValueError, AttributeError):
            raise NALMError(f"{path} has a row that is not a curve: {str(row)[:80]}.") from None
    return found


def rows(path: Path, columns: Iterable[str]) -> list[dict[str, str]]:
    """Read the rows of a CSV file that has at least these columns."""
    try:
        with path.open(newline="", encoding="utf-8") as file:
            reader = csv.DictReader(file)
            missing = [name for name in columns if name not in (reader.fieldnames or ())]
            if missing:
                raise NALMError(f"{path} is not a table of runs: it has no column {missing[0]!r}.")
            return list(reader)
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise NALMError(f"{path} is not a table of runs: {error}.") from None
