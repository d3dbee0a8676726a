"""From text to a unit: formulas read with a short list of allowed signs, never evaluated as code."""

import ast
import math
import operator
import re
import warnings
from collections.abc import Sequence
from typing import Any

import sympy
import torch
from sympy.core.relational import Relational
from torch import Tensor

from nalm.errors import NALMError
from nalm.units import NAU, NLRL, NMU, NRU, NSR, NACMul, RealNPU, Unit
from nalm.units.npu import EXPONENTS

_BINARY = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
    ast.BitAnd: sympy.And,
    ast.BitOr: sympy.Or,
}
_UNARY = {ast.UAdd: operator.pos, ast.USub: operator.neg, ast.Invert: sympy.Not, ast.Not: sympy.Not}
_COMPARE = {
    ast.Lt: sympy.StrictLessThan,
    ast.LtE: sympy.LessThan,
    ast.Gt: sympy.StrictGreaterThan,
    ast.GtE: sympy.GreaterThan,
    ast.Eq: sympy.Equality,
    ast.NotEq: sympy.Unequality,
}
_FUNCTIONS = {"sqrt": sympy.sqrt, "abs": sympy.Abs, "Abs": sympy.Abs, "sign": sympy.sign}
_RELATIONS = {"Eq": sympy.Equality, "Ne": sympy.Unequality}  # as SymPy writes them


def parse(text: str) -> sympy.Basic:
    """A formula in Python's notation as SymPy, from a short list of allowed signs; never evaluated as code.

    It may be written in lines that name what later ones use.

    >>> parse("a*b/sqrt(c)"), parse("s1 = a + b; c*s1")
    (a*b/sqrt(c), c*(a + b))
    """
    *lines, last = text.split(";")
    if len(lines) > 100:
        raise NALMError(f"A formula has at most 100 lines, got {len(lines) + 1}.")
    known: dict[Any, Any] = {}
    for line in lines:
        name, _, expression = line.partition("=")
        if not name.strip().isidentifier():
            raise NALMError(f"A line of a formula is NAME = EXPRESSION, got {line.strip()!r}.")
        known[sympy.Symbol(name.strip())] = _parse(expression).xreplace(known)
    return _parse(last).xreplace(known)


def _parse(text: str) -> sympy.Basic:
    if len(text) > 1000:
        raise NALMError(f"A formula has at most 1000 characters, got {len(text)}.")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter(
                "ignore", SyntaxWarning
            )  # such as 2or 3: a name or number that is refused below
            tree = ast.parse(text.strip().replace("^", "**"), mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise NALMError(f"Cannot read the formula {text!r}: {error}.") from None

    def piece(node: ast.AST) -> tuple[Any, Any]:
        match node:
            case ast.Tuple(elts=[value, ast.Constant(value=True)]):
                return walk(value), True
            case ast.Tuple(elts=[value, condition]):
                return walk(value), walk(condition)
        raise NALMError(f"A piece of {text!r} is (value, condition), got {ast.unparse(node)!r}.")

    def walk(node: ast.AST) -> Any:
        match node:
            case ast.Name(id=name):
                return sympy.Symbol(name)
            case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
                if not abs(value) <= 1e6:
                    raise NALMError(f"The number {value!r} in {text!r} is beyond a million.")
                return sympy.Rational(str(value))
            case ast.BinOp(op=op, left=left, right=right) if type(op) in _BINARY:
                a, b = walk(left), walk(right)
                if isinstance(op, ast.Pow):
                    _check_power(text, a, b)
                return _BINARY[type(op)](a, b)
            case ast.UnaryOp(op=op, operand=operand) if type(op) in _UNARY:
                return _UNARY[type(op)](walk(operand))
            case ast.BoolOp(op=op, values=values):
                return (sympy.And if isinstance(op, ast.And) else sympy.Or)(*map(walk, values))
            case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in _COMPARE:
                return _COMPARE[type(op)](walk(left), walk(right))
            case ast.Call(func=ast.Name(id=name), args=[argument], keywords=[]) if name in _FUNCTIONS:
                return _FUNCTIONS[name](walk(argument))
            case ast.Call(func=ast.Name(id=name), args=[left, right], keywords=[]) if name in _RELATIONS:
                return _RELATIONS[name](walk(left), walk(right))
            case ast.Call(func=ast.Name(id="Piecewise"), args=pieces, keywords=[]) if pieces:
                return sympy.Piecewise(*map(piece, pieces))
        raise NALMError(
            f"Cannot read {ast.unparse(node)!r} in {text!r}: allowed are names, numbers, "
            "+ - * / ** & | ~ < <= == != >= >, sqrt and abs."
        )

    try:
        return sympy.sympify(walk(tree.body))
    except (TypeError, AttributeError, RecursionError) as error:
        raise NALMError(f"The formula {text!r} mixes numbers and truth values: {error}.") from None


def _check_power(text: str, base: Any, exponent: Any) -> None:
    """Keep powers small enough to be worked out at once."""
    if not (exponent.is_Rational and abs(exponent) <= 100):
        raise NALMError(f"A power in {text!r} must be a number of at most 100, got {exponent}.")
    if base.is_Rational and base and abs(exponent) * max(math.log10(base.q), math.log10(abs(base.p))) > 300:
        raise NALMError(f"The power ({base})**{exponent} in {text!r} is too large.")


def _natural(name: str) -> list[tuple[int, str]]:
    """A sorting key that puts x2 before x10."""
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in re.split(r"(\d+)", name)]


