"""``fit(t, x)``: from trajectories to a readable system, simulated against them, with intervals and a verdict."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from nalm.discover.law import Law
from nalm.discover.law.constants import recognised
from nalm.discover.law.expression import Array, Input, Node, Sum, powered, weighted
from nalm.discover.problem import TimeUpError
from nalm.errors import NALMError
from nalm.ode.data import Data, checked
from nalm.ode.model import Model
from nalm.ode.refine import FLOOR
from nalm.ode.search import Clock, Search, prepared, refitted, searched
from nalm.ode.shooting import Shot, shoot
from nalm.ode.system import Number, System
from nalm.ode.verdict import Judged, judged, stiffness

RESTARTS, TIME_LIMIT = 10, 60.0
CLEAR = 10.0  # nats by which another structure must be longer, or it fits as well


def fit(
    t: Any,
    x: Any,
    names: Sequence[str] | None = None,
    *,
    restarts: int = RESTARTS,
    time_limit: float = TIME_LIMIT,
    seed: int = 0,
) -> System:
    """Find a sparse system of ordinary differential equations behind one or several trajectories.

    ``t`` is (samples,) and ``x`` (samples, variables), or both are lists of such arrays, one per trajectory. Terms
    are products of real powers, perhaps over K + a variable. How far to trust it, the verdict, flags and intervals say.

    >>> t = np.linspace(0, 5, 30)
    >>> found = fit(t, 3 * np.exp(-0.5 * t), ["x"], restarts=2)
    >>> print(found, found.verdict)
    dx/dt = -x/2 exact
    """
    began = time.monotonic()
    if restarts < 1 or int(restarts) != restarts:
        raise NALMError(f"restarts is a whole number of 1 or more, got {restarts!r}.")
    if not 0 < time_limit < np.inf:
        raise NALMError(f"time_limit is a number of seconds above 0, got {time_limit!r}.")
    data = checked(t, x, names)
    clock = Clock(began + 0.7 * time_limit)
    with np.errstate(all="ignore"):  # what is not finite is not followed
        search = prepared(data.runs(), data.scales()[0], clock)
        searched(search, int(restarts), seed)
        clock.deadline = began + 0.93 * time_limit  # what is left is for the simulation
        found = _told(search, data, seed, lambda: began + time_limit - time.monotonic())
    return replace(found, seconds=round(time.monotonic() - began, 3))


@dataclass
class _Units:
    """From scaled numbers to those of the data."""

    data: Data

    def __post_init__(self) -> None:
        self.sizes, self.duration = self.data.scales()

    def coefficients(self, model: Model) -> list[float]:
        """The rate of every entry."""
        out = []
        for e in model.entries:
            term = model.terms[e.term]
            c = model.rates[e.rate] * e.factor * self.sizes[e.equation] / self.duration
            c /= float(np.prod([s**p for s, p in zip(self.sizes, term.powers, strict=True)]))
            out.append(float(c if term.below is None else c * self.sizes[term.below]))
        return out

    def laws(self, model: Model, coefficients: Sequence[float], halves: dict[int, float]) -> tuple[Law, ...]:
        """The equations; variables that never change have 0."""
        place = self.data.moving
        rows: dict[int, tuple[list[Node], list[float], float]] = {
            j: ([], [], 0.0) for j in range(len(self.data.names))
        }
        for e, c in zip(model.entries, coefficients, strict=True):
            term = model.terms[e.term]
            nodes: list[Node] = [Input(place[i]) for i in range(len(term.powers))]
            powers = list(term.powers)
            if term.below is not None:
                nodes.append(Sum((Input(place[term.below]),), (1.0,), halves[e.term]))
                powers.append(-1.0)
            j = place[e.equation]
            if any(powers):
                rows[j][0].append(powered(nodes, powers))
                rows[j][1].append(c)
            else:
                rows[j] = (*rows[j][:2], rows[j][2] + c)
        return tuple(Law(weighted(nodes, cs, bias), self.data.names) for nodes, cs, bias in rows.values())


def _told(search: Search, data: Data, seed: int, left: Callable[[], float]) -> System:
    """The best model in the units of the data: numbers recognised or rounded, simulated, judged."""
    shot = search.best
    assert shot is not None  # the rough one at least
    flags, units = data.notes(), _Units(data)
    spread = np.zeros(len(shot.model.numbers()))
    agreeing = sum(f is not None and f.model.pattern == shot.model.pattern for f in search.found)
    done = sum(f is not None for f in search.found)
    if done < len(search.found):
        what = "with numbers that fit no trajectory yet" if not shot.joined else "with what it had"
        flags.append(f"the time limit ended the search after {done} of {len(search.found)} restarts, {what}")
    try:
        if shot.joined:
            shot = _settled(search, shot)
            spread = _spread(search, shot, seed)
    except TimeUpError:
        flags.append("no time was left for the intervals: they are those of a linear approximation")
        spread = search.fitter.errors(shot)
    model = shot.model
    errors = search.fitter.errors(shot) if shot.joined else spread
    coefficients, halves, intervals = _numbers(units, model, spread, errors, data.names)
    laws = units.laws(model, coefficients, halves)
    starts = _starts(data, shot.states[search.runs.first] * units.sizes)
    if not shot.joined and done:
        flags.append(
            "no candidate's trajectory could be joined to the data: stiff, too short or too rough for this search"
        )
    elif (rate := stiffness(shot, search.runs)) > 50:
        flags.append(f"stiff: the fastest rate acts within {1 / rate:.2g} of the distance of two samples")
    if done > 1 and 2 * agreeing <= done:
        flags.append(f"only {agreeing} of {done} restarts found this structure")
    system = System(
        laws,
        "none",
        intervals=tuple(intervals) if shot.joined else (),
        start=starts,
        restarts=(agreeing, done),
    )
    others = _others(search, shot, units)
    if others and others[0][1] < CLEAR:
        flags.append("another structure explains the data nearly as well")
    verdict = (
        judged(system, search, shot, data, lambda m: _system(units, m), left)
        if shot.joined
        else Judged("none", "", (), None, ())
    )
    return replace(
        system,
        verdict=verdict.verdict,
        tested=verdict.tested,
        residual=verdict.residual,
        forecast=verdict.forecast,
        flags=(*flags, *verdict.flags),
        others=others,
    )


def _system(units: _Units, model: Model) -> System:
    """A model as it is, in the units of the data."""
    below = {k: model.terms[k].below for k in model.saturating}
    halves = {k: float(model.terms[k].half * units.sizes[i]) for k, i in below.items() if i is not None}
    return System(units.laws(model, units.coefficients(model), halves), "none")


def _starts(data: Data, moving: Array) -> tuple[tuple[float, ...], ...]:
    """The first states of all variables: fitted, or given where a variable never changes."""
    starts = np.stack([x[0] for x in data.x])
    starts[:, data.moving] = moving
    return tuple(map(tuple, starts.tolist()))


def _settled(search: Search, shot: Shot) -> Shot:
    """Exponents with digits of their own are recognised where the data admit it, the rest refitted."""
    fitter, model = search.fitter, shot.model
    errors = fitter.errors(shot)
    for place, (k, i) in enumerate(model.moving, len(model.rates)):
        found = recognised(model.terms[k].powers[i], max(3 * errors[place], 1e-7))
        if found is not None and found != 0:
            model = model.settle(k, i, found)
    if model != shot.model:
        again = shoot(model, shot.states, search.runs, search.check, 10)
        if again.error <= max(shot.error * 1.05, FLOOR):
            return again
    return shot


def _spread(search: Search, shot: Shot, seed: int) -> Array:
    """Standard errors of the numbers: over restarts, each of which fits this structure to its own weights.

    A few restarts can agree by chance: they are no less than those of a linear approximation.
    """
    least = search.fitter.errors(shot)
    if len(search.found) < 3:
        return least
    others = range(1, len(search.found))
    seen = [refitted(search, shot.model, shot.states, k, seed).numbers() for k in others]
    return np.maximum(np.std(seen, axis=0, ddof=1), least)


def _numbers(
    units: _Units, model: Model, spread: Array, errors: Array, names: Sequence[str]
) -> tuple[list[float], dict[int, float], list[Number]]:
    """Rates and K in the units of the data, recognised or rounded to a tenth of their error; and every interval."""
    free = bool(model.moving)  # then rates and exponents are unsure together, and rates keep their digits
    intervals, words = [], _words(model, names)
    shown: dict[int, float] = {}
    coefficients = []
    for n, (e, c) in enumerate(zip(model.entries, units.coefficients(model), strict=True)):
        unsure = abs(c) * spread[e.rate] / max(abs(model.rates[e.rate]), 1e-300)
        near = abs(c) * errors[e.rate] / max(abs(model.rates[e.rate]), 1e-300)
        size = shown.setdefault(e.rate, c if free else _rounded(c, max(near, unsure)))
        c = (
            float(np.sign(c)) * abs(size)
            if _tied_alike(units, model, e.rate)
            else (c if free else _rounded(c, max(near, unsure)))
        )
        coefficients.append(c)
        intervals.append(
            _number(
                f"rate of {words[model.entries[n].term]} in d{names[units.data.moving[e.equation]]}/dt",
                c,
                unsure,
            )
        )
    for place, (k, i) in enumerate(model.moving, len(model.rates)):
        p = model.terms[k].powers[i]
        intervals.append(
            _number(f"exponent of {names[units.data.moving[i]]} in {words[k]}", p, spread[place])
        )
    halves = {}
    for place, k in enumerate(model.saturating, len(model.rates) + len(model.moving)):
        below = model.terms[k].below
        assert below is not None
        half = model.terms[k].half * units.sizes[below]
        halves[k] = _rounded(half, half * max(errors[place], spread[place]))
        low, high = (float(half * np.exp(s * 1.96 * min(spread[place], 50.0))) for s in (-1, 1))
        intervals.append(Number(f"K of {words[k]}", halves[k], low, high))
    return coefficients, halves, intervals


def _number(where: str, value: float, error: float) -> Number:
    return Number(where, float(value), float(value - 1.96 * error), float(value + 1.96 * error))


def _tied_alike(units: _Units, model: Model, rate: int) -> bool:
    """Whether all entries of a rate have the same size in the units of the data."""
    sizes = [abs(e.factor) * units.sizes[e.equation] for e in model.entries if e.rate == rate]
    return len(sizes) > 1 and bool(np.allclose(sizes, sizes[0], rtol=1e-9))


def _rounded(value: float, error: float) -> float:
    """The simplest number the data admit, or the value to a tenth of its error."""
    found = recognised(value, max(2 * error, 1e-7 * abs(value)))
    if found:
        return found
    if not error > 0 or not np.isfinite(error) or not value:
        return value
    digits = 1 + max(0, int(np.floor(np.log10(abs(value))) - np.floor(np.log10(error / 10))))
    return float(f"{value:.{min(digits, 15) - 1}e}")


def _words(model: Model, names: Sequence[str]) -> list[str]:
    """Every term without its numbers."""
    out = []
    for t in model.terms:
        above = "*".join(names[i] for i, p in enumerate(t.powers) if p) or "1"
        out.append(above if t.below is None else f"{above}/(K + {names[t.below]})")
    return out


def _others(search: Search, best: Shot, units: _Units) -> tuple[tuple[str, float], ...]:
    """Structures that restarts ended with instead, by how much longer they are."""
    fitter, seen = search.fitter, {best.model.pattern: 0.0}
    out: list[tuple[str, float]] = []
    for shot in sorted((f for f in search.found if f is not None and f.joined), key=fitter.length):
        if shot.model.pattern not in seen:
            seen[shot.model.pattern] = 0.0
            longer = max(0.0, fitter.length(shot) - fitter.length(best))
            out.append(("; ".join(_system(units, shot.model).formula.splitlines()), round(longer, 2)))
    return tuple(out[:5])
