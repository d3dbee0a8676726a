"""Units one after another, and gated pairs of units one after another (Mistry 2023, sections 7.2.3 and 7.2.4)."""

from collections.abc import Mapping, Sequence
from typing import Self

import sympy
import torch
from torch import Generator, Tensor, nn

from nalm import functional as F
from nalm.errors import NALMError
from nalm.networks.composite import Build, Composite
from nalm.networks.lines import LETTERS, Line, LineNetwork, needed
from nalm.units import unit
from nalm.units.base import Formulas, Spelled, Symbols, Weights
from nalm.units.start import Normal, Start


class Stack(Composite, LineNetwork):
    r"""Units one after another, with ``width`` outputs between them.

    .. math:: y = M_n(\dots M_2(M_1(x)))

    >>> Stack(4, 1, units=("NAU", "NMU")).parts[0]
    NAU(in_features=4, out_features=5, penalty='linear', bounds='clip')
    """

    options = ("units", "width")

    def __init__(
        self,
        in_features: int,
        out_features: int,
        *,
        units: Sequence[str] = ("NAU", "NMU", "NAU", "NMU"),
        width: int = 5,
        generator: Generator | None = None,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ):
        if not 1 <= len(units) <= len(LETTERS):
            raise NALMError(f"A stack has 1 to {len(LETTERS)} units, got {tuple(units)!r}.")
        self.units, self.width = tuple(units), width
        super().__init__(in_features, out_features, generator=generator, device=device, dtype=dtype)

    def units_inside(self, build: Build) -> dict[str, nn.ModuleList]:
        between = [self.width] * (len(self.units) - 1)
        sizes = zip([self.in_features, *between], [*between, self.out_features], strict=True)
        made = [build(unit(name), i, o) for name, (i, o) in zip(self.units, sizes, strict=True)]
        return {"parts": nn.ModuleList(made)}

    def compute(self, x: Tensor) -> Tensor:
        for part in self.inside():
            x = part(x)
        return x

    def lines(self, x: Symbols, w: Spelled) -> list[Line]:
        written: list[Line] = []
        for k, part in enumerate(self.inside()):
            layer = named(LETTERS[k], self.units[k], part.expressions(x, self.of(f"parts.{k}", w)))
            written, x = [*written, *layer], [sympy.Symbol(line.name) for line in layer]
        return needed(written, self.out_features)


class GatedStack(Composite, LineNetwork):
    r"""Layers that gate between two units; the gate does not look at the input (Mistry 2023, section 7.2.4).

    .. math:: y_o = \sigma(g_o)\,M_1(x)_o + (1 - \sigma(g_o))\,M_2(x)_o

    Gate 1 is the first unit, gate 0 the second. The thesis prints a scalar gate; here each output has its
    own, starting as the iNALU's (0 on average, deviation 0.2), from which the technique is taken.

    >>> GatedStack(4, 1, units=("NAU", "NMU")).own()["gate0"].shape
    torch.Size([5])
    """

    options = ("units", "layers", "width")

    def __init__(
        self,
        in_features: int,
        out_features: int,
        *,
        units: Sequence[str] = ("NAU", "NMU"),
        layers: int = 2,
        width: int = 5,
        generator: Generator | None = None,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ):
        if len(units) != 2 or not 1 <= layers <= len(LETTERS):
            raise NALMError(f"A gate chooses between 2 units, in 1 to {len(LETTERS)} layers, got {units!r}.")
        self.units, self.layers, self.width = tuple(units), layers, width
        self.own_grids = {f"gate{k}": (0.0, 1.0) for k in range(layers)}
        super().__init__(in_features, out_features, generator=generator, device=device, dtype=dtype)

    def units_inside(self, build: Build) -> dict[str, nn.ModuleList]:
        between = [self.width] * (self.layers - 1)
        sizes = zip([self.in_features, *between], [*between, self.out_features], strict=True)
        return {"parts": nn.ModuleList([build(unit(name), i, o) for i, o in sizes for name in self.units])}

    def start(self) -> dict[str, Start]:
        sizes = [*[self.width] * (self.layers - 1), self.out_features]
        return {f"gate{k}_hat": Normal((size,), 0.0, 0.2) for k, size in enumerate(sizes)}

    def own(self) -> Weights:
        return {f"gate{k}": torch.sigmoid(getattr(self, f"gate{k}_hat")) for k in range(self.layers)}

    @torch.no_grad()
    def assign_(self, weights: Mapping[str, Tensor]) -> Self:
        for name in self.own_grids:
            if name in weights:
                self.get_parameter(f"{name}_hat").copy_(F.sigmoid_inverse(weights[name]))
        return super().assign_(weights)

    def compute(self, x: Tensor) -> Tensor:
        parts = self.inside()
        for k, gate in enumerate(self.own().values()):
            g = gate.unsqueeze(-2)
            x = g * parts[2 * k](x) + (1 - g) * parts[2 * k + 1](x)
        return x

    def lines(self, x: Symbols, w: Spelled) -> list[Line]:
        parts, written = self.inside(), list[Line]()
        for k in range(self.layers):
            first, second = (parts[j].expressions(x, self.of(f"parts.{j}", w)) for j in (2 * k, 2 * k + 1))
            layer = []
            for i, gate in enumerate(w[f"gate{k}"]):
                chosen = first[i] if gate else second[i]
                layer.append(Line(f"{LETTERS[k]}{i + 1}", self.units[0 if gate else 1], chosen))
            written, x = [*written, *layer], [sympy.Symbol(line.name) for line in layer]
        return needed(written, self.out_features)


def named(letter: str, by: str, expressions: Formulas) -> list[Line]:
    """Return the outputs of a layer as lines: o1, o2, ..."""
    return [Line(f"{letter}{i}", by, e) for i, e in enumerate(expressions, start=1)]
