"""Trials on known systems, ours beside SINDy with polynomials.

``python -m benchmarks.trajectories results/beyond/ode`` runs them.

A line per trial and the totals are written; both methods get the same samples, and neither sees the equations.
"""

import datetime
import itertools
import json
import multiprocessing
import sys
import time
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.known_systems import KNOWN, Known, Part, parts
from nalm import __version__
from nalm.discover.law.expression import Array
from nalm.errors import NALMError
from nalm.experiments.published import claims
from nalm.lab.machine import cores
from nalm.ode.fit import fit
from nalm.ode.system import System

NOISES = (0.0, 0.001, 0.01, 0.03)
THRESHOLDS = (0.03, 0.1, 0.3, 1.0, 3.0, 10.0)  # of SINDy's coefficients, variables and time scaled to 1
DEGREES = (2, 3)
NOTE = (
    "Structure right: the terms of every equation are the true ones, exponents within 0.05. Noise is a share of each "
    "variable's spread. Error at new starts: rms over the spread, the worst of three. SINDy has polynomials of degree "
    "2 or 3, smoothed derivatives under noise, and the degree and threshold that describe the samples best."
)


@dataclass(frozen=True)
class Trial:
    """One method on one trajectory."""

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


def trial(method: str, known: Known, noise: float, seed: int, time_limit: float) -> Trial:
    """Fit one noisy trajectory and judge the result by what it was made of."""
    t, x = known.trajectory(noise, seed)
    began = time.perf_counter()
    found = METHODS[method](t, x, known, noise, seed, time_limit)
    seconds = time.perf_counter() - began
    right, exponent, rate = compared(found, known)
    agreed = "{} of {}".format(*found.restarts) if found.restarts[1] else ""
    return Trial(
        method,
        known.name,
        noise,
        seed,
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
    """``nalm.ode.fit`` as anybody would call it."""
    return fit(t, x, known.names, seed=seed, max_time=time_limit)


def sindy(t: Array, x: Array, known: Known, noise: float, seed: int, time_limit: float) -> System:
    """SINDy with a polynomial library; of several degrees and thresholds those that describe the samples best."""
    try:
        import pysindy
    except ImportError:
        raise NALMError("The comparison needs pysindy: pip install nalm[baselines].") from None
    scale, best = np.abs(x).max(0), (np.inf, _nothing(known))
    for degree, threshold in itertools.product(DEGREES, THRESHOLDS):
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            model = pysindy.SINDy(
                optimizer=pysindy.STLSQ(threshold=threshold, alpha=1e-6),
                feature_library=pysindy.PolynomialLibrary(degree=degree),
                differentiation_method=pysindy.SmoothedFiniteDifference()
                if noise
                else pysindy.FiniteDifference(order=4),
            )
            model.fit(x / scale, t=t / known.span)
        rows = _polynomial(
            np.asarray(model.coefficients()), np.asarray(model.feature_library.powers_), scale, known.span
        )
        system = Known(known.name, known.names, rows, known.start, known.span, known.samples, ()).system
        try:
            off = (system.simulate(t, x[0], rtol=1e-6, max_time=5.0) - x) / x.std(0)
        except NALMError:
            continue
        size = sum(map(len, rows))
        length = x.size * np.log(np.mean(off**2) + 1e-14) + 1.5 * np.log(x.size) * size
        best = min(best, (float(length), system), key=lambda b: b[0])
    return best[1]


METHODS = {"nalm.ode": ours, "pysindy": sindy}


def _nothing(known: Known) -> System:
    empty = tuple(() for _ in known.names)
    return Known(known.name, known.names, empty, known.start, known.span, known.samples, ()).system


def _polynomial(
    coefficients: Array, powers: Array, scale: Array, span: float
) -> tuple[tuple[Part, ...], ...]:
    """SINDy's coefficients of scaled variables as the terms of equations in the units of the data."""
    rows = []
    for j, row in enumerate(coefficients):
        rows.append(
            tuple(
                Part(float(c * scale[j] / np.prod(scale**p) / span), tuple(map(float, p)))
                for c, p in zip(row, powers, strict=True)
                if c
            )
        )
    return tuple(rows)


def compared(found: System, known: Known) -> tuple[bool, float | None, float | None]:
    """Whether the terms are the true ones; of those that are, the largest error of exponents and rates."""
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
    """The largest difference of exponents; infinite for terms of another shape."""
    if a.below != b.below or [p != 0 for p in a.powers] != [p != 0 for p in b.powers]:
        return np.inf
    return max(abs(p - q) for p, q in zip(a.powers, b.powers, strict=True))


def at_new_starts(found: System, known: Known) -> float | None:
    """The worst error from starts the trajectory did not have."""
    worst = 0.0
    for start in known.tests:
        t, truth = known.trajectory(start=start)
        try:
            off = (found.simulate(t, start) - truth) / truth.std(0)
        except NALMError:
            return None
        worst = max(worst, float(np.sqrt(np.mean(off**2))))
    return worst


Job = tuple[str, int, float, int, float]  # method, which system, noise, seed, seconds at most


def jobs(seeds: int, time_limit: float, noises: Sequence[float] = NOISES) -> list[Job]:
    """Every method on every system at every level of noise; without noise one trajectory is all there is."""
    return [
        (method, k, noise, seed, time_limit)
        for k in range(len(KNOWN))
        for noise in noises
        for seed in range(seeds if noise else 1)
        for method in METHODS
    ]


def one(job: Job) -> Trial:
    """One trial."""
    method, k, noise, seed, time_limit = job
    return trial(method, KNOWN[k], noise, seed, time_limit)


def trials(wanted: Sequence[Job], workers: int = 1) -> Iterator[Trial]:
    """The outcomes of the jobs, in their order."""
    if workers == 1:
        yield from map(one, wanted)
        return
    with multiprocessing.get_context("spawn").Pool(workers) as pool:
        yield from pool.imap(one, wanted, chunksize=1)


def totals(found: Sequence[Trial]) -> list[dict[str, Any]]:
    """A line per method, system and level of noise."""
    groups: dict[tuple[str, str, float], list[Trial]] = {}
    for t in found:
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
    """The median, a failure counted as worse than everything; None if that is a failure."""
    middle = float(np.median([np.inf if v is None else v for v in values]))
    return float(f"{middle:.3g}") if np.isfinite(middle) else None


def published() -> dict[str, float]:
    """What the power units' paper read off its best network for the fractional SIR model; kappa and gamma are 0.5."""
    return {c.metric: c.value for c in claims("fSIR NODE", units=("RealNPU best",))}


def main(path: str, seeds: float = 3, time_limit: float = 60.0, *noises: float) -> None:
    """Run all trials on all cores, of all levels of noise or those given; PATH.json holds them and their totals."""
    target, began, found = Path(path), time.time(), list[Trial]()
    target.parent.mkdir(parents=True, exist_ok=True)
    for t in trials(jobs(int(seeds), time_limit, noises or NOISES), cores()):
        found.append(t)
        told = f"{t.method} {t.system} noise {t.noise:g} seed {t.seed}: {'right' if t.right else 'wrong'}, {t.verdict}"
        print(
            f"{time.time() - began:6.0f} s {told}, {t.seconds:g} s: {t.formula[:120]}",
            file=sys.stderr,
            flush=True,
        )
    about = {
        "command": " ".join(
            [
                "python -m benchmarks.trajectories",
                f"results/beyond/{target.name}",
                *(f"{n:g}" for n in (seeds, time_limit, *noises)),
            ]
        ),
        "nalm": __version__,
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "seconds": round(time.time() - began, 1),
        "note": NOTE,
        "published": published(),
        "totals": totals(found),
        "trials": [asdict(t) for t in found],
    }
    target.with_suffix(".json").write_text(
        json.dumps(about, indent=1, allow_nan=False) + "\n", encoding="utf-8"
    )
    for r in about["totals"]:  # type: ignore[attr-defined]
        errors = f"exponents {r['exponent_error']}, rates {r['rate_error']}, new starts {r['new_starts']}"
        counts = f"{r['right']} of {r['trials']}"
        print(f"{r['method']:9s} {r['system']:17s} {r['noise']:<6g} {counts}, {errors}, {r['seconds']} s")


if __name__ == "__main__":
    main(sys.argv[1], *map(float, sys.argv[2:]))
