"""Shooting from many places at once (Bock): the states at all times are free until they join into one trajectory.

In every step the trajectory between two times is followed together with its slopes, the gaps are closed to first
order, and what is left is least squares in the first states and the numbers alone. Where it ends, the states lie on
one trajectory per run, as in single shooting, but a start far off does not blow up on the way.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from nalm.discover.law.expression import Array
from nalm.ode.flow import Flow, flow
from nalm.ode.model import Model, Term

ENOUGH = 1e-17  # mean square over the spread: more digits than computed data have
JOINED = 1e-3  # of the misfit: gaps no larger are none
CLOSED, GAP = (
    2e-4,
    0.1,
)  # once gaps are this much below the misfit, a step may open some: the next closes them


@dataclass(frozen=True)
class Runs:
    """Scaled trajectories, one after another: times (n,), states (n, d), the run of each row, weights (n,)."""

    t: Array
    x: Array
    run: np.ndarray
    weight: Array  # of each row; 1, or drawn for a restart
    spread: Array  # of each variable (d,)
    tolerance: float = 1e-8  # of the integration: far below the noise

    @property
    def scale(self) -> Array:
        """What residuals are multiplied by, (n, d)."""
        return np.sqrt(self.weight)[:, None] / self.spread

    @property
    def inner(self) -> np.ndarray:
        """Rows that another row of the same run follows."""
        return np.flatnonzero(self.run[1:] == self.run[:-1])

    @property
    def first(self) -> np.ndarray:
        """The first row of every run."""
        return np.flatnonzero(np.r_[True, self.run[1:] != self.run[:-1]])


@dataclass(frozen=True)
class Shot:
    """A fitted model, its states at all times, the residual, and the slopes of the states in starts and numbers."""

    model: Model
    states: Array
    error: float  # weighted mean square of (x - states) over the spread of each variable
    slopes: Array  # (n, d, runs * d + numbers)
    joined: bool  # the states lie on trajectories of the model


def gaps(
    model: Model, nodes: Array, runs: Runs, check: Callable[[], None], extra: tuple[Term, ...] = ()
) -> tuple[Flow, Array]:
    """Follow the model from every node to the next, and how far from it that ends."""
    inner = runs.inner
    f = flow(model, nodes[inner], np.diff(runs.t)[inner], extra=extra, tolerance=runs.tolerance, check=check)
    return f, f.end - nodes[inner + 1]


def matched(model: Model, nodes: Array, runs: Runs, check: Callable[[], None], steps: int = 12) -> Model:
    """Numbers for which stretches between given nodes meet: no trajectory is followed for long, nothing diverges."""
    weight = runs.scale[runs.inner]

    def residual(p: Array) -> tuple[Array, Array]:
        f, gap = gaps(model.renumbered(p), nodes, runs, check)
        if not f.arrived:
            return np.full(gap.size, np.inf), np.zeros((gap.size, len(p)))
        return (weight * gap).ravel(), (weight[:, :, None] * f.number_slopes).reshape(gap.size, -1)

    return model.renumbered(descended(residual, model.numbers(), steps))


def descended(residual: Callable[[Array], tuple[Array, Array]], p: Array, steps: int) -> Array:
    """Levenberg-Marquardt with every column scaled to 1."""
    with np.errstate(all="ignore"):
        return _descended(residual, p, steps)


def _descended(residual: Callable[[Array], tuple[Array, Array]], p: Array, steps: int) -> Array:
    r, slopes = residual(p)
    error, damping = float(r @ r), 1e-6
    for _ in range(steps):
        if not np.isfinite(error) or error == 0:
            break
        trial = p - _step(slopes, r, damping)
        r_trial, s_trial = residual(trial)
        now = float(r_trial @ r_trial)
        if now < error:
            small = now > error * (1 - 1e-3)
            p, r, slopes, error = trial, r_trial, s_trial, now
            if small and damping <= 1e-6:
                break
            damping = max(damping / 30, 1e-12)
        elif damping > 1e3:
            break
        else:
            damping *= 10
    return p


def _step(slopes: Array, r: Array, damping: float) -> Array:
    norm = np.sqrt(np.square(slopes).sum(0))
    norm = np.where((norm > 0) & np.isfinite(norm), norm, 1.0)
    scaled = np.nan_to_num(slopes / norm, nan=0.0, posinf=0.0, neginf=0.0)
    r = np.nan_to_num(r, nan=0.0, posinf=0.0, neginf=0.0)
    left, s, right = np.linalg.svd(scaled, full_matrices=False)
    kept = s > 1e-12 * s[0]
    inverse = np.where(kept, s / (s**2 + damping), 0.0)
    return (right.T * inverse) @ (left.T @ r) / norm


def shoot(model: Model, nodes: Array, runs: Runs, check: Callable[[], None], steps: int = 15) -> Shot:
    """Fit starts and numbers until the gaps are closed and the misfit falls no more."""
    with np.errstate(all="ignore"):
        return _shoot(model, nodes, runs, check, steps)


def _shoot(model: Model, nodes: Array, runs: Runs, check: Callable[[], None], steps: int) -> Shot:
    weight = runs.scale
    p = model.numbers()
    lead = len(runs.first) * runs.x.shape[1]

    def look(nodes: Array, p: Array) -> tuple[float, float, Array, Array] | None:
        """Gap and misfit, and to first order what the states are once the gaps are closed."""
        f, gap = gaps(model.renumbered(p), nodes, runs, check)
        if not f.arrived:
            return None
        states, slopes = condensed(nodes, f, gap, runs)
        return (
            float(np.mean((gap / runs.spread) ** 2)),
            float(np.mean((weight * (runs.x - nodes)) ** 2)),
            states,
            slopes,
        )

    seen = look(nodes, p)
    damping = 1e-6
    for _ in range(steps):
        if seen is None:
            break
        gap, misfit, closed, slopes = seen
        weigh = 100.0 if gap > CLOSED * misfit else GAP
        merit = misfit + weigh * gap
        if merit < ENOUGH:
            break
        r = (weight * (runs.x - closed)).ravel()
        flat = (weight[:, :, None] * slopes).reshape(r.size, -1)
        moved = False
        for _ in range(8):
            move = _step(flat, r, damping)
            trial_nodes, trial_p = closed + slopes @ move, p + move[lead:]
            found = look(trial_nodes, trial_p) if np.isfinite(trial_nodes).all() else None
            if found is not None and found[1] + weigh * found[0] < merit * (1 - 1e-12):
                moved = True
                break
            damping = max(damping * 10, 1e-6)
            if damping > 1e4:
                break
        if not moved:
            break
        assert found is not None
        done = found[1] + weigh * found[0] > merit * (1 - 1e-4) and found[0] <= JOINED * found[1]
        nodes, p, seen = trial_nodes, trial_p, found
        if done and damping <= 1e-6:
            break
        damping = max(damping / 30, 1e-12)
    if seen is None:
        return Shot(model, nodes, np.inf, np.zeros((*runs.x.shape, lead + len(p))), False)
    gap, misfit, closed, slopes = seen
    error = float(np.mean((weight * (runs.x - closed)) ** 2))
    joined = bool(gap <= JOINED * max(error, 1e-16) + 1e-16)
    return Shot(
        model.renumbered(p), closed, error if joined else max(error, misfit + 100 * gap), slopes, joined
    )


def condensed(nodes: Array, f: Flow, gap: Array, runs: Runs) -> tuple[Array, Array]:
    """States with closed gaps, and their slopes in the first states and the numbers, to first order."""
    n, d = nodes.shape
    firsts = runs.first
    lead = len(firsts) * d
    states = nodes.copy()
    slopes = np.zeros((n, d, lead + f.number_slopes.shape[2]))
    for r, row in enumerate(firsts):
        slopes[row, :, r * d : (r + 1) * d] = np.eye(d)
    with np.errstate(all="ignore"):
        for m, row in enumerate(runs.inner):
            forward = f.start_slopes[m]
            states[row + 1] = nodes[row + 1] + gap[m] + forward @ (states[row] - nodes[row])
            slopes[row + 1] = forward @ slopes[row]
            slopes[row + 1, :, lead:] += f.number_slopes[m]
    return states, slopes
