"""Trials on the 120 laws of the Feynman database: the ladder beside Operon and gplearn, without noise and with it.

``python -m benchmarks.feynman results/beyond/feynman`` runs them. The others take part if they are named and installed.
"""

import csv
import importlib.resources
import sys
import time
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
import sympy

from benchmarks import harness
from benchmarks.harness import Row, option
from benchmarks.laws.contestants import CONTESTANTS
from benchmarks.laws.refit import refitted
from benchmarks.laws.rivals import Fitted
from nalm.discover import search
from nalm.discover.fit.least_squares import refined, tangent
from nalm.discover.fit.snap import movable
from nalm.discover.law.expression import Array, Node, evaluate, numbers
from nalm.errors import NALMError

NOTE = (
    "Rows are drawn uniformly from the published ranges; the noise is normal, its standard deviation a share of the "
    "rms of the target, and no method is told it. A law is right if it equals the clean target on other rows of these "
    "ranges up to a millionth of its rms; under noise, if it does so once its numbers are fitted again to clean rows, "
    "and none of them fades. For Operon and gplearn it is enough that the formula does so as it is or with its numbers "
    "fitted again. A certificate exact is false above a billionth."
)
ROWS, FRESH = 1000, 2000
RIGHT, EXACT = 1e-6, 1e-9


