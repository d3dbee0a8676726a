"""A law: an expression with the names of its inputs, as SymPy, LaTeX, Python, numbers or a network of units."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy

from nalm.discover.law.constants import to_sympy
from nalm.discover.law.expression import Array, Function, Input, Node, Power, Sum, evaluate, size, used
from nalm.discover.law.functions import FUNCTIONS
from nalm.errors import NALMError

if TYPE_CHECKING:
    import torch

    from nalm.discover.law.network import LawNetwork


@dataclass(frozen=True)
class Law:
    """An expression of named inputs.

    >>> law = Law(Power((Input(0), Input(1)), (1.0, -1.0), 0.5), ("a", "b"))
    >>> print(law, law.latex(), law.predict([[3.0, 4.0]]), law.size)
    a/(2*b) \\frac{a}{2 b} [0.375] 5
    """

    expression: Node
    names: tuple[str, ...]

    @property
    def size(self) -> int:
        """The number of symbols of the law."""
        return size(self.expression)

    @property
    def inputs(self) -> list[str]:
        """The names of the inputs it uses."""
        return [self.names[i] for i in sorted(used(self.expression))]

    def sympy(self) -> sympy.Expr:
        """Return the law in SymPy; numbers are exact where they are simple."""
        return _sympy(self.expression, [sympy.Symbol(n) for n in self.names])

    def latex(self) -> str:
        """Return the law in LaTeX."""
        return str(sympy.latex(self.sympy()))

    def python(self) -> str:
        """Return the law as Python source, for numbers or arrays with the names of the inputs; every digit is kept.

        Functions are those of NumPy, imported as np.

        >>> Law(Sum((Input(0), Input(1)), (1.0, -2.5), 3.0), ("a", "b")).python()
        'a - 2.5*b + 3.0'
        """
        return _python(self.expression, self.names)

    def predict(self, x: Any) -> Array:
        """Evaluate the law on every row of x (rows, inputs), in float64."""
        x = np.asarray(x, dtype=np.float64)
        if x.ndim != 2 or x.shape[1] != len(self.names):
            raise NALMError(f"The law takes x of shape (rows, {len(self.names)}), got {x.shape}.")
        return evaluate(self.expression, x)

    def to_module(self, dtype: "torch.dtype | None" = None) -> "LawNetwork":
        """Build the law as a trainable network of units, ``(*batch, inputs) -> (*batch, 1)``, that can print it."""
        from nalm.discover.law.network import LawNetwork

        return LawNetwork(self, dtype=dtype)

    def __str__(self) -> str:
        return str(sympy.sstr(self.sympy(), full_prec=False))


def _sympy(node: Node, symbols: list[sympy.Symbol]) -> sympy.Expr:
    match node:
        case Input(index):
            return symbols[index]
        case Sum(terms, weights, bias):
            parts = [to_sympy(w) * _sympy(t, symbols) for t, w in zip(terms, weights, strict=True)]
            return sympy.Add(*parts, to_sympy(bias))
        case Power(factors, exponents, coefficient):
            raised = [_sympy(f, symbols) ** to_sympy(p) for f, p in zip(factors, exponents, strict=True)]
            return (
                sympy.Mul(to_sympy(coefficient), *raised, evaluate=False)
                if _keeps(node)
                else sympy.Mul(to_sympy(coefficient), *raised)
            )
        case Function(name, argument):
            inner = _sympy(argument, symbols)
            if inner.is_number:  # SymPy would compute exp(exp(1e9)) with all its digits
                with np.errstate(all="ignore"):
                    value = float(evaluate(node, np.zeros((1, len(symbols))))[0])
                return to_sympy(value) if np.isfinite(value) else sympy.Float(value)
            return FUNCTIONS[name].sympy(inner)


def _keeps(node: Power) -> bool:
    """Return whether SymPy would multiply a number into a sum, which would change the form of the law."""
    return abs(node.coefficient) != 1 and len(node.factors) == 1 and isinstance(node.factors[0], Sum)


def _python(node: Node, names: Sequence[str]) -> str:
    match node:
        case Input(index):
            return names[index]
        case Sum(terms, weights, bias):
            text = ""
            for t, w in zip(terms, weights, strict=True):
                inner = _python(t, names)
                inner = f"({inner})" if isinstance(t, Sum) else inner
                text += f" {'-' if w < 0 else '+'} {inner if abs(w) == 1 else f'{abs(w)!r}*{inner}'}"
            text += f" {'-' if bias < 0 else '+'} {abs(bias)!r}" if bias or not text else ""
            return text[3:] if text.startswith(" + ") else "-" + text[3:]
        case Power(factors, exponents, coefficient):
            above = [_raised(f, p, names) for f, p in zip(factors, exponents, strict=True) if p > 0]
            below = [_raised(f, -p, names) for f, p in zip(factors, exponents, strict=True) if p < 0]
            number = [repr(abs(coefficient))] if abs(coefficient) != 1 or not above else []
            text = ("-" if coefficient < 0 else "") + "*".join([*number, *above])
            if not below:
                return text
            return f"{text}/{below[0]}" if len(below) == 1 else f"{text}/({'*'.join(below)})"
        case Function(name, argument):
            return FUNCTIONS[name].python.format(_python(argument, names))


def _raised(node: Node, exponent: float, names: Sequence[str]) -> str:
    inner = _python(node, names)
    inner = inner if isinstance(node, Input) else f"({inner})"
    if exponent == 1:
        return inner
    return f"{inner}**{int(exponent) if float(exponent).is_integer() else repr(exponent)}"
