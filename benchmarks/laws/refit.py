"""Refit the numbers of a rival's formula: under noise a formula is judged by its form, not by its digits."""

import re
from collections.abc import Callable, Sequence

import numpy as np
import scipy.optimize
import sympy

from nalm.discover.law.expression import Array

NUMBER = re.compile(r"(?<![\w.])\d+\.\d+(?:[eE][-+]?\d+)?")
EVALUATIONS = 200
WORDS = {  # the functions of gplearn, which protects some of them
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b,
    "sqrt": lambda a: sympy.sqrt(sympy.Abs(a)),
    "log": lambda a: sympy.log(sympy.Abs(a)),
}


def refitted(formula: str, names: Sequence[str], x: Array, y: Array) -> Callable[[Array], Array]:
    """Fit all decimal numbers of a formula of these inputs to rows again, and return it as a function of rows."""
    start = np.array([float(text) for text in NUMBER.findall(formula)])
    symbols = [sympy.Symbol(f"number_{i}") for i in range(len(start))]
    inputs = [sympy.Symbol(f"input_{i}") for i in range(len(names))]
    count = iter(range(len(start)))
    text = NUMBER.sub(lambda match: f"number_{next(count)}", formula)
    known = {**WORDS, **{str(s): s for s in symbols}, **dict(zip(names, inputs, strict=True))}
    read = sympy.sympify(text, locals=known)
    if read.has(sympy.zoo, sympy.nan, sympy.oo):  # as where gplearn divides by a - a, which it takes for 1
        return lambda rows: np.full(len(rows), np.nan)
    law = sympy.lambdify([*symbols, *inputs], read, "numpy")
    scale = float(np.sqrt(np.mean(y**2)))

    def left(numbers: Array) -> Array:
        with np.errstate(all="ignore"):
            r = (np.asarray(law(*numbers, *x.T)) - y) / scale
        return np.nan_to_num(np.broadcast_to(r, y.shape), nan=1e6, posinf=1e6, neginf=-1e6)

    best = start
    if 0 < len(start) <= len(y):
        close = dict.fromkeys(("ftol", "xtol", "gtol"), 1e-15)
        fit = scipy.optimize.least_squares(left, start, x_scale="jac", max_nfev=EVALUATIONS, **close)
        best = fit.x
    return lambda rows: np.broadcast_to(np.asarray(law(*best, *rows.T), np.float64), len(rows))
