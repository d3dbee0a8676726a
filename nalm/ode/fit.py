"""``fit(t, x)``: from trajectories to a readable system, simulated against them, with intervals and a verdict."""

import contextlib
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from nalm.discover.certificate.verdict import Verdict
from nalm.discover.problem import TimeUpError
from nalm.errors import NALMError
from nalm.ode.data import Trajectories, checked
from nalm.ode.digits import rounded_numbers, with_plain_exponents
from nalm.ode.scales import DataScales, StandardErrors
from nalm.ode.search import Clock, SystemSearch, prepared, refitted, searched
from nalm.ode.shooting import Shot
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
    scales = DataScales(data)
    shot, spread, late = _with_spread(search, best, scales, seed)
    fine = np.zeros_like(spread.numbers)  # all digits
    if shot.joined:
        with contextlib.suppress(TimeUpError):
            shot, fine = rounded_numbers(search, shot, spread.numbers, scales)
    laws, intervals = scales.rounded_system(shot.model, spread, fine)
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


def _with_spread(
    search: SystemSearch, shot: Shot, scales: DataScales, seed: int
) -> tuple[Shot, StandardErrors, list[str]]:
    """Prefer plain exponents and estimate standard errors; return a flag if no time is left for that."""
    if not shot.joined:
        return (
            shot,
            StandardErrors(np.zeros(len(shot.model.numbers())), np.zeros(len(shot.model.entries))),
            [],
        )
    try:
        shot = with_plain_exponents(search, shot)
        return shot, _spread(search, shot, scales, seed), []
    except TimeUpError:
        late = "no time was left for the intervals: they are those of a linear approximation"
        return shot, _first_order(search, shot, scales), [late]


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


def _first_order(search: SystemSearch, shot: Shot, scales: DataScales) -> StandardErrors:
    """Return the standard errors of a linear approximation."""
    root = search.fitter.root(shot)
    return StandardErrors(search.fitter.errors(shot), scales.coefficient_errors(shot.model, root))


def _spread(search: SystemSearch, shot: Shot, scales: DataScales, seed: int) -> StandardErrors:
    """Estimate standard errors of the numbers over restarts, each of which fits this structure to its own weights.

    A few restarts can agree by chance, so the errors are at least those of a linear approximation.
    """
    least = _first_order(search, shot, scales)
    if len(search.found) < 3:
        return least
    seen = [refitted(search, shot.model, shot.states, k, seed) for k in range(1, len(search.found))]
    tables = np.array([m.numbers() for m in seen]), np.array([scales.coefficients(m) for m in seen])
    return StandardErrors(
        *(np.maximum(np.std(t, axis=0, ddof=1), e) for t, e in zip(tables, least, strict=True))
    )


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
