"""The fractional SIR model of an epidemic (Taghvaei et al. 2020), as the power units' paper simulates it (section 4.1).

Its transmission rate is a product of fractional powers, which no library of polynomials holds.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from nalm.errors import NALMError

Array = npt.NDArray[np.float64]
NAMES = ("S", "I", "R")  # susceptible, infectious, recovered


@dataclass(frozen=True)
class FractionalSIR:
    r"""Rates of change with fractional powers of the susceptible and the infectious.

    .. math:: \dot S = -r + \eta R, \quad \dot I = r - \alpha I, \quad \dot R = \alpha I - \eta R,
        \quad r = \beta I^\gamma S^\kappa

    Nobody is born and nobody dies: the three rates add up to nothing. The paper's matrix form misses the minus
    of :math:`\eta` in the last row; its text and code have it.

    >>> [round(v, 4) for v in FractionalSIR().rates(100.0, 0.25, 10.0)]
    [-0.2, 0.2875, -0.0875]
    """

    alpha: float = 0.05  # recovery
    beta: float = 0.06  # transmission
    eta: float = 0.01  # loss of immunity
    gamma: float = 0.5  # power of the infectious
    kappa: float = 0.5  # power of the susceptible

    def rates(self, s: Any, i: Any, r: Any) -> tuple[Any, Any, Any]:
        """Return the rates of change of S, I and R; numbers, arrays, tensors or symbols."""
        infected = self.beta * i**self.gamma * s**self.kappa
        return -infected + self.eta * r, infected - self.alpha * i, self.alpha * i - self.eta * r

    def trajectory(self, start: tuple[float, float, float], times: Array) -> Array:
        """Return S, I and R at these times, (times, 3), exact to some ten digits; the first time is the start."""
        from scipy.integrate import solve_ivp

        times = np.asarray(times, dtype=np.float64)
        if min(start) < 0 or times.ndim != 1 or len(times) < 2 or not (np.diff(times) > 0).all():
            raise NALMError(
                f"A trajectory needs numbers of people of 0 or more and two or more rising times, "
                f"got start {tuple(start)} and {times.size} times."
            )
        solved = solve_ivp(
            lambda _, u: self.rates(*np.maximum(u, 0.0)),
            (float(times[0]), float(times[-1])),
            np.asarray(start, dtype=np.float64),
            method="DOP853",
            t_eval=times,
            rtol=1e-11,
            atol=1e-12,
        )
        if not solved.success:
            raise NALMError(f"The fractional SIR model could not be simulated: {solved.message}")
        found: Array = solved.y.T
        return found


START = (100.0, 0.01, 0.0)
SPAN, POINTS = 200.0, 40


def published() -> tuple[Array, Array]:
    """Return the published data: 40 times from 0 to 200, both ends included, and (40, 3) values of S, I, R."""
    times = np.linspace(0.0, SPAN, POINTS)
    return times, FractionalSIR().trajectory(START, times)