def from_formula(text: str, inputs: Sequence[str] | None = None) -> Unit:
    """A solved unit for a formula that one unit can express, or an error that says why none can.

    Inputs are taken in alphabetical order (x2 before x10) unless named.

    >>> from_formula("a*b/c")
    NRU(in_features=3, out_features=1, penalty='linear', bounds='clip', tanh_scale=1000.0, y = a*b/c)
    """
    expression = parse(text)
    found = sorted((s.name for s in expression.free_symbols), key=_natural)
    names = list(inputs) if inputs is not None else found
    if missing := [n for n in found if n not in names]:
        raise NALMError(f"The formula {text!r} uses {missing[0]!r}, which is not among the inputs {names}.")
    if not names or len(set(names)) != len(names):
        raise NALMError(f"The formula {text!r} needs at least one input, each named once, got {names}.")
    x = [sympy.Symbol(n) for n in names]
    for express in (_sum, _powers, _magnitudes, _comparison, _rule):
        if (unit := express(expression, x)) is not None:
            return unit.exact_()
    raise NALMError(
        f"No single unit computes {text!r}. One unit can add and subtract inputs (coefficients -1, 0, 1), "
        f"multiply their powers (exponents {', '.join(f'{e:g}' for e in EXPONENTS)}), compare two of them, "
        "or join them by & or |."
    )


def _sum(e: Any, x: list[sympy.Symbol]) -> Unit | None:
    if not isinstance(e, sympy.Expr):
        return None
    terms = e.as_coefficients_dict()
    if not all(s in x and c in (-1, 1) for s, c in terms.items()):
        return None
    return NAU(len(x), 1).assign_({"weight": _row(float(terms.get(s, 0)) for s in x)})


def _row(values: Any) -> Tensor:
    return torch.tensor([list(values)])


def _exponents(e: Any, bases: list[Any]) -> list[float] | None:
    if not isinstance(e, sympy.Expr):
        return None
    powers = e.as_powers_dict()
    if not all(base in bases and p.is_Rational and float(p) in EXPONENTS for base, p in powers.items()):
        return None
    return [float(powers.get(base, 0)) for base in bases]


def _powers(e: Any, x: list[sympy.Symbol]) -> Unit | None:
    exponents = _exponents(e, x)
    if exponents is None:
        return None
    if all(p in (0, 1) for p in exponents):
        return NMU(len(x), 1).assign_({"weight": _row(exponents)})
    if all(p in (-1, 0, 1) for p in exponents):
        return NRU(len(x), 1).assign_({"weight": _row(exponents)}).eval()
    gate = torch.tensor([float(p != 0) for p in exponents])
    return RealNPU(len(x), 1).assign_({"weight": _row(exponents), "gate": gate})


def _magnitudes(e: Any, x: list[sympy.Symbol]) -> Unit | None:
    exponents = _exponents(e, [sympy.Abs(s) for s in x])
    if exponents is None or not all(p in NACMul.grids["weight"] for p in exponents):
        return None
    return NACMul(len(x), 1).assign_({"weight": _row(exponents)})


def _comparison(e: Any, x: list[sympy.Symbol]) -> Unit | None:
    names = {
        sympy.StrictLessThan: "less",
        sympy.LessThan: "less_equal",
        sympy.StrictGreaterThan: "greater",
        sympy.GreaterThan: "greater_equal",
        sympy.Equality: "equal",
        sympy.Unequality: "not_equal",
    }
    if type(e) not in names or not all(side in x for side in e.args):
        return None
    unit = NSR.solved(names[type(e)], len(x))
    sides = {side: _row(float(s == e.args[i]) for s in x) for i, side in enumerate(("left", "right"))}
    return unit.assign_({**unit.weights(), **sides})


def _rule(e: Any, x: list[sympy.Symbol]) -> Unit | None:
    parts = e.args if isinstance(e, sympy.And | sympy.Or) else (e,)
    literals = {p.args[0] if isinstance(p, sympy.Not) else p: isinstance(p, sympy.Not) for p in parts}
    if isinstance(e, Relational) or not all(s in x for s in literals):
        return None
    return NLRL(len(x), 1).assign_(
        {
            "weight": _row(float(s in literals) for s in x),
            "negate": _row(float(literals.get(s, False)) for s in x),
            "output": torch.tensor([float(isinstance(e, sympy.Or))]),
        }
    )
