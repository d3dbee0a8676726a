"""A formula of SymPy, such as that of a unit, as a law that can be certified."""

from collections.abc import Sequence
from typing import Any

import sympy

from nalm.discover.law.expression import Function, Input, Node, Sum, powered, weighted
from nalm.discover.law.law import Law
from nalm.errors import NALMError


def from_sympy(expression: sympy.Expr, names: Sequence[str]) -> Law:
    """Return a formula of sums, products, constant powers and absolute values as a law of these inputs.

    >>> a, b = sympy.symbols("a b")
    >>> print(from_sympy(2 * a / b - 1, ("a", "b")).python())
    2.0*a/b - 1.0
    """
    places = {name: i for i, name in enumerate(names)}

    def walk(e: Any) -> Node:
        match e:
            case sympy.Symbol() if e.name in places:
                return Input(places[e.name])
            case _ if e.is_number and e.is_real:
                return Sum((), (), float(e))
            case sympy.Add():
                bias, terms = e.as_coeff_add()
                split = [t.as_coeff_Mul() for t in terms]
                return weighted([walk(t) for _, t in split], [float(c) for c, _ in split], float(bias))
            case sympy.Mul():
                coefficient, factors = e.as_coeff_mul()
                split = [f.as_base_exp() if f.as_base_exp()[1].is_Number else (f, 1) for f in factors]
                return powered([walk(b) for b, _ in split], [float(p) for _, p in split], float(coefficient))
            case sympy.Pow() if e.exp.is_Number:
                return powered([walk(e.base)], [float(e.exp)])
            case sympy.Abs():
                return Function("abs", walk(e.args[0]))
        raise NALMError(f"{e} is no law: only sums, products, constant powers and absolute values are.")

    return Law(walk(expression), tuple(names))
