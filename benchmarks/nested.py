"""Trials on the nested formulas: the ladder with its general search beside Operon, in the same time on the same rows.

``python -m benchmarks.nested results/beyond/nested`` runs them. Operon takes part if pyoperon is installed.
"""

import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec

import numpy as np

from benchmarks import harness
from benchmarks.harness import Row, option
from benchmarks.laws.operon import operon
from benchmarks.laws.rivals import Fitted, nalm
from benchmarks.nested_formulas import Formula, formulas
from nalm.discover.law.expression import Array

NOTE = (
    "One run is a table of 500 rows without noise; no method is told that there is none. A law is right if it is the "
    "formula on rows of ranges wider by a fifth, up to a millionth of the target. The formulas were drawn before the "
    "search was written."
)
RIGHT = 1e-6  # rms error on the wider ranges over the rms of the target
METHODS: dict[str, Callable[..., Fitted]] = {"nalm": nalm, "operon": operon}


@dataclass(frozen=True)
class Options:
    """The time of a fit, and who takes part."""

    seconds: float = option(60.0, "time limit of a fit")
    methods: str = option(
        "", "some of nalm and operon, separated by commas; those that are installed if empty"
    )


@dataclass(frozen=True)
class Job:
    """One method on one formula."""

    method: str
    number: int
    seconds: float


@dataclass(frozen=True)
class Trial:
    """One formula and the law that a method found for it."""

    method: str
    number: int
    operations: int
    columns: int
    formula: str
    right: bool
    verdict: str  # empty for a method that certifies nothing
    error: float
    seconds: float
    law: str


def one(job: Job) -> Trial:
    """Fit one formula with one method."""
    formula = formulas()[job.number]
    x, y = formula.table()
    began = time.perf_counter()
    fitted = METHODS[job.method](x, y, formula.names, job.seconds, 0)
    seconds = time.perf_counter() - began
    error = error_of(formula, fitted.predict)
    return Trial(
        method=job.method,
        number=formula.number,
        operations=formula.operations,
        columns=len(formula.ranges),
        formula=str(formula),
        right=error <= RIGHT,
        verdict=fitted.verdict or "",
        error=float(f"{error:.4g}"),
        seconds=round(seconds, 3),
        law=" ".join(fitted.formula.split())[:200],
    )


def error_of(formula: Formula, predict: Callable[[Array], Array]) -> float:
    """Return the rms error on the wider ranges over the rms of the target; infinite if it is not finite."""
    x, y = formula.judged()
    with np.errstate(all="ignore"):
        error = float(np.sqrt(np.mean((predict(x) - y) ** 2) / np.mean(y**2)))
    return error if np.isfinite(error) else np.inf


def jobs(options: Options) -> list[Job]:
    """List every method on every formula."""
    named = [m for m in options.methods.split(",") if m]
    methods = named or [m for m in METHODS if m != "operon" or find_spec("pyoperon")]
    return [Job(m, f.number, options.seconds) for m in methods for f in formulas()]


def totals(trials: Sequence[Trial]) -> list[Row]:
    """Count per method and number of operations, and in all."""
    rows = []
    for method in dict.fromkeys(t.method for t in trials):
        mine = [t for t in trials if t.method == method]
        for count in (*sorted({t.operations for t in mine}), 0):
            group = [t for t in mine if not count or t.operations == count]
            rows.append(
                {
                    "method": method,
                    "operations": count or "all",
                    "problems": len(group),
                    "right": sum(t.right for t in group),
                    "certified": sum(t.verdict == "exact" for t in group),
                    "false_exact": sum(t.verdict == "exact" and not t.right for t in group),
                    "false_consistent": sum(t.verdict == "consistent" and not t.right for t in group),
                    "seconds": round(float(np.median([t.seconds for t in group])), 2),
                }
            )
    return rows


BENCHMARK = harness.Benchmark(
    "nested",
    NOTE,
    Options,
    Trial,
    jobs,
    one,
    totals,
    expected=lambda job: (job.method, job.seconds if job.method == "operon" else 5.0),
    workers=1,  # a fit may use all cores
)

if __name__ == "__main__":
    sys.exit(harness.main(BENCHMARK))
