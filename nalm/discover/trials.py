"""Trials of the ladder: published cells, random laws inside its class, and targets outside of it.

``python -m nalm.discover.trials FOLDER`` writes one line per problem to FOLDER/trials.csv and prints totals.
"""

import csv
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np
import torch

from nalm.discover.cells import CELLS, PRODUCTS, RANGES, Cell
from nalm.discover.columns import PAIRS
from nalm.discover.expression import Array, Input, Node, bounded, evaluate
from nalm.discover.ladder import Discovery, search
from nalm.discover.law import Law
from nalm.discover.resolution import SLACK

OPERATIONS = ("add", "subtract", "multiply", "divide")
INPUTS, ROWS, U = 5, 600, 2.0**-53


@dataclass(frozen=True)
class Outcome:
    """One problem and what became of it."""

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
) -> Outcome:
    """Compare the law with the target on inputs of the test range, both to their rounding."""
    with np.errstate(all="ignore"):
        y, unsure = bounded(truth, x, U)
        law, loose = bounded(found.law.expression, x, U)
        right = bool((np.abs(law - y) <= SLACK * (loose + unsure)).all())
        error = float(np.sqrt(np.mean((law - y) ** 2) / np.mean(y**2)))
    verdict = found.certificate.verdict
    network = bool(
        verdict != "none" and all(agrees(found.law, x, dtype) for dtype in (torch.float32, torch.float64))
    )
    return Outcome(suite, cell, seed, verdict, right, network, str(found.law)[:200], error, round(seconds, 4))


@torch.no_grad()
def agrees(law: Law, x: Array, dtype: torch.dtype) -> bool:
    """Whether the law's network computes it to the rounding of a precision."""
    inputs = torch.from_numpy(x).to(dtype)
    out = law.to_module(dtype)(inputs)[:, 0].double().numpy()
    with np.errstate(all="ignore"):
        y, bound = bounded(law.expression, inputs.double().numpy(), torch.finfo(dtype).eps / 2)
    fine = np.isfinite(y) & (bound < 0.01 * np.abs(y))  # elsewhere nothing is known of the value
    return bool((np.abs(out - y)[fine] <= SLACK * bound[fine]).all())


def run_cell(cell: Cell, seed: int) -> Outcome:
    """One seed of a published cell."""
    x, y = cell.sample(seed)
    began = time.perf_counter()
    found = search(x, y, seed=seed)
    seconds = time.perf_counter() - began
    far, _ = cell.sample(seed, "test")
    return judged("cells", f"{cell.name} {cell.precision}", seed, found, far, cell.law(seed), seconds)


def random_law(rng: np.random.Generator, operations: int) -> Node:
    """A tree of so many operations, +, -, * or /, over five inputs, which may repeat.

    An operation's budget is split at random between its two sides.
    """
    if operations == 0:
        return Input(int(rng.integers(INPUTS)))
    left = int(rng.integers(operations))
    name = str(rng.choice(OPERATIONS))
    return PAIRS[name](random_law(rng, left), random_law(rng, operations - 1 - left))


def random_inputs(rng: np.random.Generator, rows: int, wide: float = 1.0) -> Array:
    """Each column from one of the nine ranges, the same for every call that starts alike; stretched by wide."""
    ends = [RANGES[int(k)][0] for k in rng.integers(len(RANGES), size=INPUTS)]
    return np.stack([rng.uniform(wide * r.low, wide * r.high, rows) for r in ends], 1)


def inside(seed: int) -> Outcome:
    """A random law of one to three operations."""
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
    found = search(x, y, seed=seed)
    seconds = time.perf_counter() - began
    return judged("inside", f"{1 + seed % 3} operations", seed, found, far, law, seconds)


OUTSIDE = {  # functions of two columns that no law of the class equals
    "sine": lambda a, b: np.sin(a) + b,
    "exponential": lambda a, b: np.exp(a / (1 + np.abs(a).max())) * b,
    "logarithm": lambda a, b: np.log(1 + np.abs(a)) - b,
    "larger": lambda a, b: np.maximum(a - a.mean(), (b - b.mean()) * a.std() / b.std()),
    "size": lambda a, b: np.abs(a - a.mean()) + b,
    "tangent": lambda a, b: np.tanh(a) * b,
    "floor": lambda a, b: np.floor(2 * (a - a.mean()) / a.std()) * b,
    "chance": lambda a, b: np.random.default_rng(int(abs(a[0]) * 1e6)).standard_normal(len(a)) + 0 * b,
    "tilted": lambda a, b: a * b + 1e-7 * np.sin(7 * a / np.abs(a).max()) * np.abs(a * b).mean(),
    "angle": lambda a, b: np.arctan2(a, b),
}


def outside(seed: int) -> Outcome:
    """A target outside the class, or one inside it with noise above the declared level."""
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
    return Outcome(
        "outside", name, seed, found.certificate.verdict, False, False, formula, error, round(seconds, 4)
    )


def trials(seeds: int = 100, products: int = 20, random: int = 1000) -> Iterator[Outcome]:
    """Every published cell in both precisions, then random laws inside and targets outside the class."""
    for cells, count in ((CELLS, seeds), (PRODUCTS, products)):
        for cell in cells:
            for precision in ("float64", "float32"):
                yield from (run_cell(replace(cell, precision=precision), seed) for seed in range(count))
    yield from (inside(seed) for seed in range(random))
    yield from (outside(seed) for seed in range(random))


def main(folder: str, seeds: int = 100, products: int = 20, random: int = 1000) -> None:
    """Run all trials, write them to FOLDER/trials.csv as they come, and print a line per cell."""
    Path(folder).mkdir(parents=True, exist_ok=True)
    totals: dict[tuple[str, str], list[Outcome]] = {}
    with (Path(folder) / "trials.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, list(Outcome.__dataclass_fields__))
        writer.writeheader()
        for outcome in trials(seeds, products, random):
            writer.writerow(asdict(outcome))
            file.flush()
            kind = outcome.cell if outcome.suite != "outside" else outcome.cell.split(" ")[0]
            totals.setdefault((outcome.suite, kind), []).append(outcome)
    for (suite, kind), group in totals.items():
        certified = sum(o.verdict != "none" for o in group)
        right = sum(o.right and o.verdict != "none" for o in group)
        networks = sum(o.network for o in group)
        counts = f"certified {certified:4d} right {right:4d} networks {networks:4d} of {len(group):4d}"
        print(f"{suite:8s} {kind:45s} {counts}, {np.median([o.seconds for o in group]):.4f} s")


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
