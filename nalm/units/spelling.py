"""SymPy expressions from weights: the building blocks of the units' formulas."""

import string
from collections.abc import Sequence
from typing import Any

import sympy
from torch import Tensor

from nalm.errors import NALMError


def letters(n: int, *, positive: bool | None = None) -> list[sympy.Symbol]:
    """Return symbols for n inputs: a, b, c, ... up to 26 inputs, else x1, x2, ...

    >>> letters(2)
    [a, b]
    """
    names = string.ascii_lowercase[:n] if n <= 26 else [f"x{i + 1}" for i in range(n)]
    return [sympy.Symbol(name, positive=positive) for name in names]


def numbers(w: Tensor) -> Any:
    """Return a tensor as nested lists of SymPy numbers: 0.5 becomes 1/2."""
    if not bool(w.isfinite().all()):
        raise NALMError("A weight is not a finite number, so there is no formula: the run diverged.")
    return _nested(w.tolist())


def _nested(value: Any) -> Any:
    return [_nested(v) for v in value] if isinstance(value, list) else number(value)


def number(value: float) -> sympy.Expr:
    """Return a simple fraction if the value is one, else a number of eight digits; only 0 becomes 0.

    >>> number(0.5), number(1 / 3), number(0.0), number(6.674e-11)
    (1/2, 1/3, 0, 6.6740000e-11)
    """
    exact = sympy.Rational(value).limit_denominator(64)
    # a fraction that is not 0 is at least 1/64, so that the difference is relative as well
    near = abs(float(exact) - value) < 1e-9 if exact else value == 0
    return exact if near else sympy.Float(value, 8)


def dot(row: Sequence[sympy.Expr], x: Sequence[sympy.Expr]) -> sympy.Expr:
    """Return the weighted sum of the inputs."""
    return sympy.Add(*(w * x_i for w, x_i in zip(row, x, strict=True)))


def powers(row: Sequence[sympy.Expr], x: Sequence[sympy.Expr]) -> sympy.Expr:
    """Return the product of powers, as its real part where a root of a negative number is complex."""
    whole = [x_i**w for w, x_i in zip(row, x, strict=True) if w.is_integer]
    roots = [x_i**w for w, x_i in zip(row, x, strict=True) if not w.is_integer]
    root = sympy.Mul(*roots)
    real = root if root.is_real else sympy.re(root, evaluate=False)
    return sympy.Mul(*whole, real)


def magnitudes(row: Sequence[sympy.Expr], x: Sequence[sympy.Expr]) -> sympy.Expr:
    """Return the product of powers of absolute values."""
    return sympy.Mul(*(sympy.Abs(x_i) ** w for w, x_i in zip(row, x, strict=True)))


def selected(row: Sequence[sympy.Expr], x: Sequence[sympy.Expr]) -> sympy.Expr:
    """Return the product of w x + 1 - w over the inputs."""
    return sympy.Mul(*(w * x_i + 1 - w for w, x_i in zip(row, x, strict=True)))


def choice(gate: sympy.Expr, above: sympy.Expr, below: sympy.Expr) -> sympy.Expr:
    """Return one path where a gate's argument is positive, the other elsewhere (the unit takes the mean at 0)."""
    if gate.is_positive:
        return above
    if gate.is_negative:
        return below
    return sympy.Piecewise((above, gate > 0), (below, True))
