"""The path between the samples: a spline, smoothed where they are noisy, its uncertainty, and the noise."""

from dataclasses import dataclass

import numpy as np
from scipy.interpolate import CubicSpline, make_interp_spline, make_smoothing_spline

from nalm.discover.law.expression import Array
from nalm.ode.noise import SampleNoise, estimated
from nalm.ode.shooting import Samples

NODES, WEIGHTS = np.polynomial.legendre.leggauss(5)
SMOOTHED = 5  # samples of a run that cross-validation needs


@dataclass(frozen=True)
class Path:
    """States at the samples, between them (intervals, 5, d), and the uncertainty of each interval (intervals, d)."""

    nodes: Array
    between: Array
    unsure: Array
    noise: SampleNoise


def splined(samples: Samples, kind: float | None = None) -> Path:
    """Fit a spline to every run, smoothed by cross-validation where that changes more than the uncertainty.

    ``kind`` is that of the noise, as a power of the value, if it is known.
    """
    nodes, between, unsure = _splines(samples, None)
    noise = estimated(samples, nodes, kind)
    if noise.uneven:
        nodes, between, unsure = _splines(samples, noise.relative(nodes))
    return Path(nodes, between, unsure, noise)


def _splines(samples: Samples, relative: Array | None) -> tuple[Array, Array, Array]:
    """Return the states at the samples and between them, and the uncertainty, for noise of these relative sizes."""
    nodes, between, unsure = samples.x.copy(), [], []
    for first, end in zip(samples.first, [*samples.first[1:], len(samples.t)], strict=True):
        t, x = samples.t[first:end], samples.x[first:end]
        middle, half = (t[1:] + t[:-1]) / 2, np.diff(t) / 2
        at = middle[:, None] + half[:, None] * NODES
        plain, other = make_interp_spline(t, x, k=_degree(len(t))), CubicSpline(t, x)
        rough = np.abs(plain(at) - other(at)).max(1)
        states = plain(at)
        unit = float(np.mean(np.diff(t)))  # cross-validation looks for its answer on this scale
        for j in range(x.shape[1] if len(t) >= SMOOTHED else 0):
            weights = None if relative is None else relative[first:end, j] ** -2
            smooth = make_smoothing_spline(t / unit, x[:, j], weights)
            if np.sqrt(np.mean((smooth(t / unit) - x[:, j]) ** 2)) > np.median(rough[:, j]):
                states[:, :, j], nodes[first:end, j] = smooth(at / unit), smooth(t / unit)
        between.append(states)
        unsure.append(rough)
    return nodes, np.concatenate(between), np.concatenate(unsure)


def _degree(samples: int) -> int:
    """Return the odd degree of a spline through a few samples, 5 at most."""
    return 5 if samples > 5 else 3 if samples > 3 else 1
