"""Trials on rounded tables: the Feynman laws that are exact in float64, and targets that no law equals.

``python -m benchmarks.rounded OUT`` runs both; ``--laws 0`` or ``--targets 0`` leaves one out.
"""

import sys
import time
import zlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks import harness
from benchmarks.feynman import FRESH, RIGHT, form_error, laws
from benchmarks.harness import Row, option
from benchmarks.outside_targets import KINDS, LAWS, target
from nalm.discover import search
from nalm.discover.digits import significant
from nalm.discover.law.expression import Array, Node, evaluate
from nalm.discover.selection.printed import allowed

NOTE = (
    "x and y are rounded to so many significant digits. Laws: those of the Feynman database that a search in float64 "
    "calls exact; printed counts the verdict exact to the printed digits, right the form. Targets: functions that no "
    "law equals, or laws with visible noise; every other row is searched, and a verdict exact is false if the law does "
    "not hold on the rows between them, to one unit of the last printed place of y and what half a unit of x carries "
    "through. A function that hardly varies on its rows is a simple law to the digits that are printed."
)
LEVELS = (-2.5, -1.0)  # of the noise, over the spread of the target, as powers of 10


@dataclass(frozen=True)
class Options:
    """How many laws and targets, and how long each is searched."""

    laws: int = option(120, "laws of the Feynman database; 0: none")
    targets: int = option(1000, "targets that are no laws; 0: none")
    rows: int = option(200, "rows of a law")
    digits: int = option(4, "significant digits of x and y")
    seconds: float = option(20.0, "time limit of a search for a law")
    brief: float = option(4.0, "time limit of a search for a law of a target that has none")


@dataclass(frozen=True)
class Job:
    """One table."""

    law: str  # empty: a target without a law
    seed: int
    rows: int
    digits: int
    seconds: float


@dataclass(frozen=True)
class Trial:
    """One table and what was said of it."""

    kind: str  # law, or the kind of target
    name: str
    exact: bool  # in float64, before it was rounded
    verdict: str
    right: bool
    seconds: float
    law: str


def rounded(values: Array, digits: int) -> Array:
    """Round numbers to significant digits.

    >>> rounded(np.array([123.456, 0.0098765]), 4)
    array([1.235e+02, 9.876e-03])
    """
    return np.array([float(f"{v:.{digits - 1}e}") for v in values.ravel()]).reshape(values.shape)


def one(job: Job) -> Trial:
    """Search for the law of one rounded table."""
    return _law(job) if job.law else _target(job)


def _law(job: Job) -> Trial:
    law = laws()[job.law]
    rng = np.random.default_rng([zlib.crc32(job.law.encode()), job.digits])
    (x, y), (near, clean), fresh = law.rows(job.rows, rng), law.rows(FRESH, rng), law.rows(FRESH, rng)
    began = time.process_time()
    whole = search(x, y, law.inputs, noise=0.0, max_time=job.seconds)
    exact = str(whole.certificate.verdict) == "exact"
    found = (
        search(rounded(x, job.digits), rounded(y, job.digits), law.inputs, max_time=job.seconds)
        if exact
        else whole
    )
    right = form_error(found.law.expression, near, clean, *fresh) <= RIGHT
    seconds = round(time.process_time() - began, 3)
    text = " ".join(str(found.law).split())[:200]
    return Trial("law", job.law, exact, str(found.certificate.verdict), right, seconds, text)


def _target(job: Job) -> Trial:
    kind, problem = target(job.seed)
    x, y = problem.x, problem.y
    if kind == "noise":  # visible in the digits
        rng = np.random.default_rng([5, job.seed])
        y = LAWS[int(rng.integers(len(LAWS)))](x[:, 0], x[:, -1])
        y = y + 10 ** rng.uniform(*LEVELS) * float(np.std(y)) * rng.standard_normal(len(y))
    x, y = rounded(x, job.digits), rounded(y, job.digits)
    began = time.process_time()
    found = search(x[::2], y[::2], max_time=job.seconds)
    seconds = round(time.process_time() - began, 3)
    right = holds(found.law.expression, x[1::2], y[1::2], job.digits)
    text = " ".join(str(found.law).split())[:200]
    return Trial(kind, problem.name, False, str(found.certificate.verdict), right, seconds, text)


def holds(law: Node, x: Array, y: Array, digits: int) -> bool:
    """Return whether a law holds to the printed digits on rows that it was not fitted to."""
    units = significant(x, digits), significant(y, digits)
    with np.errstate(all="ignore"):
        off = np.abs(evaluate(law, x) - y)
        return bool((off <= units[1] / 2 + allowed(law, x, *units)).all())


def jobs(options: Options) -> list[Job]:
    """List the laws and the targets."""
    names = list(laws())[: options.laws]
    return [Job(name, 0, options.rows, options.digits, options.seconds) for name in names] + [
        Job("", seed, 0, options.digits, options.brief) for seed in range(options.targets)
    ]


def totals(trials: Sequence[Trial]) -> list[Row]:
    """Count the laws, the targets of each kind, and all targets."""
    rows = []
    for kind in ("law", *KINDS, "targets"):
        group = [t for t in trials if t.kind == kind or (kind == "targets" and t.kind != "law")]
        wanted = [t for t in group if t.exact or kind != "law"]
        said = [t for t in wanted if t.verdict.startswith("exact")]
        if group:
            rows.append(
                {
                    "kind": kind,
                    "tables": len(group),
                    "exact_unrounded": sum(t.exact for t in group),
                    "printed": len(said),
                    "right": sum(t.right for t in wanted),
                    "false": sum(not t.right for t in said),
                    "seconds": round(float(np.median([t.seconds for t in group])), 2),
                }
            )
    return rows


BENCHMARK = harness.Benchmark(
    "rounded", NOTE, Options, Trial, jobs, one, totals, expected=lambda job: (job.law and "law", job.seconds)
)

if __name__ == "__main__":
    sys.exit(harness.main(BENCHMARK))
