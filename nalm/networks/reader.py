"""A recurrent reader of numbers in digits: it learns what symbols mean, which of them end a number, and calculates."""

from collections.abc import Mapping
from typing import Any, Self

import sympy
import torch
from torch import Tensor

from nalm import functional as F
from nalm.networks.composite import Build
from nalm.networks.registers import ListLoop
from nalm.units import NAU, NMU, Unit
from nalm.units.base import Formulas, Spelled, Symbols, Weights
from nalm.units.start import Normal, Start

SLOPES = {
    "stop": 4.0,
    "gate": 1.0,
}  # of the sigmoids: whether a symbol ends a number is settled before what it does


class NumberReader(ListLoop):
    r"""Reads two numbers and an operator, symbol by symbol, and computes the result with a NAU or an NMU.

    A symbol c either continues the number h or ends it (r = 1), when it is stored in s and c is the operator q:

    .. math:: s \leftarrow r_c h + (1 - r_c) s, \quad q \leftarrow r_c e_c + (1 - r_c) q, \quad
        h \leftarrow (1 - r_c)(b h + v_c)

    .. math:: y = \sum_c q_c \bigl(g_c \mathrm{NAU}_c(s, h) + (1 - g_c) \mathrm{NMU}_c(s, h)\bigr)

    It learns the base b and for each symbol its value v, whether it ends a number (r), and what it computes if it does
    (the gate g and a row of each unit). Inputs are the numbers of symbols, 0 to ``in_features`` - 1, in sequences of
    any length. Solved, b and v are whole numbers, and the result is right for as many digits as the precision holds.

    >>> reader = NumberReader(12, 1, generator=torch.Generator().manual_seed(0))
    >>> values = torch.tensor([*range(10), 0.0, 0.0])
    >>> solved = {"value": values, "base": torch.tensor([10.0]), "stop": (torch.arange(12) > 9).float()}
    >>> units = {"sum.weight": torch.ones(12, 2), "product.weight": torch.ones(12, 2)}
    >>> _ = reader.assign_({**solved, **units, "gate": torch.tensor([1.0] * 11 + [0.0])})
    >>> reader(torch.tensor([[1.0, 2.0, 10.0, 3.0, 4.0]])).item(), reader.operators()
    (46.0, {10: h + s, 11: h*s})
    """

    own_grids = {"stop": (0.0, 1.0), "gate": (0.0, 1.0)}
    sum: NAU
    product: NMU
    value: Tensor
    base: Tensor
    stop_hat: Tensor
    gate_hat: Tensor

    def units_inside(self, build: Build) -> dict[str, Unit]:
        return {"sum": build(NAU, 2, self.in_features), "product": build(NMU, 2, self.in_features)}

    def start(self) -> dict[str, Start]:
        one = (self.in_features,)
        return {
            "value": Normal(one, 0.0, 0.1),
            "base": Normal((1,), 1.0, 0.1),
            "stop_hat": Normal(one, 0.0, 0.1),
            "gate_hat": Normal(one, 0.0, 0.1),
        }

    def own(self) -> Weights:
        gates = {name: torch.sigmoid(s * getattr(self, f"{name}_hat")) for name, s in SLOPES.items()}
        return {"value": self.value, "base": self.base, **gates}

    @torch.no_grad()
    def assign_(self, weights: Mapping[str, Tensor]) -> Self:
        for name in ("value", "base"):
            if name in weights:
                self.get_parameter(name).copy_(weights[name])
        for name, slope in SLOPES.items():
            if name in weights:
                self.get_parameter(f"{name}_hat").copy_(F.sigmoid_inverse(weights[name]) / slope)
        return super().assign_(weights)

    @torch.no_grad()
    def rounded(self) -> Weights:
        return super().rounded() | {"value": self.value.round(), "base": self.base.round()}

    def penalties(self, x: Tensor | None = None) -> Weights:
        gates = [F.to_binary(w).mean(-1) for n, w in self.own().items() if n in self.own_grids]
        return super().penalties(x) | {"gate": gates[0] + gates[1]}

    def compute(self, x: Tensor) -> Tensor:
        own, which = self.own(), x.long()
        stop, value = (
            _of(own[name].unsqueeze(-2), which) for name in ("stop", "value")
        )  # (*runs, batch, time)
        number, stored = torch.zeros_like(x[..., 0]), torch.zeros_like(x[..., 0])
        for ends, worth in zip(stop.unbind(-1), value.unbind(-1), strict=True):
            stored = stored + ends * (number - stored)
            number = (1 - ends) * (own["base"] * number + worth)
        after = (
            (1 - stop).flip(-1).cumprod(-1).flip(-1)[..., 1:]
        )  # how much of each symbol as operator is left
        operator = stop * torch.cat([after, torch.ones_like(stop[..., :1])], -1)
        seen, gate = torch.stack([stored, number], -1), own["gate"].unsqueeze(-2)
        results = gate * self.sum(seen) + (1 - gate) * self.product(seen)  # (*runs, batch, symbols)
        return (operator * _of(results, which)).sum(-1, keepdim=True)

    def operators(self) -> dict[int, Any]:
        """Return what each symbol that ends a number computes: s is the number before it, h the one after it."""
        w = self.rounded()
        stops = [k for k, stop in enumerate(w["stop"].tolist()) if stop]
        seen = sympy.symbols("s h")
        sums, products = self.sum.formulas(seen), self.product.formulas(seen)
        return {k: sums[k] if w["gate"][k] else products[k] for k in stops}

    def expressions(self, x: Symbols, w: Spelled) -> Formulas:
        """Return how a number is read: h is what was read of it, x the value of the next symbol."""
        number, value = sympy.symbols("h x")
        return [w["base"][0] * number + value]


def _of(values: Tensor, which: Tensor) -> Tensor:
    """Return the values (*runs, batch or 1, symbols) of symbols (*runs, batch, time)."""
    return values.expand(*which.shape[:-1], values.shape[-1]).gather(-1, which)
