"""The formula of a network: its layers with rounded weights, as SymPy expressions and as text."""

from collections.abc import Sequence
from typing import Any

from nalm.engine.model import Network
from nalm.errors import NALMError
from nalm.networks import LineNetwork
from nalm.units import Unit

# up to this many symbols, numbers and signs the choices before a layer are spelt: see _size_of_choices
CHOICES = 30_000


class TooLongError(NALMError):
    """A formula that would take minutes and megabytes."""


def formulas(network: Network, symbols: Sequence[Any]) -> list[Any]:
    """Return what a network of single units computes with rounded weights, as SymPy expressions."""
    expressions: list[Any] = list(symbols)
    for layer in network.parts():
        if not isinstance(layer, Unit):
            raise NALMError(f"{type(layer).__name__} has no formula.")
        if _size_of_choices(expressions) > CHOICES:
            raise TooLongError(f"The formula before {layer.label} has too many choices to be spelt.")
        expressions = layer.formulas(expressions)
    return expressions


def _size_of_choices(expressions: Sequence[Any]) -> int:
    """Estimate the size of a layer on expressions of which some are choices, such as the two paths of a NALU.

    SymPy works out every combination of their paths. Returns 0 without any choice.
    """
    import sympy

    choices = sum(isinstance(e, sympy.Basic) and e.has(sympy.Piecewise) for e in expressions)
    size = sum(1 for e in expressions for _ in sympy.preorder_traversal(e)) if choices else 0
    return int(size * 2**choices)


def spelled(network: Network, symbols: Sequence[Any]) -> str:
    """Return the formulas as text; for a network that writes lines of working, return these lines."""
    (first, *others) = network.parts()
    if isinstance(first, LineNetwork) and not others:
        return first.text(symbols)
    return ", ".join(map(str, formulas(network, symbols)))
