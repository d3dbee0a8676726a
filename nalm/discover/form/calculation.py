"""Evaluation of SymPy expressions in NumPy, step by step; equal parts are computed once, and nothing is executed."""

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

import numpy as np
import sympy

from nalm.discover.law.from_sympy import SYMPY
from nalm.discover.law.functions import FUNCTIONS
from nalm.errors import NALMError

Step = tuple[Callable[..., Any], tuple[int, ...]]


class Calculation:
    """Several expressions of the same symbols, as a list of steps from the symbols up.

    >>> x, a = sympy.symbols("x a")
    >>> Calculation([a * x**2, sympy.exp(x - x)], [x, a]).run([np.array([1.0, 2.0]), 3.0])
    [array([ 3., 12.]), 1.0]
    """

    def __init__(self, expressions: Sequence[sympy.Expr], symbols: Sequence[sympy.Symbol]):
        self._places: dict[sympy.Expr, int] = {s: i for i, s in enumerate(symbols)}
        self._steps: list[Step] = []
        self._results = [self._place(e) for e in expressions]

    def _place(self, expression: sympy.Expr) -> int:
        """Return the place of an expression's value, after adding the steps that compute it."""
        if expression not in self._places:
            step = self._step(expression)
            self._places[expression] = len(self._places)
            self._steps.append(step)
        return self._places[expression]

    def _step(self, expression: sympy.Expr) -> Step:
        if expression.is_number:
            value = float(expression)
            return (lambda: value), ()
        inner = tuple(self._place(a) for a in expression.args)
        if isinstance(expression, sympy.Add):
            return (lambda *parts: reduce(np.add, parts)), inner
        if isinstance(expression, sympy.Mul):
            return (lambda *parts: reduce(np.multiply, parts)), inner
        if isinstance(expression, sympy.Pow):
            return (lambda base, power: np.asarray(base, dtype=np.float64) ** power), inner
        if isinstance(expression, sympy.sign):
            return np.sign, inner
        if type(expression) not in SYMPY:
            raise NALMError(
                f"The slope of the form holds {expression.func.__name__}: write the form otherwise."
            )
        return FUNCTIONS[SYMPY[type(expression)]].value, inner

    def run(self, values: Sequence[Any]) -> list[Any]:
        """Return the values of the expressions for these values of the symbols."""
        found = list(values)
        with np.errstate(all="ignore"):
            for compute, places in self._steps:
                found.append(compute(*(found[i] for i in places)))
        return [found[i] for i in self._results]


def without_overflow(expression: sympy.Expr) -> sympy.Expr:
    """Write log(exp(u) - c) as u + log(1 - c*exp(-u)), which has a value and slopes also where exp(u) overflows.

    >>> without_overflow(sympy.log(sympy.exp(sympy.Symbol("u")) - 1))
    u + log(1 - exp(-u))
    """

    def is_one(e: sympy.Expr) -> bool:
        return (
            isinstance(e, sympy.log)
            and isinstance(e.args[0], sympy.Add)
            and len(e.args[0].args) == 2
            and e.args[0].args[0].is_negative is True
            and e.args[0].args[0].is_number
            and isinstance(e.args[0].args[1], sympy.exp)
        )

    def safe(e: sympy.Expr) -> sympy.Expr:
        number, power = e.args[0].args
        return power.args[0] + sympy.log(1 + number * sympy.exp(-power.args[0]))

    return expression.replace(is_one, safe)
