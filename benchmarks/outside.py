"""Trials on targets that no law of the class equals: none of them may be called exact.

``python -m benchmarks.outside results/beyond/outside`` runs a thousand of them.
"""

import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks import harness
from benchmarks.harness import Row, option
from benchmarks.outside_targets import KINDS, Problem, target
from nalm.discover import search
from nalm.discover.law.expression import Array

NOTE = (
    "A target is a table of a function that no law of the class equals, of a function of the class that varies so "
    "slowly on the rows that others look like it, or of a law with more noise than declared. Calling a law exact is "
    "false, except where it is the slow function itself far outside the rows, up to a millionth."
)
RIGHT = 1e-6  # largest error far outside over the rms of the target


@dataclass(frozen=True)
class Options:
    """How many targets, and how long each is searched."""

    targets: int = option(1000, "targets")
    seconds: float = option(0.8, "time limit of a search")


@dataclass(frozen=True)
class Job:
    """One target."""

    seed: int
    seconds: float


@dataclass(frozen=True)
class Trial:
    """One target and what the ladder says of it."""

    kind: str
    name: str
    seed: int
    columns: int
    verdict: str
    false: bool  # called exact and is not
    stage: str
    seconds: float
    law: str


def one(job: Job) -> Trial:
    """Search for a law of one target."""
    kind, problem = target(job.seed)
    began = time.perf_counter()
    found = search(problem.x, problem.y, noise=problem.noise, seed=job.seed, max_time=job.seconds)
    seconds = time.perf_counter() - began
    verdict = str(found.certificate.verdict)
    law = " ".join(str(found.law).split())[:200]
    false = verdict == "exact" and not is_right(problem, found.law.predict)
    return Trial(
        kind,
        problem.name,
        job.seed,
        problem.x.shape[1],
        verdict,
        false,
        found.stage,
        round(seconds, 3),
        law,
    )


def is_right(problem: Problem, predict: Callable[[Array], Array]) -> bool:
    """Return whether a law agrees with the target on the far rows; False if there are none."""
    if not len(problem.far_y):
        return False
    with np.errstate(all="ignore"):
        off = np.abs(predict(problem.far_x) - problem.far_y).max()
    return bool(off <= RIGHT * np.sqrt(np.mean(problem.far_y**2)))


def jobs(options: Options) -> list[Job]:
    """List the targets."""
    return [Job(seed, options.seconds) for seed in range(options.targets)]


def totals(trials: Sequence[Trial]) -> list[Row]:
    """Count per kind, and in all."""
    rows = []
    for kind in (*KINDS, "all"):
        group = [t for t in trials if kind in (t.kind, "all")]
        if group:
            rows.append(
                {
                    "kind": kind,
                    "targets": len(group),
                    "exact": sum(t.verdict == "exact" for t in group),
                    "false": sum(t.false for t in group),
                    "seconds": round(float(np.median([t.seconds for t in group])), 3),
                }
            )
    return rows


BENCHMARK = harness.Benchmark(
    "outside",
    NOTE,
    Options,
    Trial,
    jobs,
    one,
    totals,
    expected=lambda job: ("search", job.seconds),
)

if __name__ == "__main__":
    sys.exit(harness.main(BENCHMARK))
