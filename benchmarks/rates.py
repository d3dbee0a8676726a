"""Measure the microseconds that one core needs per run-step, for the estimates of `nalm list`.

python -m benchmarks.rates [UNIT ...]   measures these units, or those missing in nalm/data/rates.csv

Measured are the models with most run-steps, compiled, 225 runs, one thread, like `nalm bench`, in processor time,
the best of three. This takes about ten minutes, most of it for compilation.
"""

import csv
import sys
import time
from pathlib import Path

import torch

from nalm.config import Case
from nalm.engine.numbers.program import Program
from nalm.engine.plan import Run
from nalm.experiments import EXPERIMENTS
from nalm.lab.costs import model_of

TARGET = Path(__file__).parent.parent / "nalm" / "data" / "rates.csv"
RUNS, SECONDS = 225, 0.3
SINGLE = (
    "NAC",
    "NAU",
    "NACMul",
    "NALU",
    "INALU",
    "NMU",
    "SNMU",
    "NPU",
    "RealNPU",
    "ModifiedRealNPU",
    "NRU",
    "NMRU",
)
MEASURED = {
    *((unit, 2) for unit in (*SINGLE, "MLP 1", "MLP 4", "MLP 100", "Affine-NMU-Affine")),
    *((unit, 10) for unit in ("NAU", "INALU", "ModifiedRealNPU", "NRU", "NMRU")),
    *((unit, 100) for unit in ("NAU", "NAU-NMU", "NAU-SNMU", "NAC-NAC", "NAC-NACMul", "NALU-NALU")),
}


def models() -> dict[tuple[str, int], Case]:
    """Return one case of each model and number of inputs."""
    found: dict[tuple[str, int], Case] = {}
    for experiment in EXPERIMENTS.values():
        for case in experiment.cases:
            if case.recipe.loss == "mse" and (model_of(case), case.inputs) in MEASURED:
                found.setdefault((model_of(case), case.inputs), case)
    return found


def measure(case: Case) -> float:
    """Measure the microseconds per run-step for a batch of 128."""
    program = Program([Run(case, seed, seed) for seed in range(RUNS)], torch.device("cpu"), True)
    program.advance(5, case.recipe.loss)  # compiles

    def timed(steps: int) -> float:
        started = time.process_time()
        program.advance(steps, case.recipe.loss)
        return (time.process_time() - started) / steps

    steps = max(1, int(SECONDS / timed(5)))
    return min(timed(steps) for _ in range(3)) / RUNS * 1e6 * 128 / case.recipe.batch


def main(names: list[str]) -> None:
    """Measure the rates and write the table after each."""
    torch.set_num_threads(1)
    known: dict[tuple[str, int], float] = {}
    if TARGET.exists():
        with TARGET.open(encoding="utf-8", newline="") as file:
            known = {(r["unit"], int(r["inputs"])): float(r["us"]) for r in csv.DictReader(file)}
    for (unit, inputs), case in models().items():
        if (names and unit not in names) or (not names and (unit, inputs) in known):
            continue
        known[unit, inputs] = measure(case)
        print(f"{unit:24} {inputs:4} {known[unit, inputs]:9.3f} us", flush=True)
        with TARGET.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(("unit", "inputs", "us"))
            writer.writerows((*key, f"{known[key]:.3g}") for key in sorted(known))


if __name__ == "__main__":
    main(sys.argv[1:])
