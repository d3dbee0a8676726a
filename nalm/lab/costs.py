"""Estimate how long an experiment takes on this machine, without loading torch.

On a CPU: run-steps times the microseconds that one core needs for each (data/rates.csv, measured by benchmarks/rates.py
as `nalm bench` measures), corrected by the runs of a results folder where it has any. On a GPU: steps times the time of
a step of all runs at once, from three measurements on an H200 (225 and 7,875 runs of two inputs, 180 of a hundred).
"""

import csv
import functools
import importlib.resources
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from nalm.config import Case, Experiment
from nalm.config.grouping import signature
from nalm.config.labels import unit_of
from nalm.operating_system import cores

COMPILING = {"cpu": 12.0, "cuda": 8.0}  # seconds per program
PROCESSES = 12  # that share a GPU
# on a GPU, us of a step and of one run with two inputs in it; the latter grows with this power of the inputs
STEP, RUN, POWER = 7.2, 0.73e-3, 1.43
READ = {"cpu": 1_500.0, "cuda": 1.7}  # us per image of a batch, on one core and on an H200
EULER, FITTED = 200, 1_000.0  # steps of Euler's method in one of a fitted system, and us of one among forty
FEW = 100_000_000  # run-steps below which recorded runs are too few to correct the measured rates


@dataclass(frozen=True)
class Machine:
    """The machine for which estimates are made."""

    kind: str  # cpu or cuda
    cores: int

    def __str__(self) -> str:
        return f"{self.cores} CPU cores" if self.kind == "cpu" else "one GPU"


def here() -> Machine:
    """Return this machine; a GPU is detected by its driver."""
    return Machine("cuda" if Path("/proc/driver/nvidia/version").exists() else "cpu", cores())


@functools.cache
def _rates() -> dict[str, list[tuple[int, float]]]:
    """Read the measured microseconds per run-step on one core with batches of 128: unit -> (inputs, us)."""
    text = importlib.resources.files("nalm.data").joinpath("rates.csv").read_text(encoding="utf-8")
    found: dict[str, list[tuple[int, float]]] = {}
    for row in csv.DictReader(text.splitlines()):
        found.setdefault(row["unit"], []).append((int(row["inputs"]), float(row["us"])))
    return found


def model_of(case: Case) -> str:
    """Return the name of a case's model in rates.csv: its units, and the widths of perceptrons."""
    widths = [dict(layer.options).get("hidden", ()) for layer in case.model if layer.unit == "MLP"]
    return unit_of(case) + "".join(f" {'-'.join(map(str, hidden))}" for hidden in widths if hidden)


def us(case: Case) -> float:
    """Estimate the microseconds of one core per run-step, in proportion to the nearest measured number of inputs.

    For a network that reads images the time is per image of a batch, forward and backward.
    """
    if case.task.images:
        return READ["cpu"] * images(case)
    if case.task.fits_trajectory:
        return FITTED * (1 + case.recipe.polish / case.recipe.steps)
    known = _rates().get(model_of(case))
    if known is None:  # a model that was not measured: use the average of all
        return sum(_scaled(rows, case) for rows in _rates().values()) / len(_rates())
    return _scaled(known, case)


def images(case: Case) -> int:
    """Return the number of images that are read in a step."""
    return case.recipe.batch * case.task.images


def _scaled(rows: Sequence[tuple[int, float]], case: Case) -> float:
    size = case.inputs * (case.task.times[0] if case.task.times else 1)
    inputs, rate = min(rows, key=lambda row: abs(row[0] - size))
    return rate * size / inputs * case.recipe.batch / 128


def seconds(cases: Sequence[Case], kind: str) -> float:
    """Estimate the seconds of one population on one core or GPU, without compilation; one case per run."""
    if kind == "cpu":
        return 1e-6 * sum(case.recipe.steps * us(case) for case in cases)
    first, runs = cases[0], len(cases)
    if first.task.images:
        return 1e-6 * first.recipe.steps * READ["cuda"] * images(first) * runs
    return 1e-6 * _sequential_steps(first) * (STEP + RUN * runs * (first.inputs / 2) ** POWER)


def estimate(experiment: Experiment, machine: Machine, factor: float = 1.0) -> float:
    """Estimate the seconds for all runs of an experiment."""
    programs: dict[Hashable, list[Case]] = {}
    for case in experiment.cases:
        programs.setdefault(signature(case), []).append(case)
    seeds, compiling = len(experiment.seeds), COMPILING[machine.kind] * len(programs)
    if machine.kind == "cpu":
        return (factor * seeds * seconds(experiment.cases, "cpu") + compiling) / machine.cores
    work = sum(seconds(cases * seeds, "cuda") for cases in programs.values())
    return work + compiling / min(PROCESSES, machine.cores)


def _sequential_steps(case: Case) -> int:
    """Return the number of steps that cannot be done at the same time."""
    return (
        EULER * (case.recipe.steps + case.recipe.polish) if case.task.fits_trajectory else case.recipe.steps
    )


def correction(recorded: Iterable[tuple[str, float, int]], experiments: Iterable[Experiment]) -> float:
    """Return how much slower than the measured rates this machine is, from (hash, seconds, run-steps) of its runs."""
    known = {case.hash: case for experiment in experiments for case in experiment.cases}
    rows = [(known[name], seconds, steps) for name, seconds, steps in recorded if name in known]
    if sum(steps for *_, steps in rows) < FEW:
        return 1.0
    total = sum(seconds for _, seconds, _ in rows)
    compiling = COMPILING["cpu"] * len({signature(case) for case, *_ in rows})
    return max(total - compiling, total / 10) / sum(1e-6 * us(case) * steps for case, _, steps in rows)


def format_duration(seconds: float) -> str:
    """Format a duration as one number and its unit.

    >>> [format_duration(s) for s in (3.2, 95, 4_000, 200_000)]
    ['3 s', '2 min', '1.1 h', '2.3 days']
    """
    for size, unit, digits in ((86_400, "days", 1), (3_600, "h", 1), (60, "min", 0)):
        if seconds >= size:
            return f"{seconds / size:.{digits}f} {unit}"
    return f"{max(seconds, 1):.0f} s"
