"""Formulas of units: as LaTeX, as logic, evaluated on tensors, and compared with their unit."""

import functools
import operator
from collections.abc import Mapping, Sequence
from typing import Any

import sympy
import torch
from sympy.core.relational import Relational
from torch import Tensor

from nalm.errors import NALMError
from nalm.units.base import Unit
from nalm.units.spelling import letters

_RELATIONS = {
    sympy.StrictGreaterThan: operator.gt,
    sympy.GreaterThan: operator.ge,
    sympy.StrictLessThan: operator.lt,
    sympy.LessThan: operator.le,
    sympy.Equality: operator.eq,
    sympy.Unequality: operator.ne,
}


def latex(unit: Unit, symbols: Sequence[sympy.Expr] | None = None) -> list[str]:
    r"""Return the unit's formulas in LaTeX, one per output.

    >>> from nalm.units import RealNPU
    >>> latex(RealNPU.solved("divide"))
    ['\\frac{a}{b}']
    """
    return [sympy.latex(formula) for formula in unit.formulas(symbols)]


def rule(expression: sympy.Expr, symbols: Sequence[sympy.Symbol]) -> sympy.Basic:
    """Return the shortest formula of truth values with the signs & | ~.

    >>> a, b = sympy.symbols("a b")
    >>> rule(a + b - 2 * a * b, (a, b))
    (a & ~b) | (b & ~a)
    """
    used = [s for s in symbols if s in expression.free_symbols]
    if not used:
        return sympy.true if expression == 1 else sympy.false
    table = torch.cartesian_prod(*[torch.tensor([0.0, 1.0])] * len(used)).reshape(-1, len(used))
    holds = evaluate(expression, dict(zip(used, table.unbind(-1), strict=True))) > 0.5
    return sympy.SOPform(used, table[holds].int().tolist())


def evaluate(expression: sympy.Expr, values: Mapping[sympy.Symbol, Tensor]) -> Tensor:
    """Evaluate an expression on tensors by walking its tree; nothing is compiled or executed as code.

    >>> a = sympy.Symbol("a")
    >>> evaluate(a**2 + 1, {a: torch.tensor([1.0, 2.0])})
    tensor([2., 5.])
    """
    like = next(iter(values.values()))

    def walk(e: Any) -> Tensor:
        match e:
            case sympy.Symbol():
                if e not in values:
                    raise NALMError(f"The expression uses {e}, for which no values were given.")
                return values[e]
            case sympy.Number() | sympy.NumberSymbol():
                return torch.full_like(like, float(e))
            case sympy.Add():
                return functools.reduce(torch.add, map(walk, e.args))
            case sympy.Mul():
                return functools.reduce(torch.mul, map(walk, e.args))
            case sympy.Pow():
                base, exponent = e.args
                return walk(base) ** (float(exponent) if exponent.is_number else walk(exponent))
            case sympy.Abs():
                return walk(e.args[0]).abs()
            case sympy.sign():
                return walk(e.args[0]).sign()
            case sympy.re():
                compound = {s: v.to(torch.complex128) for s, v in values.items()}
                return evaluate(e.args[0], compound).real.to(like.dtype)
            case sympy.Piecewise():
                result = torch.full_like(like, float("nan"))
                for value, condition in reversed(e.args):
                    result = torch.where(holds(condition), walk(value), result)
                return result
        raise NALMError(f"Cannot evaluate {type(e).__name__} in {expression}.")

    def holds(condition: Any) -> Tensor:
        if condition in (True, False):
            return torch.full_like(like, bool(condition), dtype=torch.bool)
        assert isinstance(condition, Relational)
        left, right = condition.args
        return _RELATIONS[type(condition)](walk(left), walk(right))

    return walk(expression)


@torch.no_grad()
def disagreement(unit: Unit, x: Tensor) -> float:
    """Return the largest relative difference between a unit and its formulas on x (batch, in).

    Relative to the formula, but at least to a millionth of its largest value; infinite if not finite.

    >>> from nalm.units import NMU
    >>> disagreement(NMU.solved("multiply"), torch.tensor([[2.0, 3.0], [-1.0, 5.0]]))
    0.0
    """
    symbols = letters(unit.in_features)
    values = dict(zip(symbols, x.unbind(-1), strict=True))
    formulas = torch.stack([evaluate(f, values) for f in unit.formulas(symbols)], -1)
    y = unit(x)
    if not bool((y.isfinite() & formulas.isfinite()).all()):
        return float("inf")
    if not y.numel():
        return 0.0
    largest = formulas.abs().amax(0)
    scale = formulas.abs().maximum(1e-6 * torch.where(largest > 0, largest, 1.0))
    return float(((y - formulas).abs() / scale).max())
