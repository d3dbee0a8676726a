"""Trials of compositions: the ladder, which searches, beside networks trained by gradient, on chapter 7's formulas.

``python -m benchmarks.compositions results/beyond/composition`` writes a line per problem and the totals.
"""

import csv
import datetime
import io
import itertools
import json
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch

from benchmarks.cells import CUMULATIVE, Cell, Truth
from nalm import __version__
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
    """Cumulative operations one after another on the operands."""

    def law(operands: Sequence[Any]) -> Any:
        first = operands[0]
        for name, other in zip(names, operands[1:], strict=True):
            first = CUMULATIVE[name](first, other)
        return first

    return law


def cells(steps: int, train: Range, test: Range, inputs: int) -> list[Cell]:
    """Every composition of so many operations on one range."""
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
class Trial:
    """One problem and what became of it."""

    method: str
    suite: str
    cell: str
    seed: int
    verdict: str
    right: bool  # certified, and the target to rounding on the test range
    formula: str
    seconds: float


def trial(method: str, suite: str, cell: Cell, seed: int) -> Trial:
    """One method on one table."""
    x, y = cell.sample(seed)
    began = time.perf_counter()
    found = METHODS[method](x, y, seed=seed)
    seconds = time.perf_counter() - began
    far, _ = cell.sample(seed, "test")
    with np.errstate(all="ignore"):
        target, unsure = bounded(cell.law(seed), far, U)
        law, loose = bounded(found.law.expression, far, U)
        right = bool(found.certificate) and bool((np.abs(law - target) <= SLACK * (loose + unsure)).all())
    verdict = found.certificate.verdict
    return Trial(method, suite, cell.name, seed, verdict, right, str(found.law)[:200], round(seconds, 3))


def trials(seeds: int, three: int) -> Iterator[Trial]:
    """All methods on all suites; formulas of three operations with fewer seeds, and only by trained networks."""
    for suite, group in SUITES.items():
        deep = suite.startswith("three")
        for method, cell in itertools.product(METHODS, group):
            if method != "untrained" or not deep:
                for seed in range(three if deep else seeds):
                    yield trial(method, suite, cell, seed)


def totals(found: Sequence[Trial]) -> list[dict[str, Any]]:
    """A line per method, suite and formula; formulas of three operations by their last one."""
    groups: dict[tuple[str, str, str], list[Trial]] = {}
    for t in found:
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


def main(path: str, seeds: int = 10, three: int = 2) -> None:
    """Run all trials; PATH.trials.csv holds a line per problem, PATH.json the totals and the origin."""
    target, began, found = Path(path), time.time(), list[Trial]()
    target.parent.mkdir(parents=True, exist_ok=True)
    for t in trials(seeds, three):
        found.append(t)
        if t.seed == 0:
            print(
                f"{time.time() - began:6.0f} s {t.method} {t.suite} {t.cell}: {t.formula}",
                file=sys.stderr,
                flush=True,
            )
    text = io.StringIO()
    writer = csv.DictWriter(text, list(Trial.__dataclass_fields__), lineterminator="\n")
    writer.writeheader()
    writer.writerows(asdict(t) for t in found)
    target.with_suffix(".trials.csv").write_text(text.getvalue(), encoding="utf-8", newline="\n")
    about = {
        "command": f"python -m benchmarks.compositions results/beyond/{target.name} {seeds} {three}",
        "nalm": __version__,
        "torch": torch.__version__,
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "seconds": round(time.time() - began, 1),
        "note": NOTE,
        "totals": totals(found),
    }
    target.with_suffix(".json").write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")
    for r in totals(found):
        counts = f"{r['right']:3d} of {r['problems']:3d}, {r['seconds']:.2f} s"
        print(f"{r['method']:12s} {r['suite']:36s} {r['cell']:10s} {counts}")


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
