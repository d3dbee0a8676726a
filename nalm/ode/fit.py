"""``fit(t, x)``: from trajectories to a readable system, simulated against them, with intervals and a verdict."""

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from nalm.discover.certificate.verdict import Verdict
from nalm.discover.law.constants import recognised
from nalm.discover.law.expression import Array
from nalm.discover.problem import TimeUpError
from nalm.errors import NALMError
from nalm.ode.data import Trajectories, checked
from nalm.ode.refine import FLOOR
from nalm.ode.scales import DataScales
from nalm.ode.search import Clock, SystemSearch, prepared, refitted, searched
from nalm.ode.shooting import Shot, shoot
from nalm.ode.system import System
from nalm.ode.verdict import Assessment, assess, stiffness

RESTARTS, MAX_TIME = 10, 60.0
CLEAR = 10.0  # nats by which another structure must be longer; below, it counts as an equally good fit
WIDE = 1e6  # largest ratio of the ends of an interval of K or of a weight
STIFF = 50.0  # decays within the distance of two samples


def fit(
    t: Any,
    x: Any,
    names: Sequence[str] | None = None,
    *,
    x_err: Any = None,
    restarts: int = RESTARTS,
    max_time: float = MAX_TIME,
    seed: int = 0,
) -> System:
    """Find a sparse system of ordinary differential equations behind one or several trajectories.

    ``t`` is (samples,) and ``x`` (samples, variables), or both are lists of such arrays, one per trajectory. Times may
    be dates, which count as days. ``x_err`` is the standard error of x: one number, one for each variable, or an array
    as x; without it the noise is estimated: equal, a share of the value, or that of counts. Terms
    are products of real powers, which can be divided by K + a variable; where these do not suffice, polynomials, other
    saturations and elementary functions. The verdict, flags and intervals of the result say how far to trust it. The
    search ends after ``max_time`` seconds with the best system so far.

    >>> t = np.linspace(0, 5, 30)
    >>> found = fit(t, 3 * np.exp(-0.5 * t), ["x"], restarts=2)
    >>> print(found, found.verdict)
    dx/dt = -x/2 exact
    """
    began = time.monotonic()
    if restarts < 1 or int(restarts) != restarts:
        raise NALMError(f"restarts is a whole number of 1 or more, got {restarts!r}.")
    if not 0 < max_time < np.inf:
        raise NALMError(f"max_time is a number of seconds above 0, got {max_time!r}.")
    data = checked(t, x, names, x_err)
    clock = Clock(began + 0.7 * max_time)
    with np.errstate(all="ignore"):  # what is not finite is not followed
        search = prepared(data.samples(), data.scales()[0], clock)
        searched(search, int(restarts), seed)
        clock.deadline = began + 0.93 * max_time  # the rest is for the simulation
        found = _assemble(search, data, seed, lambda: began + max_time - time.monotonic())
    return replace(found, seconds=round(time.monotonic() - began, 3))


def _assemble(search: SystemSearch, data: Trajectories, seed: int, left: Callable[[], float]) -> System:
    """Convert the best model to a system in the units of the data, and add intervals, flags and the verdict."""
    best = search.best
    assert best is not None  # the rough one at least
    agreeing = sum(f is not None and f.model.pattern == best.model.pattern for f in search.found)
    done = sum(f is not None for f in search.found)
    shot, spread, late = _with_spread(search, best, seed)
    errors = search.fitter.errors(shot) if shot.joined else spread
    scales = DataScales(data)
    laws, intervals = scales.rounded_system(shot.model, spread, errors)
    others = _others(search, shot, scales)
    system = System(
        laws,
        Verdict.NONE,
        intervals=tuple(intervals) if shot.joined else (),
        start=scales.starts(shot.states[search.samples.first] * scales.sizes),
        restarts=(agreeing, done),
        others=others,
    )
    flags = [*data.notes(), *_unfinished(search, best, done), *late, *_fit_flags(search, shot, done)]
    if done > 1 and 2 * agreeing <= done:
        flags.append(f"only {agreeing} of {done} restarts found this structure")
    near = bool(others) and others[0][1] < CLEAR
    if near:
        flags.append(f"another structure explains the data nearly as well: {others[0][0]}")
    found = Assessment(Verdict.NONE, "", (), None, ())
    if shot.joined:
        found = assess(system, search, shot, data, scales.system, left)
    if found.verdict == Verdict.EXACT and near:
        found = replace(found, verdict=Verdict.CONSISTENT)
    if found.verdict == Verdict.CONSISTENT and (doubts := _doubts(system)):
        found = replace(found, verdict=Verdict.NONE, flags=(*found.flags, *doubts))
    return replace(
        system,
        verdict=found.verdict,
        tested=found.tested,
        residual=found.residual,
        forecast=found.forecast,
        flags=(*flags, *found.flags),
    )


