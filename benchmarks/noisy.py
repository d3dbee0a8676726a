"""Trials on the algebraic Feynman laws under noise, with few rows, and with outliers: is ``consistent`` right?

``python -m benchmarks.noisy OUT --noise 0.01,0.1 --rows 30,100,1000`` draws tables with noise, and ``--outliers``
also draws each with 5% gross outliers. gplearn and Operon take part if they are named and installed.
"""

import sys
import time
import zlib
from collections.abc import Sequence, Set
from dataclasses import dataclass
from functools import cache

import numpy as np
import sympy
from numpy.typing import NDArray

from benchmarks import harness
from benchmarks.feynman import FRESH, RIGHT, FeynmanLaw, error_of, form_error, laws
from benchmarks.harness import Row, option
from benchmarks.laws.operon import operon
from benchmarks.laws.refit import refitted
from benchmarks.laws.rivals import Fitted, gplearn
from nalm.discover import Discovery, search
from nalm.discover.form.text import read_form
from nalm.discover.law.expression import Array, Node
from nalm.errors import NALMError

NOTE = (
    "Rows are drawn uniformly from the published ranges; the noise is normal, its standard deviation a share of the "
    "rms of the target. Right: the first choice has the form of the law, that is, it equals the clean target on other "
    "rows once its numbers are fitted again to clean rows, and none of them fades. Named: the form is the first choice "
    "or among the alternatives that the certificate lists. For gplearn, and for Operon's own choice from its front of "
    "error and length, it is enough that the formula does so as it is or with its numbers fitted again. Outliers: 5% "
    "of the rows are times or over 10; kept are the laws right with them of those that are right "
    "without, caught is the share of them that the certificates of these name. Seconds are those of the processor."
)
SHARE, FACTOR = 0.05, 10.0
METHODS = ("nalm", "gplearn", "operon")
ALTERNATIVES = 5
SAID, SPARED = ("named", "listed", "consistent", "consistent_right"), ("kept", "of", "caught")


@dataclass(frozen=True)
class Options:
    """The noise, the rows, the time of a search, and who takes part."""

    noise: str = option("0.01,0.1", "levels of noise, separated by commas")
    rows: str = option("30,100,1000", "numbers of rows, separated by commas")
    outliers: bool = option(False, "draw every table also with outliers")
    methods: str = option("nalm", "some of nalm, gplearn and operon")
    every: int = option(1, "take one law of so many")
    seconds: float = option(10.0, "time limit of a search")


@dataclass(frozen=True)
class Job:
    """One method on one table."""

    method: str
    name: str
    noise: float
    rows: int
    outliers: bool
    seconds: float


@dataclass(frozen=True)
class Trial:
    """One table and what was found."""

    method: str
    name: str
    noise: float
    rows: int
    outliers: bool
    verdict: str  # empty for a method without verdicts
    right: bool
    named: bool
    listed: bool  # on the front
    caught: float  # share of the outliers that the certificate names
    seconds: float
    law: str


@cache
def algebraic() -> list[str]:
    """List the laws without functions; roots are powers."""
    return [name for name, law in laws().items() if not _read(law).atoms(sympy.Function)]


def _read(law: FeynmanLaw) -> sympy.Expr:
    symbols = {name: sympy.Symbol(name, positive=True) for name in law.inputs}
    return sympy.sympify(law.formula, locals=symbols)


