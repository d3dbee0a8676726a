"""Trials of compositions on the formulas of Mistry 2023, chapter 7: the ladder beside a network trained by gradient.

``python -m benchmarks.compositions results/beyond/composition`` runs them.
"""

import itertools
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from benchmarks import harness
from benchmarks.cells import CUMULATIVE, Cell, Truth
from benchmarks.harness import Row, option
from nalm.config import Range, mirrored
from nalm.discover import Discovery, search
from nalm.discover.certificate.resolution import SLACK
from nalm.discover.composition import Composed, compose
from nalm.discover.law.expression import bounded

U = 2.0**-53
NOTE = (
    "One run is a table of 600 rows. The ladder searches and solves; it is not a trained network. The composition is "
    "one network of units, trained by gradient from 64 starts in each of four populations with one setting for all "
    "formulas, snapped, and certified on rows it never saw; its last sum is solved. Untrained: its starts as drawn."
)


def truth(*names: str) -> Truth:
    """Return the law that applies cumulative operations one after another to the operands."""

    def law(operands: Sequence[Any]) -> Any:
        first = operands[0]
        for name, other in zip(names, operands[1:], strict=True):
            first = CUMULATIVE[name](first, other)
        return first

    return law


def cells(steps: int, train: Range, test: Range, inputs: int) -> list[Cell]:
    """List every composition of ``steps`` operations on one range."""
    return [
        Cell("-".join(names), truth(*names), steps + 1, inputs, train, test)
        for names in itertools.product(CUMULATIVE, repeat=steps)
    ]


POSITIVE = Range(1, 2), Range(2, 6)
SUITES: dict[str, list[Cell]] = {
    "U[1,2), 4 inputs": cells(2, *POSITIVE, 4),
    "U[1.1,1.2), 4 inputs": cells(2, Range(1.1, 1.2), Range(1.2, 6), 4),
    "U[-2,2), 4 inputs": cells(2, Range(-2, 2), mirrored(-6, -2, 2, 6), 4),
    "U[1,2), 10 inputs": cells(2, *POSITIVE, 10),
    "three operations, U[1,2), 5 inputs": cells(3, *POSITIVE, 5),
}
METHODS: dict[str, Callable[..., Discovery | Composed]] = {
    "ladder": partial(search, noise=0.0),
    "composition": compose,
    "untrained": lambda x, y, seed: compose(x, y, seed=seed, steps=0),
}


@dataclass(frozen=True)
class Options:
    """How many tables of each formula are tried."""

    seeds: int = option(10, "seeds of each formula of two operations")
    three: int = option(2, "seeds of each formula of three operations")


@dataclass(frozen=True)
class Job:
    """One method on one table."""

    method: str
    suite: str
    cell: str
    seed: int


@dataclass(frozen=True)
class Trial:
    """One table and the law that a method found for it."""

    method: str
    suite: str
    cell: str
    seed: int
    verdict: str
    right: bool  # certified, and the target to rounding on the test range
    formula: str
    seconds: float


def one(job: Job) -> Trial:
    """Try one method on one table."""
    (cell,) = (c for c in SUITES[job.suite] if c.name == job.cell)
    x, y = cell.sample(job.seed)
    began = time.perf_counter()
    found = METHODS[job.method](x, y, seed=job.seed)
    seconds = time.perf_counter() - began
    far, _ = cell.sample(job.seed, "test")
    with np.errstate(all="ignore"):
        target, unsure = bounded(cell.law(job.seed), far, U)
        law, loose = bounded(found.law.expression, far, U)
        right = bool(found.certificate) and bool((np.abs(law - target) <= SLACK * (loose + unsure)).all())
    verdict, formula = found.certificate.verdict, str(found.law)[:200]
    return Trial(job.method, job.suite, job.cell, job.seed, verdict, right, formula, round(seconds, 3))


def jobs(options: Options) -> list[Job]:
    """List all methods on all suites; formulas of three operations with fewer seeds and without untrained starts."""
    found = []
    for suite, group in SUITES.items():
        deep = suite.startswith("three")
        for method, cell in itertools.product(METHODS, group):
            if method != "untrained" or not deep:
                count = options.three if deep else options.seeds
                found += [Job(method, suite, cell.name, seed) for seed in range(count)]
    return found


def totals(trials: Sequence[Trial]) -> list[Row]:
    """Count per method, suite and formula; formulas of three operations are grouped by their last operation."""
    groups: dict[tuple[str, str, str], list[Trial]] = {}
    for t in trials:
        name = t.cell if t.cell.count("-") < 2 else f"...-{t.cell.split('-')[-1]}"
        groups.setdefault((t.method, t.suite, name), []).append(t)
    return [
        {
            "method": method,
            "suite": suite,
            "cell": cell,
            "problems": len(group),
            "certified": sum(t.verdict == "exact" for t in group),
            "right": sum(t.right for t in group),
            "seconds": round(float(np.median([t.seconds for t in group])), 3),
            "formula": group[0].formula,
        }
        for (method, suite, cell), group in groups.items()
    ]


BENCHMARK = harness.Benchmark(
    "compositions",
    NOTE,
    Options,
    Trial,
    jobs,
    one,
    totals,
    expected=lambda job: (job.method, 0.03 if job.method == "ladder" else 2.0),
    workers=1,  # a composition trains its populations with all threads
)

if __name__ == "__main__":
    sys.exit(harness.main(BENCHMARK))