@dataclass(frozen=True)
class FeynmanLaw:
    """A formula, its inputs with their ranges and units, and the unit of its value."""

    name: str
    formula: str
    inputs: tuple[str, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    units: tuple[str, ...]
    unit: str

    def values(self, x: Array) -> Array:
        """Evaluate the formula on every row."""
        with np.errstate(all="ignore"):
            return np.asarray(_compiled(self.formula, self.inputs)(*x.T) * np.ones(len(x)))

    def rows(self, count: int, rng: np.random.Generator) -> tuple[Array, Array]:
        """Draw rows on which the formula has a finite value."""
        x = rng.uniform(self.low, self.high, (2 * count, len(self.inputs)))
        y = self.values(x)
        fine = np.flatnonzero(np.isfinite(y))[:count]
        return x[fine], y[fine]


@cache
def _compiled(formula: str, inputs: tuple[str, ...]) -> Callable[..., Array]:
    symbols = [sympy.Symbol(name) for name in inputs]
    read = sympy.sympify(formula, locals=dict(zip(inputs, symbols, strict=True)))
    return sympy.lambdify(symbols, read, "numpy")


@cache
def laws() -> dict[str, FeynmanLaw]:
    """Read the laws by name."""
    text = importlib.resources.files("benchmarks").joinpath("data", "feynman.csv").read_text(encoding="utf-8")
    found = {}
    for row in csv.DictReader(text.splitlines()):
        low, high = (tuple(map(float, row[key].split())) for key in ("low", "high"))
        names, units = (tuple(row[key].split()) for key in ("variables", "units"))
        found[row["name"]] = FeynmanLaw(row["name"], row["formula"], names, low, high, units, row["unit"])
    return found


@dataclass(frozen=True)
class Options:
    """The laws, the noise, the time of a fit, and who takes part."""

    noise: str = option("0", "levels of noise, separated by commas")
    methods: str = option("nalm", "some of nalm, units (nalm with units of measurement), operon and gplearn")
    names: str = option("", "some laws, separated by commas; all if empty")
    every: int = option(1, "take one law of so many")
    seconds: float = option(60.0, "time limit of a fit")


@dataclass(frozen=True)
class Job:
    """One method on one law at one level of noise."""

    method: str
    name: str
    noise: float
    seconds: float


@dataclass(frozen=True)
class Trial:
    """One law and what a method found for it."""

    method: str
    name: str
    noise: float
    right: bool
    verdict: str  # empty for a method that certifies nothing
    error: float  # on fresh rows without noise: rms over the rms of the target
    stage: str
    seconds: float
    law: str
    formula: str


def one(job: Job) -> Trial:
    """Fit one law with one method."""
    law = laws()[job.name]
    rng = np.random.default_rng([zlib.crc32(job.name.encode()), round(1e6 * job.noise)])
    (x, clean), fresh = law.rows(ROWS, rng), law.rows(FRESH, rng)
    y = clean + job.noise * float(np.sqrt(np.mean(clean**2))) * rng.standard_normal(len(clean))
    stage, verdict, node = "", "", None
    began = time.perf_counter()
    if job.method in CONTESTANTS:
        fitted = CONTESTANTS[job.method](x, y, law.inputs, job.seconds, 0)
    else:
        units = {"x_units": law.units, "y_unit": law.unit} if job.method == "units" else {}
        noise = None if job.noise else 0.0
        found = search(x, y, law.inputs, noise=noise, max_time=job.seconds, **units)  # type: ignore[arg-type]
        fitted, node = Fitted(found.law.predict, str(found.law)), found.law.expression
        stage, verdict = found.stage, str(found.certificate.verdict)
    seconds = time.perf_counter() - began
    error = error_of(fitted.predict, *fresh)
    if node is not None:
        again = form_error(node, x, clean, *fresh) if job.noise else error
    else:
        columns = law.inputs if job.method == "gplearn" else [f"X{i + 1}" for i in range(len(law.inputs))]
        again = min(error, error_of(refitted(fitted.formula, columns, x, clean), *fresh))
    return Trial(
        method=job.method,
        name=job.name,
        noise=job.noise,
        right=again <= RIGHT,
        verdict=verdict,
        error=float(f"{error:.4g}"),
        stage=stage,
        seconds=round(seconds, 3),
        law=" ".join(fitted.formula.split())[:80],
        formula=law.formula,
    )


def form_error(node: Node, x: Array, y: Array, fresh_x: Array, fresh_y: Array) -> float:
    """Return the error of a law with numbers fitted again to clean rows; infinite if one of them is not needed."""
    with np.errstate(all="ignore"):
        law, _ = refined(node, x, y, np.ones(len(y)), free=movable(node, x), steps=30)
        _, slopes = tangent(law, x)
        parts = np.sqrt(np.mean((slopes * numbers(law)) ** 2, 0) / np.mean(y**2))
    if (parts < RIGHT).any():
        return np.inf
    return error_of(lambda rows: evaluate(law, rows), fresh_x, fresh_y)


def error_of(predict: Callable[[Array], Array], x: Array, y: Array) -> float:
    """Return the rms error on fresh rows over the rms of the target; infinite if it is not finite."""
    with np.errstate(all="ignore"):
        error = float(np.sqrt(np.mean((predict(x) - y) ** 2) / np.mean(y**2)))
    return error if np.isfinite(error) else np.inf


def jobs(options: Options) -> list[Job]:
    """List every method on every law at every level of noise."""
    names = [n for n in options.names.split(",") if n] or list(laws())[:: options.every]
    levels = [float(level) for level in options.noise.split(",")]
    methods = [m for m in options.methods.split(",") if m]
    if unknown := sorted({*names} - {*laws()} | {*methods} - {"nalm", "units", *CONTESTANTS}):
        raise NALMError(f"{unknown[0]} is neither a law of the Feynman database nor a method.")
    return [Job(m, n, level, options.seconds) for m in methods for level in levels for n in names]


def totals(trials: Sequence[Trial]) -> list[Row]:
    """Count per method and level of noise."""
    rows = []
    for method, noise in dict.fromkeys((t.method, t.noise) for t in trials):
        group = [t for t in trials if (t.method, t.noise) == (method, noise)]
        said = [t for t in group if t.verdict == "consistent"]
        rows.append(
            {
                "method": method,
                "noise": noise,
                "laws": len(group),
                "right": sum(t.right for t in group),
                "exact": sum(t.verdict == "exact" for t in group),
                "false_exact": sum(t.verdict == "exact" and not t.error <= EXACT for t in group),
                "consistent": len(said),
                "false_consistent": sum(not t.right for t in said),
                "seconds": round(float(np.median([t.seconds for t in group])), 2),
                "all_seconds": round(sum(t.seconds for t in group), 1),
            }
        )
    return rows


BENCHMARK = harness.Benchmark(
    "feynman",
    NOTE,
    Options,
    Trial,
    jobs,
    one,
    totals,
    expected=lambda job: (job.method, job.seconds if job.method in CONTESTANTS else 2.0),
    workers=1,
)

if __name__ == "__main__":
    sys.exit(harness.main(BENCHMARK))
