"""The text of a form: read without executing it, as a SymPy expression of columns and parameters, and as a law."""

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import sympy

from nalm.discover.law.expression import Function, Node
from nalm.discover.law.from_sympy import node_of
from nalm.discover.law.functions import FUNCTIONS
from nalm.errors import NALMError, unknown

LONGEST = 10_000  # characters
OTHER = {
    "sqrt": sympy.sqrt,
    "ln": sympy.log,
    "log10": lambda v: sympy.log(v) / sympy.log(10),
    "arctan": sympy.atan,
    "arcsin": sympy.asin,
    "arccos": sympy.acos,
}
CALLS = {name: f.sympy for name, f in FUNCTIONS.items()} | OTHER


@dataclass(frozen=True)
class Form:
    """A form: its expression, the names of its columns and of its parameters, and whether it gives log y."""

    expression: sympy.Expr
    columns: tuple[str, ...]
    parameters: tuple[str, ...]
    of_logarithm: bool = False

    def node(self, values: Mapping[str, float]) -> Node:
        """Return the law of y with these values of the parameters."""
        node = node_of(self.expression, self.columns, values)
        return Function("exp", node) if self.of_logarithm else node


def read_form(text: str, columns: Sequence[str]) -> Form:
    """Read a form such as "a*T*n/V + b" or "log(y) = a - b*x"; a name that is no column is a parameter.

    A form without parameters is a law that is tested as it is.

    >>> form = read_form("a*T*n/V + b", ["n", "T", "V"])
    >>> form.parameters, form.expression
    (('a', 'b'), T*a*n/V + b)
    """
    if len(text) > LONGEST:
        raise NALMError(f"A form has at most {LONGEST} characters, got {len(text)}.")
    left, equals, right = text.replace("^", "**").rpartition("=")
    of_logarithm = left.replace(" ", "").startswith(("log(", "ln("))
    if equals and not of_logarithm and not left.strip().isidentifier():
        raise NALMError(f"The left side of a form is y or log(y), got {left.strip()[:60]!r}.")
    try:
        tree = ast.parse(right.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise NALMError(f"The form {text[:80]!r} is no formula: write it as a*x**2 + b.") from None
    names: dict[str, None] = {}
    expression = _expression(tree, names)
    used = tuple(n for n in columns if n in names)
    parameters = tuple(n for n in names if n not in columns)
    if not used:
        raise NALMError(f"The form {text[:80]!r} uses no column. Known: {', '.join(columns)}.")
    return Form(expression, tuple(columns), parameters, of_logarithm)


def symbol(name: str) -> sympy.Symbol:
    """Return the symbol of a column or a parameter, which is a real number."""
    return sympy.Symbol(name, real=True)


def _expression(tree: ast.AST, names: dict[str, None]) -> sympy.Expr:
    match tree:
        case ast.Constant(value) if isinstance(value, int | float) and not isinstance(value, bool):
            return sympy.Integer(value) if isinstance(value, int) else sympy.Float(value)
        case ast.Name("pi"):
            return sympy.pi
        case ast.Name(name):
            names[name] = None
            return symbol(name)
        case ast.UnaryOp(ast.USub(), inner):
            return -_expression(inner, names)
        case ast.UnaryOp(ast.UAdd(), inner):
            return _expression(inner, names)
        case ast.BinOp(left, ast.Add() | ast.Sub() | ast.Mult() | ast.Div() | ast.Pow() as operation, right):
            a, b = _expression(left, names), _expression(right, names)
            match operation:
                case ast.Add():
                    return a + b
                case ast.Sub():
                    return a - b
                case ast.Mult():
                    return a * b
                case ast.Div():
                    return a / b
            return a**b
        case ast.Call(ast.Name(name), [argument], []):
            if name not in CALLS:
                raise unknown("function", name, CALLS)
            return CALLS[name](_expression(argument, names))
    raise NALMError(
        f"A form is made of names, numbers, + - * / ** and functions, not {ast.unparse(tree)[:60]!r}."
    )


def exchangeable(form: Form) -> list[list[list[int]]]:
    """Return the terms of a sum that differ in their parameters alone: for each such form, those of every term.

    >>> exchangeable(read_form("a*exp(-k*x) + b*exp(-m*x) + c", ["x"]))
    [[[0, 1], [2, 3]]]
    """
    parameters = [symbol(n) for n in form.parameters]
    alike: dict[sympy.Expr, list[list[int]]] = {}
    for term in sympy.Add.make_args(form.expression):
        own = [i for i, p in enumerate(parameters) if p in term.free_symbols]
        names = {parameters[i]: sympy.Symbol(f"parameter{n}") for n, i in enumerate(own)}
        alike.setdefault(term.subs(names, simultaneous=True), []).append(own)
    groups = [terms for terms in alike.values() if len(terms) > 1 and terms[0]]
    return [terms for terms in groups if len({i for t in terms for i in t}) == sum(map(len, terms))]
