"""Trials of ``nalm.ode`` on known systems beside SINDy with polynomials; neither sees the equations.

``python -m benchmarks.trajectories results/beyond/ode`` runs them.
"""

import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks import harness
from benchmarks.harness import Row, option
from benchmarks.known_systems import KNOWN, Known, Part, parts
from benchmarks.sindy import sindy
from nalm.discover.law.expression import Array
from nalm.errors import NALMError
from nalm.experiments.published import claims
from nalm.ode.fit import fit
from nalm.ode.system import System

BY_NAME = {known.name: known for known in KNOWN}
NOTE = (
    "Structure right: the terms of every equation are the true ones, exponents within 0.05. Noise is a share of each "
    "variable's spread. Error at new starts: rms over the spread, the worst of three. SINDy has polynomials of degree "
    "2 or 3, smoothed derivatives under noise, and the degree and threshold that describe the samples best."
)


@dataclass(frozen=True)
class Options:
    """How many trajectories are tried, and how long a fit may take."""

    seeds: int = option(3, "seeds of each system and level of noise; one without noise")
    seconds: float = option(60.0, "time limit of a fit")
    noises: str = option("0,0.001,0.01,0.03", "levels of noise, separated by commas")


@dataclass(frozen=True)
class Job:
    """One method on one noisy trajectory."""

    method: str
    system: str
    noise: float
    seed: int
    seconds: float  # at most


@dataclass(frozen=True)
class Trial:
    """One trajectory and the system that a method found for it."""

    method: str
    system: str
    noise: float
    seed: int
    verdict: str
    right: bool  # the same terms, exponents within 0.05
    exponent_error: float | None  # the largest, of the terms that are right
    rate_error: float | None  # the largest, relative
    new_starts: float | None  # rms over the spread; None where the simulation fails
    restarts: str  # how many found this structure by themselves
    formula: str
    seconds: float


def one(job: Job) -> Trial:
    """Fit one noisy trajectory and compare the result with the true system."""
    known = BY_NAME[job.system]
    t, x = known.trajectory(job.noise, job.seed)
    began = time.perf_counter()
    found = METHODS[job.method](t, x, known, job.noise, job.seed, job.seconds)
    seconds = time.perf_counter() - began
    right, exponent, rate = compared(found, known)
    agreed = "{} of {}".format(*found.restarts) if found.restarts[1] else ""
    return Trial(
        job.method,
        known.name,
        job.noise,
        job.seed,
        found.verdict,
        right,
        exponent,
        rate,
        at_new_starts(found, known),
        agreed,
        "; ".join(found.formula.splitlines())[:400],
        round(seconds, 2),
    )


def ours(t: Array, x: Array, known: Known, noise: float, seed: int, time_limit: float) -> System:
    """Fit with ``nalm.ode.fit`` and its default settings."""
    return fit(t, x, known.names, seed=seed, max_time=time_limit)


METHODS = {"nalm.ode": ours, "pysindy": sindy}


def compared(found: System, known: Known) -> tuple[bool, float | None, float | None]:
    """Return whether the terms are the true ones, and the largest errors of exponents and rates of true terms."""
    right, exponents, rates = True, [0.0], [0.0]
    for law, truth in zip(found.laws, known.parts, strict=True):
        mine = parts(law)
        right &= len(mine) == len(truth)
        for wanted in truth:
            near = [p for p in mine if _far(p, wanted) < 0.25]
            if not near:
                right = False
                continue
            best = min(near, key=lambda p: _far(p, wanted))
            exponents.append(_far(best, wanted))
            rates.append(abs(best.rate / wanted.rate - 1))
            if wanted.below is not None:
                rates.append(abs(best.half / wanted.half - 1))
    some = len(exponents) > 1
    return right and max(exponents) <= 0.05, max(exponents) if some else None, max(rates) if some else None


def _far(a: Part, b: Part) -> float:
    """Return the largest difference of exponents; infinite for terms of another shape."""
    if a.below != b.below or [p != 0 for p in a.powers] != [p != 0 for p in b.powers]:
        return np.inf
    return max(abs(p - q) for p, q in zip(a.powers, b.powers, strict=True))


def at_new_starts(found: System, known: Known) -> float | None:
    """Return the largest error of simulations from initial states that were not fitted; None if one fails."""
    worst = 0.0
    for start in known.tests:
        t, truth = known.trajectory(start=start)
        try:
            off = (found.simulate(t, start) - truth) / truth.std(0)
        except NALMError:
            return None
        worst = max(worst, float(np.sqrt(np.mean(off**2))))
    return worst


def jobs(options: Options) -> list[Job]:
    """List every method on every system at every level of noise; without noise there is one trajectory."""
    try:
        noises = [float(word) for word in options.noises.split(",")]
    except ValueError:
        raise NALMError(
            f"Give levels of noise as numbers separated by commas, got {options.noises!r}."
        ) from None
    return [
        Job(method, known.name, noise, seed, options.seconds)
        for known in KNOWN
        for noise in noises
        for seed in range(options.seeds if noise else 1)
        for method in METHODS
    ]


def totals(trials: Sequence[Trial]) -> list[Row]:
    """Count per method, system and level of noise."""
    groups: dict[tuple[str, str, float], list[Trial]] = {}
    for t in trials:
        groups.setdefault((t.method, t.system, t.noise), []).append(t)
    return [
        {
            "method": method,
            "system": system,
            "noise": noise,
            "trials": len(group),
            "right": sum(t.right for t in group),
            "exponent_error": _median([t.exponent_error for t in group]),
            "rate_error": _median([t.rate_error for t in group]),
            "new_starts": _median([t.new_starts for t in group]),
            "verdicts": {v: sum(t.verdict == v for t in group) for v in ("exact", "consistent", "none")},
            "restarts": group[0].restarts,
            "seconds": _median([t.seconds for t in group]),
            "formula": group[0].formula,
        }
        for (method, system, noise), group in groups.items()
    ]


def _median(values: Sequence[float | None]) -> float | None:
    """Return the median, where None counts as infinite; None if the median is infinite."""
    middle = float(np.median([np.inf if v is None else v for v in values]))
    return float(f"{middle:.3g}") if np.isfinite(middle) else None


def published() -> dict[str, float]:
    """Return the exponents that Heim 2020 reads off its best network for the fractional SIR model."""
    return {c.metric: c.value for c in claims("fSIR NODE", units=("RealNPU best",))}


BENCHMARK = harness.Benchmark(
    "trajectories",
    NOTE,
    Options,
    Trial,
    jobs,
    one,
    totals,
    facts=lambda options: {"published": published()},
    expected=lambda job: (job.method, 15.0),
)

if __name__ == "__main__":
    sys.exit(harness.main(BENCHMARK))
