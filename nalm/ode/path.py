"""The path between the samples: a spline, smoothed where they are noisy, its uncertainty, and the noise."""

from dataclasses import dataclass

import numpy as np
from scipy.interpolate import CubicSpline, make_interp_spline, make_smoothing_spline

from nalm.discover.law.expression import Array
from nalm.ode.shooting import Samples

NODES, WEIGHTS = np.polynomial.legendre.leggauss(5)


@dataclass(frozen=True)
class Path:
    """States at the samples, between them (intervals, 5, d), and the uncertainty of each interval (intervals, d)."""

    nodes: Array
    between: Array
    unsure: Array
    noise: Array  # of the samples of each variable, over its spread


def splined(samples: Samples) -> Path:
    """Fit a spline to every run, smoothed by cross-validation where that changes more than the uncertainty."""
    nodes, between, unsure, left = samples.x.copy(), [], [], []
    for first, end in zip(samples.first, [*samples.first[1:], len(samples.t)], strict=True):
        t, x = samples.t[first:end], samples.x[first:end]
        middle, half = (t[1:] + t[:-1]) / 2, np.diff(t) / 2
        at = middle[:, None] + half[:, None] * NODES
        plain, other = make_interp_spline(t, x, k=5), CubicSpline(t, x)
        rough = np.abs(plain(at) - other(at)).max(1)
        states = plain(at)
        left.append(deviations(t, x) / samples.spread)
        unit = float(np.mean(np.diff(t)))  # cross-validation looks for its answer on this scale
        for j in range(x.shape[1]):
            smooth = make_smoothing_spline(t / unit, x[:, j])
            if np.sqrt(np.mean((smooth(t / unit) - x[:, j]) ** 2)) > np.median(rough[:, j]):
                states[:, :, j], nodes[first:end, j] = smooth(at / unit), smooth(t / unit)
        between.append(states)
        unsure.append(rough)
    noise = np.median(np.abs(np.concatenate(left)), axis=0) / 0.6745
    return Path(nodes, np.concatenate(between), np.concatenate(unsure), noise)


def deviations(t: Array, x: Array) -> Array:
    """Return how far each inner sample lies from the polynomial through its neighbours, in units of the noise."""
    reach = min(3, (len(t) - 1) // 2)
    out = []
    for i in range(reach, len(t) - reach):
        near = [k for k in range(i - reach, i + reach + 1) if k != i]
        weights = np.array(
            [np.prod([(t[i] - t[m]) / (t[k] - t[m]) for m in near if m != k]) for k in near]
        )  # Lagrange
        out.append((x[i] - weights @ x[near]) / np.sqrt(1 + weights @ weights))
    return np.array(out)
