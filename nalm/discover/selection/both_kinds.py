"""Noise that is additive and relative at once, where what a law leaves clearly says so.

An instrument may be off by 0.1 and by 2% of what it measures: neither kind of noise alone explains small and large
values together, and a law fitted under one of them gives too much weight to some rows.
"""

from dataclasses import replace

import numpy as np

from nalm.discover.law.expression import Array, Node, evaluate
from nalm.discover.problem import Problem

GAIN = 12.0  # of -2 log likelihood over the better kind alone: one more number, found among many
FEWEST = 20  # rows that can tell
STEPS = 60  # sizes that are tried
REACH = 30.0  # by which they reach beyond the values of the law
SHOWN = 0.02  # the least share of either part in the variance of some tenth of the rows


def with_both(problem: Problem, node: Node) -> Problem | None:
    """Return the problem with noise of both kinds around a law; None if one kind explains the rows as well.

    Its errors are up to a factor: the relative noise is 1, and ``floor`` the value of y at which both parts are equal.
    """
    if problem.error is not None or problem.noise is not None or len(problem.order) < FEWEST:
        return None
    x, y = np.concatenate([problem.x, problem.held_x]), np.concatenate([problem.y, problem.held_y])
    with np.errstate(all="ignore"):
        value = evaluate(node, x)
        floor = floor_of(value, y - value)
    return None if floor is None else replace(problem, error=np.sqrt(floor**2 + value**2), floor=floor)


def floor_of(value: Array, left: Array) -> float | None:
    """Return the value at which additive and relative noise are equal, by likelihood; None if one of them is enough.

    >>> rng = np.random.default_rng(0)
    >>> value, e = np.geomspace(0.1, 1000, 300), rng.standard_normal((2, 300))
    >>> 1 < floor_of(value, 0.1 * e[0] + 0.05 * value * e[1]) < 4
    True
    >>> floor_of(value, 0.1 * e[0]), floor_of(value, 0.05 * value * e[1])
    (None, None)
    """
    size = np.abs(value)
    if not (np.isfinite(left).all() and np.isfinite(size).all() and size.max() > 0 and left.any()):
        return None
    least = np.quantile(size, 0.02) / REACH
    floors = np.geomspace(max(float(least), 1e-9 * size.max()), REACH * size.max(), STEPS)
    misfit = [_misfit(np.hypot(floor, size), left) for floor in floors]
    best = int(np.argmin(misfit))
    alone = min(_misfit(np.ones_like(size), left), _misfit(size, left) if size.all() else np.inf, misfit[0])
    share = floors[best] ** 2 / (floors[best] ** 2 + size**2)  # of the additive part in the variance
    shown = np.quantile(share, 0.9) > SHOWN and np.quantile(1 - share, 0.9) > SHOWN
    return float(floors[best]) if shown and misfit[best] < alone - GAIN else None


def _misfit(error: Array, left: Array) -> float:
    """Return -2 log likelihood of residuals whose sizes are known up to a factor."""
    return len(left) * float(np.log(np.mean((left / error) ** 2))) + 2 * float(np.sum(np.log(error)))
