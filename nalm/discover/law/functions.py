"""Elementary functions of laws: one entry for each, with its slope, its symmetry and its names elsewhere.

To add one, write an entry: expressions, files, networks, certificates and dimensions read this table.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import sympy
from numpy.typing import NDArray
from scipy.special import expit

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Elementary:
    """A function of one real number, without parameters.

    ``slope(v, e)`` is the derivative at v, or e away from a point where it is infinite, if v is nearer. A point
    outside the domain has the value NaN.
    """

    value: Callable[[Array], Array]
    slope: Callable[[Array, Array], Array]
    sympy: Callable[[sympy.Expr], sympy.Expr]
    torch: str  # its name there
    python: str  # a pattern for the argument
    parity: int = 0  # 1: g(-v) = g(v), -1: g(-v) = -g(v)
    period: float = math.inf
    pole: str = ""  # "cos": has poles where the cosine of its argument is 0; "log": where the argument is 0
    keeps_dimension: bool = False  # else the argument is a number, and so is the value


def _numpy(name: str) -> str:
    return f"np.{name}({{}})"


def _arc(v: Array, e: Array) -> Array:
    return np.asarray(1 / np.sqrt(np.maximum((1 - v) * (1 + v), e)))


FUNCTIONS: dict[str, Elementary] = {
    "sin": Elementary(np.sin, lambda v, e: np.cos(v), sympy.sin, "sin", _numpy("sin"), -1, 2 * math.pi),
    "cos": Elementary(np.cos, lambda v, e: -np.sin(v), sympy.cos, "cos", _numpy("cos"), 1, 2 * math.pi),
    "tan": Elementary(
        np.tan, lambda v, e: 1 + np.tan(v) ** 2, sympy.tan, "tan", _numpy("tan"), -1, math.pi, "cos"
    ),
    "exp": Elementary(np.exp, lambda v, e: np.exp(v), sympy.exp, "exp", _numpy("exp")),
    "log": Elementary(
        np.log, lambda v, e: 1 / np.maximum(np.abs(v), e), sympy.log, "log", _numpy("log"), pole="log"
    ),
    "sinh": Elementary(np.sinh, lambda v, e: np.cosh(v), sympy.sinh, "sinh", _numpy("sinh"), -1),
    "cosh": Elementary(np.cosh, lambda v, e: np.sinh(v), sympy.cosh, "cosh", _numpy("cosh"), 1),
    "tanh": Elementary(np.tanh, lambda v, e: 1 / np.cosh(v) ** 2, sympy.tanh, "tanh", _numpy("tanh"), -1),
    "asin": Elementary(np.arcsin, _arc, sympy.asin, "asin", _numpy("arcsin"), -1),
    "acos": Elementary(np.arccos, lambda v, e: -_arc(v, e), sympy.acos, "acos", _numpy("arccos")),
    "atan": Elementary(np.arctan, lambda v, e: 1 / (1 + v**2), sympy.atan, "atan", _numpy("arctan"), -1),
    "abs": Elementary(
        np.abs, lambda v, e: np.sign(v), sympy.Abs, "abs", _numpy("abs"), 1, keeps_dimension=True
    ),
    "logistic": Elementary(
        expit,
        lambda v, e: expit(v) * expit(-v),
        lambda v: 1 / (1 + sympy.exp(-v)),
        "sigmoid",
        "1/(1 + np.exp(-({})))",
    ),
}

STEEP = 700.0  # exp of more overflows a float64


def log_beside_exp(v: Array, weight: float, bias: float) -> Array:
    """Return log(weight*exp(v) + bias) for a positive weight, also where exp(v) is too large for a float64.

    >>> log_beside_exp(np.array([0.0, 1000.0]), 2.0, -1.0).round(3)
    array([   0.   , 1000.693])
    """
    with np.errstate(all="ignore"):
        return np.where(v > STEEP, v + np.log(weight), np.log(weight * np.exp(v) + bias))


def beside_exp_slope(v: Array, weight: float, bias: float) -> Array:
    """Return the derivative of log(weight*exp(v) + bias) in v."""
    with np.errstate(all="ignore"):
        return 1 / (1 + bias / weight * np.exp(-v))
