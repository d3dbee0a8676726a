"""The verdict on a system: simulate it against every sample, and test a forecast."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from nalm.discover.certificate.verdict import Verdict
from nalm.discover.law.expression import Array
from nalm.discover.problem import TimeUpError
from nalm.errors import NALMError
from nalm.ode.data import Trajectories
from nalm.ode.model import Model, slope
from nalm.ode.rivals import rivals
from nalm.ode.search import SystemSearch
from nalm.ode.shooting import Samples, Shot, shoot
from nalm.ode.system import System

EXACT = 1e-6  # the largest deviation over the spread that computed data may show
HEAD = 0.75  # of every trajectory: fitted for the forecast of the rest


@dataclass(frozen=True)
class Assessment:
    """A verdict with its reason, the residual of every variable, that of the forecast, and flags."""

    verdict: Verdict
    tested: str
    residual: tuple[float, ...]
    forecast: float | None
    flags: tuple[str, ...]


def assess(
    system: System,
    search: SystemSearch,
    shot: Shot,
    data: Trajectories,
    unscaled: Callable[[Model], System],
    left: Callable[[], float],
) -> Assessment:
    """Test a system: ``exact`` if it meets every sample, also of a forecast, to six digits of the spread.

    ``consistent`` if the residual is as large as the noise and shows no pattern, and the forecast errs by no more.
    """
    spread = np.where(data.spread > 0, data.spread, 1.0)
    try:
        simulated = [
            system.simulate(t, x0, max_time=max(0.4 * left(), 0.02))
            for t, x0 in zip(data.t, system.start, strict=True)
        ]
    except NALMError as error:
        return Assessment(Verdict.NONE, "", (), None, (f"its simulation fails: {error}",))
    off = [(x - s) / spread for x, s in zip(data.x, simulated, strict=True)]
    every = np.concatenate(off)
    residual = tuple(np.sqrt(np.mean(every**2, 0)).tolist())
    worst = float(np.abs(every).max())
    even = [o / _relative(search, data, k, s) for k, (o, s) in enumerate(zip(off, simulated, strict=True))]
    evened = np.sqrt(np.mean(np.concatenate(even) ** 2, 0))
    try:
        forecast = _forecast(search, shot, data, unscaled, left)
    except (TimeUpError, NALMError):
        forecast = None
    tested = (
        f"simulated, it differs from the {len(every):,} samples by {max(residual):.2g} of their spread (rms)"
    )
    if words := search.path.noise.words:
        tested += f", where the noise is {words}"
    if forecast is not None:
        tested += f"; fitted to the first {HEAD:.0%}, it forecasts the rest to {forecast:.2g}"
    allowed = 100 * EXACT if worst <= EXACT else 3 * max(evened) + EXACT
    good_forecast = forecast is not None and forecast < allowed
    if worst <= EXACT and good_forecast:
        flags = _rival_flags(search, shot, data, unscaled)
        verdict = Verdict.CONSISTENT if flags else Verdict.EXACT
        return Assessment(verdict, tested + ".", residual, forecast, tuple(flags))
    flags = _residual_flags(evened[data.moving], search.path.noise.size, even, data)
    if forecast is None:
        flags.append("it was not tested by a forecast")
    elif not good_forecast:
        flags.append("fitted to a part, it forecasts the rest badly")
    verdict = Verdict.NONE if flags else Verdict.CONSISTENT
    return Assessment(verdict, tested + ".", residual, forecast, tuple(flags))


def _relative(search: SystemSearch, data: Trajectories, k: int, states: Array) -> Array:
    """Return the relative size of the noise at states of all variables of trajectory k, in the units of the data."""
    out, noise = np.ones_like(states), search.path.noise
    if data.errors:
        out[:, data.moving] = data.errors[k][:, data.moving] / data.scales()[0] / noise.unit
    else:
        out[:, data.moving] = noise.relative(states[:, data.moving] / data.scales()[0])
    return out


def _rival_flags(
    search: SystemSearch, shot: Shot, data: Trajectories, unscaled: Callable[[Model], System]
) -> list[str]:
    """Return a flag for every equation that could be another one on the same samples."""
    flags = []
    try:
        for j, other in rivals(shot.model, shot.states, search.signed, search.scales, search.check):
            name = data.names[data.moving[j]]
            flags.append(
                f"these samples cannot tell it from d{name}/dt = {unscaled(other).laws[data.moving[j]]}: the "
                "two agree on all of them and differ elsewhere; a trajectory from another start would tell"
            )
    except TimeUpError:
        flags.append("no time was left to look for other equations that the samples cannot tell from these")
    return flags


def _residual_flags(residual: Array, noise: Array, differences: list[Array], data: Trajectories) -> list[str]:
    """Return flags for a residual that is larger than the noise, or that has a pattern."""
    flags = []
    worst = int(np.argmax(residual / (2 * noise + 1e-4)))
    if residual[worst] > 2 * noise[worst] + 1e-4:
        flags.append(
            f"it leaves more ({residual[worst]:.2g} of the spread) than the noise of the samples ({noise[worst]:.2g})"
        )
    patterned = [data.names[j] for j in data.moving if _patterned([d[:, j] for d in differences])]
    if patterned:
        flags.append(f"what it leaves of {', '.join(patterned)} is not noise: neighbours are alike")
    return flags


def _patterned(residuals: list[Array]) -> bool:
    """Return whether neighbouring residuals are correlated by more than three and a half standard errors."""
    pairs = sum(len(r) - 1 for r in residuals)
    product = sum(float(r[1:] @ r[:-1]) for r in residuals)
    square = sum(float(r @ r) for r in residuals)
    return square > 0 and product / square > 3.5 / np.sqrt(pairs)


def _forecast(
    search: SystemSearch,
    shot: Shot,
    data: Trajectories,
    unscaled: Callable[[Model], System],
    left: Callable[[], float],
) -> float | None:
    """Return the rms over the spread on the last quarter of every trajectory, by numbers fitted to the rest."""
    samples = search.samples
    head = np.concatenate([np.arange(k) < int(HEAD * k) for k in np.bincount(samples.run)])
    part = replace(
        samples,
        t=samples.t[head],
        x=samples.x[head],
        run=samples.run[head],
        weight=samples.weight[head],
        relative=None if samples.relative is None else samples.relative[head],
    )
    if part.x.size < 2 * (len(shot.model.numbers()) + len(samples.first) * samples.x.shape[1]):
        return None
    found = shoot(shot.model, shot.states[head], part, search.check, 10)
    if not found.joined:
        return None
    system, sizes = unscaled(found.model), data.scales()[0]
    off, first = [], found.states[part.first] * sizes
    for k, (t, x) in enumerate(zip(data.t, data.x, strict=True)):
        start = x[0].copy()
        start[data.moving] = first[k]
        tail = t > t[0] + (t[-1] - t[0]) * HEAD
        states = system.simulate(t, start, max_time=max(0.4 * left(), 0.02))
        spread = np.where(data.spread > 0, data.spread, 1.0)
        off.append(((x - states) / spread / _relative(search, data, k, states))[tail])
    return float(np.sqrt(np.mean(np.concatenate(off)[:, data.moving] ** 2)))


def stiffness(shot: Shot, samples: Samples) -> float:
    """Return the fastest decay along the trajectory, per median distance of two samples."""
    model, d = shot.model, samples.x.shape[1]
    jacobian, c = np.zeros((len(samples.t), d, d)), model.matrix()
    states = np.maximum(shot.states, 1e-3 * samples.spread) if (samples.x >= 0).all() else shot.states
    for k, t in enumerate(model.terms):
        for i in range(d):
            jacobian[:, :, i] += slope(t, i, states)[:, None] * c[:, k]
    if not np.isfinite(jacobian).all():
        return 0.0
    return float(np.median(np.diff(samples.t)[samples.inner]) * -np.linalg.eigvals(jacobian).real.min())
