"""Physical laws as data: 64 open ones, and 32 blind ones that are not used while the ladder is tuned."""

import csv
import importlib.resources
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import sympy

from nalm.discover.law.expression import Array, Input, Node, powered, weighted
from nalm.errors import NALMError, unknown
from nalm.formulas.parse import parse

FILES = {"open": "laws.csv", "blind": "laws_blind.csv"}


@dataclass(frozen=True)
class PhysicalLaw:
    """A formula, its inputs, their range in the data, and their range in the test."""

    name: str
    formula: str
    inputs: tuple[str, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    far_low: tuple[float, ...]
    far_high: tuple[float, ...]

    @property
    def truth(self) -> Node:
        """Return the formula as an expression."""
        return expression(self.formula, self.inputs)


@cache
def laws(part: str) -> dict[str, PhysicalLaw]:
    """Read the laws of a part, open or blind, by name."""
    if part not in FILES:
        raise unknown("part of the laws", part, FILES)
    text = importlib.resources.files("benchmarks").joinpath("data", FILES[part]).read_text(encoding="utf-8")
    found = {}
    for row in csv.DictReader(text.splitlines()):
        ends = [tuple(map(float, row[key].split())) for key in ("low", "high", "far_low", "far_high")]
        found[row["name"]] = PhysicalLaw(row["name"], row["formula"], tuple(row["variables"].split()), *ends)
    return found


@cache
def expression(formula: str, inputs: tuple[str, ...]) -> Node:
    """Convert a formula into inputs, sums and products of powers.

    >>> expression("2*a/sqrt(b)", ("a", "b"))
    Power(factors=(Input(index=0), Input(index=1)), exponents=(1.0, -0.5), coefficient=2.0)
    """
    return _node(parse(formula), inputs)


def _node(e: Any, inputs: tuple[str, ...]) -> Node:
    if e.is_number:
        return weighted((), (), float(e))
    match e:
        case sympy.Symbol():
            return Input(inputs.index(e.name))
        case sympy.Add():
            parts = [term.as_coeff_Mul() for term in e.args if not term.is_number]
            bias = float(sympy.Add(*(term for term in e.args if term.is_number)))
            return weighted([_node(term, inputs) for _, term in parts], [float(c) for c, _ in parts], bias)
        case sympy.Mul():
            pairs = [factor.as_base_exp() for factor in e.args if not factor.is_number]
            scale = float(sympy.Mul(*(factor for factor in e.args if factor.is_number)))
            return powered([_node(base, inputs) for base, _ in pairs], [float(p) for _, p in pairs], scale)
        case sympy.Pow():
            return powered([_node(e.base, inputs)], [float(e.exp)])
        case sympy.Abs():
            return powered([powered([_node(e.args[0], inputs)], [2.0])], [0.5])
    raise NALMError(f"A law is made of inputs, sums, products and powers, not of {e}.")


def ends(law: PhysicalLaw, tight: bool) -> tuple[Array, Array]:
    """Return the ends of the inputs' ranges, or of the middle tenth of each range."""
    low, high = np.array(law.low), np.array(law.high)
    if tight:
        middle, half = (low + high) / 2, (high - low) / 20
        low, high = middle - half, middle + half
    return low, high
