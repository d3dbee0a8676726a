"""Trials of the ladder on published cells, on random laws inside its class, and on targets outside of it.

``python -m benchmarks.ladder results/beyond/ladder`` runs them.
"""

import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from scipy import special

from benchmarks import harness
from benchmarks.cells import CELLS, PRODUCTS, Cell
from benchmarks.harness import Row, option
from nalm.discover import Discovery, search
from nalm.discover.certificate.resolution import SLACK
from nalm.discover.law import Law
from nalm.discover.law.expression import Array, Input, Node, bounded, evaluate
from nalm.discover.stages.columns import PAIRS
from nalm.experiments.published import claims
from nalm.experiments.thesis.ch3 import RANGES

BY_NAME = {cell.name: cell for cell in (*CELLS, *PRODUCTS)}
OPERATIONS = ("add", "subtract", "multiply", "divide")
INPUTS, ROWS, U = 5, 600, 2.0**-53


@dataclass(frozen=True)
class Options:
    """How many problems of each kind are tried."""

    seeds: int = option(100, "seeds of each published cell")
    products: int = option(20, "seeds of each cell of the two-layer product")
    random: int = option(1000, "random laws inside the class, and as many targets outside of it")


@dataclass(frozen=True)
class Job:
    """One problem: a seed of a published cell in one precision, or of a random law or target."""

    suite: str  # cells, inside or outside
    cell: str
    precision: str
    seed: int


@dataclass(frozen=True)
class Trial:
    """One problem and the law that the ladder found for it."""

    suite: str
    cell: str
    seed: int
    verdict: str
    right: bool  # the law is the target, to rounding, on the test range
    network: bool  # the law as units agrees with it to rounding there, in float32 and float64
    formula: str
    error: float  # on the test range: rms over the rms of the target
    seconds: float


def judged(
    suite: str, cell: str, seed: int, found: Discovery, x: Array, truth: Node, seconds: float
) -> Trial:
    """Compare the law with the target on inputs of the test range, within the rounding of both."""
    with np.errstate(all="ignore"):
        y, unsure = bounded(truth, x, U)
        law, loose = bounded(found.law.expression, x, U)
        right = bool((np.abs(law - y) <= SLACK * (loose + unsure)).all())
        error = float(np.sqrt(np.mean((law - y) ** 2) / np.mean(y**2)))
    verdict = found.certificate.verdict
    network = bool(
        verdict != "none" and all(agrees(found.law, x, dtype) for dtype in (torch.float32, torch.float64))
    )
    return Trial(suite, cell, seed, verdict, right, network, str(found.law)[:200], error, round(seconds, 4))


@torch.no_grad()
def agrees(law: Law, x: Array, dtype: torch.dtype) -> bool:
    """Check that the law's network computes the law to the rounding of a precision."""
    inputs = torch.from_numpy(x).to(dtype)
    out = law.to_module(dtype)(inputs)[:, 0].double().numpy()
    with np.errstate(all="ignore"):
        y, bound = bounded(law.expression, inputs.double().numpy(), torch.finfo(dtype).eps / 2)
    fine = np.isfinite(y) & (bound < 0.01 * np.abs(y))  # elsewhere rounding leaves no digit
    return bool((np.abs(out - y)[fine] <= SLACK * bound[fine]).all())


def run_cell(cell: Cell, seed: int) -> Trial:
    """Try one seed of a published cell."""
    x, y = cell.sample(seed)
    began = time.perf_counter()
    found = search(x, y, noise=0.0, seed=seed)
    seconds = time.perf_counter() - began
    far, _ = cell.sample(seed, "test")
    return judged("cells", f"{cell.name} {cell.precision}", seed, found, far, cell.law(seed), seconds)


def random_law(rng: np.random.Generator, operations: int) -> Node:
    """Draw a tree of the given number of operations (+, -, * or /) over five inputs, which may repeat.

    The operations left after the root are split at random between its two sides.
    """
    if operations == 0:
        return Input(int(rng.integers(INPUTS)))
    left = int(rng.integers(operations))
    name = str(rng.choice(OPERATIONS))
    return PAIRS[name](random_law(rng, left), random_law(rng, operations - 1 - left))


def random_inputs(rng: np.random.Generator, rows: int, wide: float = 1.0) -> Array:
    """Draw each column from one of the nine ranges of Mistry 2023, section 3.3, stretched by ``wide``.

    Calls with equal generators use the same ranges.
    """
    ends = [RANGES[int(k)][0] for k in rng.integers(len(RANGES), size=INPUTS)]
    return np.stack([rng.uniform(wide * r.low, wide * r.high, rows) for r in ends], 1)


def inside(seed: int) -> Trial:
    """Try a random law of one to three operations."""
    for attempt in range(100):
        rng = np.random.default_rng([1, seed, attempt])
        law = random_law(rng, 1 + seed % 3)
        start = rng.integers(2**32)
        x, far = (random_inputs(np.random.default_rng(start), ROWS, wide) for wide in (1.0, 3.0))
        with np.errstate(all="ignore"):
            y, y_far = evaluate(law, x), evaluate(law, far)
        if np.isfinite(y).all() and np.isfinite(y_far).all() and np.ptp(y) > 1e-9 * np.abs(y).max():
            break
    began = time.perf_counter()
    found = search(x, y, noise=0.0, seed=seed)
    seconds = time.perf_counter() - began
    return judged("inside", f"{1 + seed % 3} operations", seed, found, far, law, seconds)


