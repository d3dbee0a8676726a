"""Read the equations of a trained system of power units from its matrices, without the small numbers.

A row of the power unit is a product of powers of gated inputs, a row of the matrix after it a sum of such products.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from nalm.errors import NALMError

SMALL = 1e-3  # parameters below it count for nothing, as in the power units' paper
DIGITS = 3
PARTS = ("0.weight", "0.gate", "1.weight")


def equations(weights: Mapping[str, np.ndarray], symbols: Sequence[Any]) -> list[Any]:
    """Return the rates of change as SymPy expressions, from the effective weights of a RealNPU before a matrix.

    >>> import numpy as np, sympy
    >>> w = {"0.weight": np.array([[0.5, 0.5], [0, 1.0]]), "0.gate": np.ones(2), "1.weight": np.array([[-0.06, 0.01]])}
    >>> equations(w, sympy.symbols("S I", positive=True))
    [-0.06*sqrt(I)*sqrt(S) + 0.01*I]
    """
    import sympy

    if missing := [name for name in PARTS if name not in weights]:
        raise NALMError(f"A read-out takes a RealNPU before a matrix: {', '.join(missing)} is missing.")
    powers, gates, sums = (np.asarray(weights[name]) for name in PARTS)
    if not all(np.isfinite(part).all() for part in (powers, gates, sums)):
        raise NALMError("Some weights are not finite numbers, so there is no equation: the run diverged.")
    bases = [_gated(float(g), x) for g, x in zip(gates, symbols, strict=True)]
    hidden = [sympy.prod([b ** _number(w) for b, w in zip(bases, row, strict=True)]) for row in powers]
    return [sympy.Add(*(_number(w) * h for w, h in zip(row, hidden, strict=True))) for row in sums]


def _gated(gate: float, x: Any) -> Any:
    """Return an input behind its gate: itself, 1, or a mixture of both."""
    if gate <= SMALL:
        return 1
    return x if gate >= 1 - SMALL else _number(gate) * x + _number(1 - gate)


def _number(value: float) -> Any:
    """Round a number to three digits, keep integers and halves exact, and drop what is almost zero."""
    import sympy

    if abs(value) <= SMALL:
        return sympy.Integer(0)
    if abs(2 * value - round(2 * value)) <= SMALL:
        return sympy.Rational(round(2 * float(value)), 2)
    return sympy.Float(f"{float(value):.{DIGITS}g}", DIGITS)


def spelled(weights: Mapping[str, np.ndarray], names: Sequence[str]) -> str:
    """Return the equations as text, S' = ..., I' = ...; an empty text for other models."""
    import sympy

    if any(name not in weights for name in PARTS) or "0.imaginary" in weights:
        return ""
    try:
        found = equations(weights, sympy.symbols(" ".join(names), positive=True))
    except NALMError:
        return ""
    return ", ".join(f"{name}' = {expression}" for name, expression in zip(names, found, strict=True))
