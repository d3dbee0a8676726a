"""Read formulas from text. Only a short list of names and signs is allowed, and nothing is executed."""

import ast
import math
import operator
import warnings
from typing import Any

import sympy

from nalm.errors import NALMError

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
    """Read a formula in Python's notation as a SymPy expression; the text is never executed.

    It may consist of lines; a line can use the names of earlier ones.

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
            # such as 2or 3: a name or number that is refused below
            warnings.simplefilter("ignore", SyntaxWarning)
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
    """Refuse powers that would take long to compute."""
    if not (exponent.is_Rational and abs(exponent) <= 100):
        raise NALMError(f"A power in {text!r} must be a number of at most 100, got {exponent}.")
    if base.is_Rational and base and abs(exponent) * max(math.log10(base.q), math.log10(abs(base.p))) > 300:
        raise NALMError(f"The power ({base})**{exponent} in {text!r} is too large.")
