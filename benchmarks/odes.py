"""Trials of ``nalm.ode`` on systems of a JSON file: ODEBench (one trajectory, judged on another start) and Strogatz.

``python -m benchmarks.odes PATH --systems odebench.json`` runs them. A file holds ``problems`` with ``equations``,
``parameters`` and ``initial_values``, or ``systems`` (name to equations) and ``problems`` with their ``starts``.
"""

import json
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import sympy
from scipy.integrate import solve_ivp

from benchmarks import harness
from benchmarks.harness import Row, option
from nalm.discover.law.expression import Array
from nalm.errors import NALMError
from nalm.ode.fit import fit
from nalm.ode.system import System

NOTE = (
    "Given: R2 on the trajectory that was fitted, without its noise; other: R2 from the other start; both are means "
    "over the variables. Equations right: the right-hand side is the true one within 1e-3 of its size in the box of "
    "all trajectories. Noise multiplies each value by 1 + noise * normal."
)
SAME = 1e-3
POINTS = 400  # in the box, where right-hand sides are compared


@dataclass(frozen=True)
class Options:
    """Which systems are tried, and how."""

    systems: str = option("", "the JSON file with the systems")
    noises: str = option("0", "levels of noise, separated by commas")
    only: str = option("", "numbers or names of systems, separated by commas; all if empty")
    restarts: int = option(10, "restarts of a fit")
    seconds: float = option(60.0, "time limit of a fit")


@dataclass(frozen=True)
class Job:
    """One fit."""

    file: str
    name: str
    noise: float
    restarts: int
    seconds: float


@dataclass(frozen=True)
class Trial:
    """The result of one fit: its verdict, its errors and its time."""

    name: str
    noise: float
    verdict: str
    given: float | None  # R2
    other: float | None  # R2; None where there is no other start, or a simulation fails
    right: int  # equations
    equations: int
    restarts: str
    formula: str
    flags: str
    seconds: float


@dataclass(frozen=True)
class Truth:
    """A system with its equations in SymPy, the starts that are fitted and the others, and its times."""

    name: str
    names: tuple[str, ...]
    equations: tuple[str, ...]
    starts: tuple[tuple[float, ...], ...]
    others: tuple[tuple[float, ...], ...]
    times: tuple[float, int]  # the end, and how many

    @property
    def t(self) -> Array:
        """The times of the samples."""
        return np.linspace(0.0, *self.times)

    def rates(self) -> Callable[[Array], Array]:
        """Return the right-hand side on states (rows, variables)."""
        symbols = sympy.symbols(self.names)
        made = [
            sympy.lambdify(symbols, sympy.sympify(e, {str(s): s for s in symbols})) for e in self.equations
        ]

        def rates(x: Array) -> Array:
            with np.errstate(all="ignore"):
                return np.stack([np.broadcast_to(f(*x.T), len(x)) for f in made], 1).astype(float)

        return rates

    def trajectory(self, start: Sequence[float]) -> Array:
        """Simulate the states at all times."""
        rates = self.rates()
        out = solve_ivp(
            lambda _, x: rates(x[None])[0], (0, self.times[0]), start, "LSODA", self.t, rtol=1e-11, atol=1e-13
        )
        return np.asarray(out.y.T)