def one(job: Job) -> Trial:
    """Search for the law of one table."""
    law = laws()[job.name]
    rng = np.random.default_rng([zlib.crc32(job.name.encode()), round(1e6 * job.noise), job.rows])
    (x, clean), (near, exact), fresh = law.rows(job.rows, rng), law.rows(FRESH, rng), law.rows(FRESH, rng)
    y = clean + job.noise * float(np.sqrt(np.mean(clean**2))) * rng.standard_normal(len(clean))
    far = rng.choice(len(y), max(1, round(SHARE * len(y))), replace=False)
    if job.outliers:
        y[far] *= FACTOR ** rng.choice([-1, 1], len(far))

    def is_right(node: Node | None) -> bool:
        return node is not None and form_error(node, near, exact, *fresh) <= RIGHT

    began, verdict, named, listed, caught = time.process_time(), "", False, False, 0.0
    if job.method == "nalm":
        found = search(x, y, law.inputs, max_time=job.seconds)
        seconds = time.process_time() - began
        text, verdict, right = str(found.law), str(found.certificate.verdict), is_right(found.law.expression)
        others = found.certificate.alternatives[:ALTERNATIVES]
        named = right or any(is_right(read(text, law.inputs)) for text in others)
        listed = right or any(is_right(c.law.expression) for c in found.candidates[1:])
        caught = _caught(found, far)
    else:
        fitted = _rival(job, x, y, law.inputs)
        seconds, text = time.process_time() - began, fitted.formula
        columns = law.inputs if job.method == "gplearn" else [f"X{i + 1}" for i in range(len(law.inputs))]
        again = refitted(text, columns, near, exact)
        right = min(error_of(fitted.predict, *fresh), error_of(again, *fresh)) <= RIGHT
    shown = " ".join(text.split())[:200]
    return Trial(
        job.method,
        job.name,
        job.noise,
        job.rows,
        job.outliers,
        verdict,
        right,
        named,
        listed,
        caught,
        round(seconds, 3),
        shown,
    )


def _rival(job: Job, x: Array, y: Array, names: Sequence[str]) -> Fitted:
    if job.method == "gplearn":
        return gplearn(x, y, names, job.seconds, 0)
    return operon(x, y, names, job.seconds, 0, objectives=("r2", "length"), threads=1)


def _caught(found: Discovery, far: NDArray[np.int_]) -> float:
    return float(np.mean([1 + row in found.certificate.outliers for row in far]))


def read(text: str, names: Sequence[str]) -> Node | None:
    """Read a formula as the law of some columns; None if it is none of the class.

    >>> read("b + a", ["a", "b"]) == read("a + b", ["a", "b"])
    True
    """
    try:
        return read_form(f"{text} + zero", names).node({"zero": 0.0})
    except NALMError:
        return None


def jobs(options: Options) -> list[Job]:
    """List every method on every table."""
    methods = options.methods.split(",")
    if unknown := sorted({*methods} - {*METHODS}):
        raise NALMError(f"{unknown[0]!r} is no method: name some of {', '.join(METHODS)}.")
    return [
        Job(method, name, float(level), int(rows), far, options.seconds)
        for method in methods
        for level in options.noise.split(",")
        for rows in options.rows.split(",")
        for far in ((False, True) if options.outliers else (False,))
        for name in algebraic()[:: options.every]
    ]


def _said(group: Sequence[Trial]) -> Row:
    """Count what certificates say, which other methods do not have."""
    said = [t for t in group if t.verdict == "consistent"]
    counts = (
        (t.named for t in group),
        (t.listed for t in group),
        (True for _ in said),
        (t.named for t in said),
    )
    return dict(zip(SAID, map(sum, counts), strict=True))


def _spared(group: Sequence[Trial], before: Set[str]) -> Row:
    """Count the laws that are right with outliers, too, and how many of the outliers their certificates name."""
    kept = [t for t in group if t.right and t.name in before]
    caught = round(float(np.mean([t.caught for t in kept])), 2) if kept else None
    return dict(zip(SPARED, (len(kept), len(before), caught), strict=True))


def totals(trials: Sequence[Trial]) -> list[Row]:
    """Count per method, level of noise and number of rows."""
    rows = []
    for group_of in dict.fromkeys((t.method, t.noise, t.rows, t.outliers) for t in trials):
        group = [t for t in trials if (t.method, t.noise, t.rows, t.outliers) == group_of]
        before = {
            t.name
            for t in trials
            if t.right and (t.method, t.noise, t.rows, t.outliers) == (*group_of[:3], False)
        }
        rows.append(
            {
                **dict(zip(("method", "noise", "rows", "outliers"), group_of, strict=True)),
                "laws": len(group),
                "right": sum(t.right for t in group),
                **(_said(group) if group_of[0] == "nalm" else dict.fromkeys(SAID)),
                **(_spared(group, before) if group_of[3] else dict.fromkeys(SPARED)),
                "seconds": round(float(np.median([t.seconds for t in group])), 2),
            }
        )
    return rows


BENCHMARK = harness.Benchmark(
    "noisy", NOTE, Options, Trial, jobs, one, totals, expected=lambda job: (job.method, job.seconds)
)

if __name__ == "__main__":
    sys.exit(harness.main(BENCHMARK))