def _doubts(system: System) -> list[str]:
    """Return reasons against the word ``consistent``: no restart agrees, or a number is not determined."""
    agreeing, done = system.restarts
    out = ["no restart found this structure by itself"] if done > 1 and not agreeing else []
    for n in system.intervals:
        if n.low * n.high > 0 and not 1 / WIDE < n.high / n.low < WIDE:
            out.append(f"the samples do not determine {n.where}: from {n.low:.2g} to {n.high:.2g}")
    return out


def _with_spread(search: SystemSearch, shot: Shot, seed: int) -> tuple[Shot, Array, list[str]]:
    """Recognise exponents and estimate standard errors; return a flag if no time is left for that."""
    if not shot.joined:
        return shot, np.zeros(len(shot.model.numbers())), []
    try:
        shot = _recognise_exponents(search, shot)
        return shot, _spread(search, shot, seed), []
    except TimeUpError:
        late = "no time was left for the intervals: they are those of a linear approximation"
        return shot, search.fitter.errors(shot), [late]


def _unfinished(search: SystemSearch, best: Shot, done: int) -> list[str]:
    """Return a flag if the time limit ended the search before all restarts were done."""
    if done == len(search.found):
        return []
    what = "with numbers that fit no trajectory yet" if not best.joined else "with what it had"
    return [f"the time limit ended the search after {done} of {len(search.found)} restarts, {what}"]


def _fit_flags(search: SystemSearch, shot: Shot, done: int) -> list[str]:
    """Return a flag if no trajectory was fitted, or if the fitted system is stiff."""
    if not shot.joined and done:
        return [
            "no candidate's trajectory could be joined to the data: stiff, too short or too rough for this search"
        ]
    if (rate := stiffness(shot, search.samples)) > STIFF:
        return [f"stiff: the fastest rate acts within {1 / rate:.2g} of the distance of two samples"]
    return []


def _recognise_exponents(search: SystemSearch, shot: Shot) -> Shot:
    """Replace fitted exponents by recognised numbers where the data admit it, and refit the rest."""
    fitter, model = search.fitter, shot.model
    errors = fitter.errors(shot)
    for index, (k, i) in enumerate(model.moving, len(model.rates)):
        found = recognised(model.terms[k].powers[i], max(3 * errors[index], 1e-6))
        if found is not None and found != 0:
            model = model.fix_exponent(k, i, found)
    if model != shot.model:
        again = shoot(model, shot.states, search.samples, search.check, 10)
        if again.error <= max(shot.error * 1.05, FLOOR):
            return again
    return shot


def _spread(search: SystemSearch, shot: Shot, seed: int) -> Array:
    """Estimate standard errors of the numbers over restarts, each of which fits this structure to its own weights.

    A few restarts can agree by chance, so the errors are at least those of a linear approximation.
    """
    least = search.fitter.errors(shot)
    if len(search.found) < 3:
        return least
    others = range(1, len(search.found))
    seen = [refitted(search, shot.model, shot.states, k, seed).numbers() for k in others]
    return np.maximum(np.std(seen, axis=0, ddof=1), least)


def _others(search: SystemSearch, best: Shot, scales: DataScales) -> tuple[tuple[str, float], ...]:
    """Return up to five other structures that restarts found, and by how many nats they are longer."""
    fitter, seen = search.fitter, {best.model.pattern}
    out: list[tuple[str, float]] = []
    for shot in sorted((f for f in search.found if f is not None and f.joined), key=fitter.length):
        if shot.model.pattern not in seen:
            seen.add(shot.model.pattern)
            longer = max(0.0, fitter.length(shot) - fitter.length(best))
            out.append(("; ".join(scales.system(shot.model).formula.splitlines()), round(longer, 2)))
    return tuple(out[:5])