@cache
def truths(file: str) -> dict[str, Truth]:
    """Read the systems of a file."""
    try:
        page = json.loads(Path(file).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise NALMError(f"{file!r} is not a file of systems: {error}; give one with --systems.") from None
    found = _pooled(page) if "systems" in page else [_single(p) for p in page["problems"]]
    return {truth.name: truth for truth in found}


def _single(problem: dict[str, Any]) -> Truth:
    """Return a system of ODEBench: 150 samples up to t = 10 from the first start, judged on the second."""
    equations = tuple(
        str(sympy.sympify(e, {n: sympy.Symbol(n) for n in problem["parameters"]}).subs(problem["parameters"]))
        for e in problem["equations"]
    )
    first, *others = (tuple(map(float, s)) for s in problem["initial_values"])
    names = tuple(f"x_{i}" for i in range(problem["dim"]))
    return Truth(str(problem["id"]), names, equations, (first,), tuple(others), (10.0, 150))


def _pooled(page: dict[str, Any]) -> list[Truth]:
    """Return the systems of Strogatz: four trajectories of 100 samples, step 0.1."""
    starts = {p["id"][:-1]: p["starts"] for p in page["problems"]}
    return [
        Truth(name, tuple(e), tuple(e.values()), tuple(tuple(s) for s in starts[name]), (), (9.9, 100))
        for name, e in page["systems"].items()
    ]


def one(job: Job) -> Trial:
    """Fit one system."""
    truth = truths(job.file)[job.name]
    clean = [truth.trajectory(s) for s in truth.starts]
    rng = np.random.default_rng([0, *job.name.encode()])
    x = [c * (1 + job.noise * rng.standard_normal(c.shape)) for c in clean]
    began = time.perf_counter()
    found = fit([truth.t] * len(x), x, truth.names, restarts=job.restarts, max_time=job.seconds)
    seconds = time.perf_counter() - began
    given = [
        score(found, truth, start, c) for start, c in zip(found.start or truth.starts, clean, strict=True)
    ]
    other = [score(found, truth, start, truth.trajectory(start)) for start in truth.others]
    box = np.concatenate([*clean, *(truth.trajectory(start) for start in truth.others)])
    return Trial(
        job.name,
        job.noise,
        found.verdict,
        _least(given),
        _least(other),
        sum(right(found, truth, box)),
        len(truth.names),
        "{} of {}".format(*found.restarts),
        "; ".join(found.formula.splitlines())[:400],
        "; ".join(found.flags)[:300],
        round(seconds, 2),
    )


def score(found: System, truth: Truth, start: Sequence[float], states: Array) -> float:
    """Return R2 of a simulation, the mean over the variables; minus infinity where it fails."""
    try:
        off = found.simulate(truth.t, start, max_time=60.0) - states
    except NALMError:
        return -np.inf
    spread = np.square(states - states.mean(0)).sum(0)
    return float(np.mean(1 - np.square(off).sum(0) / np.where(spread > 0, spread, 1.0)))


def right(found: System, truth: Truth, states: Array) -> list[bool]:
    """Return for every equation whether it agrees with the true one in the box around the states."""
    x = np.random.default_rng(0).uniform(states.min(0), states.max(0), (POINTS, states.shape[1]))
    wanted = truth.rates()(x)
    with np.errstate(all="ignore"):
        off = np.abs(found.rates(x) - wanted)
    size = np.median(np.abs(wanted), axis=0) + np.abs(wanted)
    return [bool(v) for v in np.quantile(off / np.where(size > 0, size, 1.0), 0.99, axis=0) < SAME]


def _least(values: Sequence[float]) -> float | None:
    least = min(values, default=-np.inf)
    return round(least, 6) if np.isfinite(least) else None


def jobs(options: Options) -> list[Job]:
    """List the fits."""
    try:
        noises = [float(word) for word in options.noises.split(",")]
    except ValueError:
        raise NALMError(
            f"Give levels of noise as numbers separated by commas, got {options.noises!r}."
        ) from None
    known = truths(options.systems)
    names = options.only.split(",") if options.only else list(known)
    if missing := [n for n in names if n not in known]:
        raise NALMError(f"{options.systems} has no system {missing[0]!r}; it has {', '.join(known)}.")
    return [
        Job(options.systems, name, noise, options.restarts, options.seconds)
        for noise in noises
        for name in names
    ]


def totals(trials: Sequence[Trial]) -> list[Row]:
    """Count per level of noise."""
    return [
        {
            "noise": noise,
            "systems": len(group),
            "given": sum((t.given or 0.0) > 0.9 for t in group),
            "other": sum((t.other or 0.0) > 0.9 for t in group),
            "all_right": sum(t.right == t.equations for t in group),
            "equations_right": sum(t.right for t in group),
            "exact": sum(t.verdict == "exact" for t in group),
            "false_exact": sum(t.verdict == "exact" and t.right < t.equations for t in group),
            "consistent": sum(t.verdict == "consistent" for t in group),
            "seconds": round(sum(t.seconds for t in group), 1),
        }
        for noise in dict.fromkeys(t.noise for t in trials)
        for group in [[t for t in trials if t.noise == noise]]
    ]


def shown(trials: Sequence[Trial]) -> str:
    """Return one line per fit, and the totals."""
    lines = [
        f"{t.name:20s} {t.noise:5g} {t.verdict:10s} {_text(t.given)} {_text(t.other)} {t.right}/{t.equations} "
        f"{t.restarts:8s} {t.seconds:6.1f} s  {t.formula}  [{t.flags}]"
        for t in trials
    ]
    return "\n".join([*lines, harness.table(totals(trials))])


def _text(value: float | None) -> str:
    return f"{value:8.4f}" if value is not None else "       -"


BENCHMARK = harness.Benchmark("odes", NOTE, Options, Trial, jobs, one, totals, show=shown)

if __name__ == "__main__":
    sys.exit(harness.main(BENCHMARK))
