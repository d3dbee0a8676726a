"""A formula of SymPy, such as that of a unit or of a given form, as a law."""

from collections.abc import Mapping, Sequence

import sympy

from nalm.discover.law.expression import Function, Input, Node, Power, Sum
from nalm.discover.law.functions import FUNCTIONS
from nalm.discover.law.law import Law
from nalm.discover.law.tidy import tidied
from nalm.errors import NALMError

SYMPY = {f.sympy: name for name, f in FUNCTIONS.items() if isinstance(f.sympy, type)}


def from_sympy(expression: sympy.Expr, names: Sequence[str]) -> Law:
    """Return a formula as a law of these inputs.

    >>> a, b = sympy.symbols("a b")
    >>> print(from_sympy(2 * a / b - 1, ("a", "b")).python())
    2.0*a/b - 1.0
    """
    return Law(node_of(expression, names, {}), tuple(names))


def node_of(expression: sympy.Expr, columns: Sequence[str], values: Mapping[str, float]) -> Node:
    """Return a formula of columns and parameters as an expression, with these values of the parameters."""
    return tidied(_walked(expression, columns, values))


def _walked(e: sympy.Expr, columns: Sequence[str], values: Mapping[str, float]) -> Node:
    if not any(s.name in columns for s in e.free_symbols):
        return Sum((), (), _number(e, values))
    if isinstance(e, sympy.Symbol):
        return Input(list(columns).index(e.name))
    inner = [_walked(a, columns, values) for a in e.args]
    if isinstance(e, sympy.Add):
        return Sum(tuple(inner), (1.0,) * len(inner))
    if isinstance(e, sympy.Mul):
        return tidied(Power(tuple(inner), (1.0,) * len(inner)))
    if isinstance(e, sympy.Pow):
        base, exponent = inner
        if isinstance(exponent, Sum) and not exponent.terms:
            return Power((base,), (exponent.bias,))
        return Function("exp", tidied(Power((exponent, Function("log", base)), (1.0, 1.0))))
    name = SYMPY.get(type(e))
    if name is None:
        raise NALMError(f"A law cannot hold {e.func.__name__}: write it with other functions.")
    return Function(name, inner[0])


def _number(e: sympy.Expr, values: Mapping[str, float]) -> float:
    """Return the value of a formula without columns."""
    value = e.subs({s: sympy.Float(values[s.name]) for s in e.free_symbols if s.name in values})
    if not (value.is_number and value.is_real):
        raise NALMError(f"{e} is no real number and holds no input of the law.")
    return float(value)