OUTSIDE = {  # functions of two columns that no law of the class equals
    "bessel": lambda a, b: special.j0(a) + b,
    "error": lambda a, b: special.erf(a / (1 + np.abs(a).max())) * b,
    "gamma": lambda a, b: special.gammaln(1 + np.abs(a)) - b,
    "larger": lambda a, b: np.maximum(a - a.mean(), (b - b.mean()) * a.std() / b.std()),
    "power": lambda a, b: (1 + np.abs(a)) ** (b / (1 + np.abs(b).max())),
    "integral": lambda a, b: special.sici(a)[0] * b,
    "floor": lambda a, b: np.floor(2 * (a - a.mean()) / a.std()) * b,
    "chance": lambda a, b: np.random.default_rng(int(abs(a[0]) * 1e6)).standard_normal(len(a)) + 0 * b,
    "tilted": lambda a, b: a * b + 1e-7 * special.j0(7 * a / np.abs(a).max()) * np.abs(a * b).mean(),
    "elliptic": lambda a, b: special.ellipk(0.9 * np.abs(a) / (1 + np.abs(a).max())) * b,
}


def outside(seed: int) -> Trial:
    """Try a target outside the class, or a law inside it with more noise than declared."""
    rng = np.random.default_rng([2, seed])
    x = random_inputs(rng, ROWS)
    names = list(OUTSIDE)
    if seed % 2:
        name, declared = names[seed // 2 % len(names)], 0.0
        i, j = rng.choice(INPUTS, 2, replace=False)
        y = OUTSIDE[name](x[:, i], x[:, j])
    else:
        declared = (0.0, 0.01, 0.05)[seed // 2 % 3]
        level = 10.0 ** rng.uniform(-9, -1) if declared == 0 else declared * rng.uniform(2, 10)
        name = f"noise {level:.1g} declared {declared:g}"
        y = np.zeros(ROWS)
        while not np.isfinite(y).all() or np.ptp(y) <= 1e-9 * np.abs(y).max():
            with np.errstate(all="ignore"):
                y = evaluate(random_law(rng, 1 + seed // 2 % 3), x)
        y = y + level * np.std(y) * rng.standard_normal(len(y))
    began = time.perf_counter()
    found = search(x, y, noise=declared, seed=seed)
    seconds = time.perf_counter() - began
    error = float(np.sqrt(np.mean((found.law.predict(x) - y) ** 2)) / np.std(y))
    formula = str(found.law)[:200]
    return Trial(
        "outside", name, seed, found.certificate.verdict, False, False, formula, error, round(seconds, 4)
    )


def jobs(options: Options) -> list[Job]:
    """List every published cell in both precisions, then random laws inside and targets outside the class."""
    found: list[Job] = []
    for cell in (*CELLS, *PRODUCTS):
        count = options.products if cell in PRODUCTS else options.seeds
        found += [Job("cells", cell.name, p, seed) for p in ("float64", "float32") for seed in range(count)]
    return found + [
        Job(suite, "", "", seed) for suite in ("inside", "outside") for seed in range(options.random)
    ]


def one(job: Job) -> Trial:
    """Try one problem."""
    if job.suite == "cells":
        return run_cell(replace(BY_NAME[job.cell], precision=job.precision), job.seed)
    return inside(job.seed) if job.suite == "inside" else outside(job.seed)


NOTE = (
    "Published rates are of single gradient runs with a unit that was given; the ladder picks the form itself, "
    "solves in closed form or by second-order steps, and rounds."
)
# Family of cells -> task and operation in the table of claims, and the unit whose claim must be there to know the best.
TASKS = {
    "div 10": ("single-module div, 10 inputs", "divide", "NMRU"),
    "div 2": ("single-module div, 2 inputs", "divide", "NMRU"),
    "add 10": ("single-module, 10 inputs", "add", "NAU"),
    "sub 100": ("single-module, 100 inputs", "subtract", "NAU"),
    "two-layer product": ("arithmetic dataset (100 inputs, 20 seeds)", "multiply", "NAU-sNMU U[1,5]"),
}


def published_best(cell: str) -> float | None:
    """Return the highest success rate published for a cell, or None if the best unit's rate is not published."""
    for start, (task, operation, needed) in TASKS.items():
        if cell.startswith(f"{start} "):
            where = cell.split(" ")[-2]  # the range; the last word is the precision
            rates = [c for c in claims(task, operation) if c.metric == "success_rate" and c.where == where]
            if needed in {c.unit for c in rates}:
                return max(c.value for c in rates)
    return None


def totals(trials: Sequence[Trial]) -> list[Row]:
    """Count per cell or kind of target: problems, certified, right, networks that agree; and the published best."""
    groups: dict[tuple[str, str], list[Trial]] = {}
    for o in trials:
        kind = o.cell if o.suite != "outside" else o.cell.split(" ")[0]
        groups.setdefault((o.suite, kind), []).append(o)
    return [
        {
            "suite": suite,
            "cell": kind,
            "problems": len(group),
            "certified": sum(o.verdict != "none" for o in group),
            "right": sum(o.right and o.verdict != "none" for o in group),
            "networks": sum(o.network for o in group),
            "seconds": round(float(np.median([o.seconds for o in group])), 4),
            "published_best": published_best(kind) if suite == "cells" else None,
        }
        for (suite, kind), group in groups.items()
    ]


BENCHMARK = harness.Benchmark(
    "ladder", NOTE, Options, Trial, jobs, one, totals, expected=lambda job: (job.suite, 0.05)
)

if __name__ == "__main__":
    sys.exit(harness.main(BENCHMARK))
