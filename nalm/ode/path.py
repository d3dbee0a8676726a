"""Between the samples: a spline, smoothed where they are noisy, how unsure it is, and the noise of the samples."""

from dataclasses import dataclass

import numpy as np
from scipy.interpolate import CubicSpline, make_interp_spline, make_smoothing_spline

from nalm.discover.law.expression import Array
from nalm.ode.shooting import Runs

NODES, WEIGHTS = np.polynomial.legendre.leggauss(5)


@dataclass(frozen=True)
class Path:
    """States at the samples, states between them (intervals, 5, d), and how unsure each interval is (intervals, d)."""

    nodes: Array
    between: Array
    unsure: Array
    noise: Array  # of the samples of each variable, over its spread


def splined(runs: Runs) -> Path:
    """A spline through every run, smoothed by cross-validation if that changes more than the spline is unsure of."""
    nodes, between, unsure, left = runs.x.copy(), [], [], []
    for first, end in zip(runs.first, [*runs.first[1:], len(runs.t)], strict=True):
        t, x = runs.t[first:end], runs.x[first:end]
        middle, half = (t[1:] + t[:-1]) / 2, np.diff(t) / 2
        at = middle[:, None] + half[:, None] * NODES
        plain, other = make_interp_spline(t, x, k=5), CubicSpline(t, x)
        rough = np.abs(plain(at) - other(at)).max(1)
        states = plain(at)
        left.append(deviations(t, x) / runs.spread)
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
    """How far each inner sample lies from the polynomial through its neighbours, over how that magnifies noise."""
    reach = min(3, (len(t) - 1) // 2)
    out = []
    for i in range(reach, len(t) - reach):
        near = [k for k in range(i - reach, i + reach + 1) if k != i]
        weights = np.array(
            [np.prod([(t[i] - t[m]) / (t[k] - t[m]) for m in near if m != k]) for k in near]
        )  # Lagrange
        out.append((x[i] - weights @ x[near]) / np.sqrt(1 + weights @ weights))
    return np.array(out)
