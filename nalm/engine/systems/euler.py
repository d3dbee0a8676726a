"""Euler's method for many systems at once: trajectories, their error, and its slope by the adjoint equation.

A system is a network that says how fast a state changes. One that diverges does no harm to the others: nothing is
summed over runs.
"""

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor
from torch.func import vjp

Rate = Callable[
    [Tensor, Tensor], Tensor
]  # parameters (runs, n) and states (runs, rows, k) to rates of change


def interpolation(times: np.ndarray, steps: int, width: float = 1.0) -> Tensor:
    """Return weights (times, steps + 1) that interpolate a trajectory between its steps, by Hermite's cubic.

    Slopes at both ends of a step are Euler's own, so that the cubic needs the next step too: within a step,
    u = y0 + a (y1 - y0) + a² (a - 1) ((y2 - y1) - (y1 - y0)).
    """
    weights = torch.zeros(len(times), steps + 1, dtype=torch.float64)
    for row, time in zip(weights, times, strict=True):
        first = min(int(time / width + 1e-9), steps - 1)
        a = float(time) / width - first
        bend = a * a * (a - 1) if first < steps - 1 else 0.0
        row[first] += 1 - a + bend
        row[first + 1] += a - 2 * bend
        if bend:
            row[first + 2] += bend
    return weights


def trajectory(rate: Rate, theta: Tensor, start: Tensor, steps: int, width: float = 1.0) -> Tensor:
    """Compute the states (runs, steps + 1, k) from a start (runs, k) on by Euler's method."""
    states = [start.unsqueeze(1)]
    for _ in range(steps):
        states.append(states[-1] + width * rate(theta, states[-1]))
    return torch.cat(states, 1)


def jacobians(rate: Rate, theta: Tensor, states: Tensor) -> Tensor:
    """Return the derivative of each rate by each variable, (runs, rows, rate, variable)."""
    values, back = vjp(lambda u: rate(theta, u), states)[:2]
    rows = []
    for k in range(values.shape[-1]):
        direction = torch.zeros_like(values)
        direction[..., k] = 1.0
        rows.append(back(direction)[0])
    return torch.stack(rows, -2)


def pulled(rate: Rate, theta: Tensor, states: Tensor, cotangents: Tensor) -> Tensor:
    """Compute the slope in the parameters, (runs, n), of the sum of rates weighted by cotangents."""
    back = vjp(lambda p: rate(p, states), theta)[1]
    slope: Tensor = back(cotangents)[0]
    return slope


def slope(
    states: Tensor,
    errors: Tensor,
    jacobian: Callable[[Tensor], Tensor],
    pull: Callable[[Tensor, Tensor], Tensor],
    width: float = 1.0,
) -> Tensor:
    """Compute the slope (runs, n) of a number whose slope in each state is ``errors`` (runs, steps + 1, k).

    Jacobians of all steps are computed at once, since the states are known; only the adjoint equation
    l = e + (1 + J)' l goes step by step, backwards.
    """
    one = torch.eye(states.shape[-1], dtype=states.dtype, device=states.device)
    grown = one + width * jacobian(states[:, :-1])
    adjoint = errors[:, -1:]
    found = [adjoint]
    for k in range(states.shape[1] - 2, 0, -1):
        adjoint = torch.baddbmm(errors[:, k : k + 1], adjoint, grown[:, k])
        found.append(adjoint)
    return width * pull(states[:, :-1], torch.cat(found[::-1], 1))
