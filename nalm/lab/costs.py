"""How long an experiment takes on this machine, estimated before anything is loaded.

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
from nalm.lab.machine import cores
from nalm.operations import SYSTEMS

COMPILING = {"cpu": 12.0, "cuda": 8.0}  # seconds per program
PROCESSES = 12  # that share a GPU
STEP, RUN, POWER = (
    7.2,
    0.73e-3,
    1.43,
)  # us: of a step, and of a run of two inputs in it, growing with this power of them
READ = {"cpu": 1_500.0, "cuda": 1.7}  # us per image of a batch, on one core and on an H200
EULER, FITTED = 200, 1_000.0  # steps of Euler's method in one of a fitted system, and us of one among forty
FEW = 100_000_000  # run-steps from which on recorded runs say how fast a machine is


@dataclass(frozen=True)
class Machine:
    """What estimates are made for."""

    kind: str  # cpu or cuda
    cores: int

    def __str__(self) -> str:
        return f"{self.cores} CPU cores" if self.kind == "cpu" else "one GPU"


def here() -> Machine:
    """This machine; a GPU is known by its driver."""
    return Machine("cuda" if Path("/proc/driver/nvidia/version").exists() else "cpu", cores())


@functools.cache
def _rates() -> dict[str, list[tuple[int, float]]]:
    """Microseconds per run-step on one core with batches of 128, by unit and number of inputs."""
    text = importlib.resources.files("nalm.data").joinpath("rates.csv").read_text(encoding="utf-8")
    found: dict[str, list[tuple[int, float]]] = {}
    for row in csv.DictReader(text.splitlines()):
        found.setdefault(row["unit"], []).append((int(row["inputs"]), float(row["us"])))
    return found


def model_of(case: Case) -> str:
    """The units of a case, and the widths of perceptrons, which decide what they cost."""
    widths = [dict(layer.options).get("hidden", ()) for layer in case.model]
    return unit_of(case) + "".join(f" {'-'.join(map(str, hidden))}" for hidden in widths if hidden)


def us(case: Case) -> float:
    """Microseconds of one core per run-step: as measured, or in proportion to the nearest measured number of inputs.

    A network that reads images takes its time for every image of a batch, forth and back.
    """
    if case.digits is not None:
        return READ["cpu"] * images(case)
    if case.operation in SYSTEMS:
        return FITTED * (1 + case.recipe.polish / case.recipe.steps)
    known = _rates().get(model_of(case))
    if known is None:  # a model that was not measured: the average of those that were
        return sum(_scaled(rows, case) for rows in _rates().values()) / len(_rates())
    return _scaled(known, case)


def images(case: Case) -> int:
    """Images that are read in a step."""
    assert case.digits is not None
    return case.recipe.batch * (case.digits.length or 2)


def _scaled(rows: Sequence[tuple[int, float]], case: Case) -> float:
    size = case.inputs * (case.times[0] if case.times else 1)
    inputs, rate = min(rows, key=lambda row: abs(row[0] - size))
    return rate * size / inputs * case.recipe.batch / 128


def seconds(cases: Sequence[Case], kind: str) -> float:
    """What one population takes on one core or one GPU, compilation aside; a case stands there once for each run."""
    if kind == "cpu":
        return 1e-6 * sum(case.recipe.steps * us(case) for case in cases)
    first, runs = cases[0], len(cases)
    if first.digits is not None:
        return 1e-6 * first.recipe.steps * READ["cuda"] * images(first) * runs
    return 1e-6 * _long(first) * (STEP + RUN * runs * (first.inputs / 2) ** POWER)


def estimate(experiment: Experiment, machine: Machine, factor: float = 1.0) -> float:
    """Seconds for all runs of an experiment."""
    programs: dict[Hashable, list[Case]] = {}
    for case in experiment.cases:
        programs.setdefault(signature(case), []).append(case)
    seeds, compiling = len(experiment.seeds), COMPILING[machine.kind] * len(programs)
    if machine.kind == "cpu":
        return (factor * seeds * seconds(experiment.cases, "cpu") + compiling) / machine.cores
    work = sum(seconds(cases * seeds, "cuda") for cases in programs.values())
    return work + compiling / min(PROCESSES, machine.cores)


def _long(case: Case) -> int:
    """Steps one after another."""
    return (
        EULER * (case.recipe.steps + case.recipe.polish) if case.operation in SYSTEMS else case.recipe.steps
    )


def correction(recorded: Iterable[tuple[str, float, int]], experiments: Iterable[Experiment]) -> float:
    """How much slower than measured this machine's cores have been, by (hash, seconds, run-steps) of finished runs."""
    known = {case.hash: case for experiment in experiments for case in experiment.cases}
    rows = [(known[name], seconds, steps) for name, seconds, steps in recorded if name in known]
    if sum(steps for *_, steps in rows) < FEW:
        return 1.0
    total = sum(seconds for _, seconds, _ in rows)
    compiling = COMPILING["cpu"] * len({signature(case) for case, *_ in rows})
    return max(total - compiling, total / 10) / sum(1e-6 * us(case) * steps for case, _, steps in rows)


def spoken(seconds: float) -> str:
    """A duration in one number and its unit.

    >>> [spoken(s) for s in (3.2, 95, 4_000, 200_000)]
    ['3 s', '2 min', '1.1 h', '2.3 days']
    """
    for size, unit, digits in ((86_400, "days", 1), (3_600, "h", 1), (60, "min", 0)):
        if seconds >= size:
            return f"{seconds / size:.{digits}f} {unit}"
    return f"{max(seconds, 1):.0f} s"
