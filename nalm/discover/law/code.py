"""A law as source code that needs no nalm: a function in C, NumPy or JAX, or a formula for a spreadsheet."""

import string
from collections.abc import Sequence
from typing import Any

import sympy
from sympy.printing.c import C99CodePrinter
from sympy.printing.numpy import JaxPrinter, NumPyPrinter
from sympy.printing.str import StrPrinter

from nalm.discover.law.law import Law
from nalm.errors import NALMError

DIGITS = 17  # of a float64, so that none is lost


def to_c(law: Law, name: str = "law") -> str:
    """Return a law as a function in C99, which needs math.h only.

    >>> from nalm.discover.law.expression import Input, Power
    >>> print(to_c(Law(Power((Input(0), Input(1)), (1.0, -1.0), 2.5), ("a", "b"))))
    #include <math.h>
    <BLANKLINE>
    double law(double a, double b) {
        return (5.0/2.0)*a/b;
    }
    <BLANKLINE>
    """
    printer = C99CodePrinter()
    arguments = ", ".join(f"double {printer.doprint(s)}" for s in _symbols(law))
    body = printer.doprint(_precise(law))
    return f"#include <math.h>\n\ndouble {_named(name)}({arguments}) {{\n    return {body};\n}}\n"


def to_numpy(law: Law, name: str = "law") -> str:
    """Return a law as a Python function of NumPy arrays.

    >>> from nalm.discover.law.expression import Input, Sum
    >>> print(to_numpy(Law(Sum((Input(0), Input(1)), (1.0, -2.5), 3.0), ("a", "b"))))
    import numpy
    <BLANKLINE>
    <BLANKLINE>
    def law(a, b):
        return a - 5/2*b + 3
    <BLANKLINE>
    """
    return _python(law, name, NumPyPrinter(), "import numpy")


def to_jax(law: Law, name: str = "law") -> str:
    """Return a law as a Python function of JAX arrays, which can be differentiated and compiled."""
    return _python(law, name, JaxPrinter(), "import jax")


def to_excel(law: Law, cells: Sequence[str] | None = None) -> str:
    """Return a law as the formula of a cell; ``cells`` are those of the inputs, A2, B2, C2, ... if not given.

    >>> from nalm.discover.law.expression import Input, Power
    >>> to_excel(Law(Power((Input(0), Input(1)), (1.0, -2.0), 2.5), ("a", "b")))
    '=(5/2)*A2*B2^(-2)'
    """
    names = list(excel_cells(law).values()) if cells is None else list(cells)
    if len(names) != len(law.names):
        raise NALMError(f"The law has {len(law.names)} inputs, got {len(names)} cells.")
    return "=" + _Excel(dict(zip(_symbols(law), names, strict=True))).doprint(_precise(law))


def excel_cells(law: Law) -> dict[str, str]:
    """Return the cell of each input in the formula of ``to_excel``."""
    return {name: f"{_column(i)}2" for i, name in enumerate(law.names)}


def _symbols(law: Law) -> list[sympy.Symbol]:
    return [sympy.Symbol(name) for name in law.names]


def _precise(law: Law) -> sympy.Expr:
    """Return the law in SymPy with every digit of its numbers."""
    expression = law.sympy()
    return expression.xreplace({f: sympy.Float(f, DIGITS) for f in expression.atoms(sympy.Float)})


def _named(name: str) -> str:
    if not name.isidentifier():
        raise NALMError(f"A function cannot be called {name!r}: use letters, digits and underscores.")
    return name


def _python(law: Law, name: str, printer: Any, first: str) -> str:
    body = printer.doprint(_precise(law))
    return f"{first}\n\n\ndef {_named(name)}({', '.join(map(printer.doprint, _symbols(law)))}):\n    return {body}\n"


def _column(index: int) -> str:
    """Return the name of a column of a spreadsheet: A to Z, then AA, AB, ..."""
    letters = string.ascii_uppercase
    return letters[index] if index < 26 else _column(index // 26 - 1) + letters[index % 26]


class _Excel(StrPrinter):
    """Prints SymPy as a spreadsheet reads it, without a minus before a power: -a^2 is the square of -a there."""

    FUNCTIONS = {"Abs": "ABS", "log": "LN", "exp": "EXP", "sqrt": "SQRT"}

    def __init__(self, cells: dict[sympy.Symbol, str]):
        super().__init__({"full_prec": False})
        self.cells = cells

    def _print_Symbol(self, expr: Any) -> str:  # noqa: N802
        return self.cells[expr]

    def _print_Pow(self, expr: Any, rational: bool = False) -> str:  # noqa: N802
        base = self._print(expr.base)
        return f"{base if expr.base.is_Symbol else f'({base})'}^({self._print(expr.exp)})"

    def _print_Function(self, expr: Any) -> str:  # noqa: N802
        name = type(expr).__name__
        return f"{self.FUNCTIONS.get(name, name.upper())}({', '.join(map(self._print, expr.args))})"

    def _print_Pi(self, expr: Any) -> str:  # noqa: N802
        return "PI()"

    def _print_Exp1(self, expr: Any) -> str:  # noqa: N802
        return "EXP(1)"

    def _print_Rational(self, expr: Any) -> str:  # noqa: N802
        return f"({expr.p}/{expr.q})"

    def _print_Float(self, expr: Any) -> str:  # noqa: N802
        return repr(float(expr))

    def _print_Mul(self, expr: Any) -> str:  # noqa: N802
        return "*".join(
            f"({self._print(a)})" if a.is_Add else self._print(a) for a in expr.as_ordered_factors()
        )

    def _print_Add(self, expr: Any, order: Any = None) -> str:  # noqa: N802
        terms = [self._print(a) for a in expr.as_ordered_terms()]
        return "+".join(f"({term})" if term.startswith("-") else term for term in terms)
