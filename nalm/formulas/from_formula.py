"""Build a solved unit from the text of a formula."""

import re
from collections.abc import Sequence
from typing import Any

import sympy
import torch
from sympy.core.relational import Relational
from torch import Tensor

from nalm.errors import NALMError
from nalm.formulas.parse import parse
from nalm.units import NAU, NLRL, NMU, NRU, NSR, NACMul, RealNPU, Unit
from nalm.units.power import EXPONENTS


def _natural(name: str) -> list[tuple[int, str]]:
    """Return a sorting key that puts x2 before x10."""
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in re.split(r"(\d+)", name)]


def from_formula(text: str, inputs: Sequence[str] | None = None) -> Unit:
    """Return a solved unit for a formula that one unit can express; the error says why none can.

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
    with torch.random.fork_rng(devices=[]):  # initial weights, all of which are replaced
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
