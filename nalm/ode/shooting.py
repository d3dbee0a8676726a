"""Multiple shooting (Bock): the states at all times are free until they join into one trajectory.

In every step the trajectory between two times is followed together with its slopes, the gaps are closed to first
order, and a least-squares problem in the first states and the numbers remains. At the end the states lie on
one trajectory per run, as in single shooting, but a poor start does not diverge on the way.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from nalm.discover.law.expression import Array
from nalm.ode.flow import Flow, flow
from nalm.ode.model import Model, Term

ENOUGH = 1e-17  # mean square over the spread: below the rounding of computed data
JOINED = 1e-3  # of the misfit: smaller gaps count as closed
CLOSED, GAP = 2e-4, 0.1  # gaps below this share of the misfit get a small weight: the next step closes them


@dataclass(frozen=True)
class Samples:
    """Scaled samples of all trajectories in one table: times (n,), states (n, d), the run of each row, weights (n,)."""

    t: Array
    x: Array
    run: np.ndarray
    weight: Array  # of each row; 1, or drawn for a restart
    spread: Array  # of each variable (d,)
    tolerance: float = 1e-8  # of the integration: far below the noise
    relative: Array | None = None  # size of the noise of each value beside others, (n, d)
    error: Array | None = None  # standard error of each value, if it is given, (n, d)

    @property
    def scale(self) -> Array:
        """The factors of the residuals, (n, d)."""
        equal = np.sqrt(self.weight)[:, None] / self.spread
        return equal if self.relative is None else equal / self.relative

    @property
    def inner(self) -> np.ndarray:
        """The rows that another row of the same run follows."""
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
    model: Model, nodes: Array, samples: Samples, check: Callable[[], None], extra: tuple[Term, ...] = ()
) -> tuple[Flow, Array]:
    """Integrate the model from each node to the next; return the flow, and how far from that node it ends."""
    inner = samples.inner
    f = flow(
        model, nodes[inner], np.diff(samples.t)[inner], extra=extra, tolerance=samples.tolerance, check=check
    )
    return f, f.end - nodes[inner + 1]


def matched(
    model: Model, nodes: Array, samples: Samples, check: Callable[[], None], steps: int = 12
) -> Model:
    """Fit the numbers so that stretches between given nodes meet; no trajectory is followed for long."""

    def residual(p: Array) -> tuple[Array, Array]:
        return weighted_gaps(model.renumbered(p), nodes, samples, check)

    return model.renumbered(descended(residual, model.numbers(), steps))


def weighted_gaps(
    model: Model, nodes: Array, samples: Samples, check: Callable[[], None]
) -> tuple[Array, Array]:
    """Return how far stretches end from the next nodes, over the spread, and the slopes in the numbers."""
    weight = samples.scale[samples.inner]
    f, gap = gaps(model, nodes, samples, check)
    if not f.arrived:
        return np.full(gap.size, np.inf), np.zeros((gap.size, f.number_slopes.shape[2]))
    return (weight * gap).ravel(), (weight[:, :, None] * f.number_slopes).reshape(gap.size, -1)


def descended(residual: Callable[[Array], tuple[Array, Array]], p: Array, steps: int) -> Array:
    """Minimise by Levenberg-Marquardt with every column scaled to 1."""
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


def shoot(model: Model, nodes: Array, samples: Samples, check: Callable[[], None], steps: int = 15) -> Shot:
    """Fit first states and numbers until the gaps are closed and the misfit no longer falls."""
    with np.errstate(all="ignore"):
        return _Shooting(model, samples, check).fit(nodes, steps)


@dataclass(frozen=True)
class _Iterate:
    """Nodes and numbers of one iteration, and what follows from them to first order."""

    nodes: Array
    numbers: Array
    gap: float  # mean square of the gaps over the spread
    misfit: float  # weighted mean square of (x - nodes) over the spread
    closed: Array  # the states once the gaps are closed
    slopes: Array  # of these states in first states and numbers

    def merit(self, gap_weight: float) -> float:
        """Return the value that a step must lower."""
        return self.misfit + gap_weight * self.gap


@dataclass(frozen=True)
class _Shooting:
    """Multiple shooting of one model: Levenberg-Marquardt steps on first states and numbers."""

    model: Model
    samples: Samples
    check: Callable[[], None]

    def fit(self, nodes: Array, steps: int) -> Shot:
        """Take damped steps from the given nodes as long as they help, and return the result."""
        now = self.evaluate(nodes, self.model.numbers())
        damping = 1e-6
        for _ in range(steps):
            if now is None:
                break
            gap_weight = 100.0 if now.gap > CLOSED * now.misfit else GAP
            merit = now.merit(gap_weight)
            if merit < ENOUGH:
                break
            found, damping = self.step(now, gap_weight, damping)
            if found is None:
                break
            done = found.merit(gap_weight) > merit * (1 - 1e-4) and found.gap <= JOINED * found.misfit
            now = found
            if done and damping <= 1e-6:
                break
            damping = max(damping / 30, 1e-12)
        return self.result(now, nodes)

    def evaluate(self, nodes: Array, numbers: Array) -> _Iterate | None:
        """Integrate the model between the nodes; return None if a stretch does not arrive at its end."""
        samples = self.samples
        f, gap = gaps(self.model.renumbered(numbers), nodes, samples, self.check)
        if not f.arrived:
            return None
        closed, slopes = condensed(nodes, f, gap, samples)
        size = float(np.mean((gap / samples.spread) ** 2))
        misfit = float(np.mean((samples.scale * (samples.x - nodes)) ** 2))
        return _Iterate(nodes, numbers, size, misfit, closed, slopes)

    def step(self, now: _Iterate, gap_weight: float, damping: float) -> tuple[_Iterate | None, float]:
        """Take a step that lowers the merit, with more damping where needed; return it and the damping."""
        weight, merit = self.samples.scale, now.merit(gap_weight)
        r = (weight * (self.samples.x - now.closed)).ravel()
        flat = (weight[:, :, None] * now.slopes).reshape(r.size, -1)
        lead = len(self.samples.first) * self.samples.x.shape[1]
        for _ in range(8):
            move = _step(flat, r, damping)
            nodes = now.closed + now.slopes @ move
            if np.isfinite(nodes).all():
                found = self.evaluate(nodes, now.numbers + move[lead:])
                if found is not None and found.merit(gap_weight) < merit * (1 - 1e-12):
                    return found, damping
            damping = max(damping * 10, 1e-6)
            if damping > 1e4:
                break
        return None, damping

    def result(self, last: _Iterate | None, nodes: Array) -> Shot:
        """Return the last iterate as a fit; an infinite error if not even the first one arrived."""
        shape, weight = self.samples.x.shape, self.samples.scale
        if last is None:
            columns = len(self.samples.first) * shape[1] + len(self.model.numbers())
            return Shot(self.model, nodes, np.inf, np.zeros((*shape, columns)), False)
        error = float(np.mean((weight * (self.samples.x - last.closed)) ** 2))
        joined = bool(last.gap <= JOINED * max(error, 1e-16) + 1e-16)
        if not joined:
            error = max(error, last.misfit + 100 * last.gap)
        return Shot(self.model.renumbered(last.numbers), last.closed, error, last.slopes, joined)


def condensed(nodes: Array, f: Flow, gap: Array, samples: Samples) -> tuple[Array, Array]:
    """Return the states with closed gaps, and their slopes in first states and numbers, to first order."""
    n, d = nodes.shape
    firsts = samples.first
    lead = len(firsts) * d
    states = nodes.copy()
    slopes = np.zeros((n, d, lead + f.number_slopes.shape[2]))
    for r, row in enumerate(firsts):
        slopes[row, :, r * d : (r + 1) * d] = np.eye(d)
    with np.errstate(all="ignore"):
        for m, row in enumerate(samples.inner):
            forward = f.start_slopes[m]
            states[row + 1] = nodes[row + 1] + gap[m] + forward @ (states[row] - nodes[row])
            slopes[row + 1] = forward @ slopes[row]
            slopes[row + 1, :, lead:] += f.number_slopes[m]
    return states, slopes
