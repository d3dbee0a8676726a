r"""Neural Arithmetic Logic Units: one weight for both paths (Trask et al. 2018), or one for each."""

from collections.abc import Mapping
from typing import ClassVar, Self

import torch
from torch import Tensor

from nalm import functional as F
from nalm.units import spelling
from nalm.units.base import Formulas, Spelled, Symbols, Weights
from nalm.units.input_gate import LogGated, gated_gold
from nalm.units.nac import nac_start
from nalm.units.start import Start, Uniform


class NALU(LogGated):
    r"""Gates between a sum and a product that share one weight.

    .. math:: y_o = g_o \sum_i W_{oi} x_i + (1 - g_o) \exp \sum_i W_{oi} \ln(|x_i| + \epsilon),
        \qquad W = \tanh(\hat W)\,\sigma(\hat M), \quad g = \sigma(G x)

    Gate 1 adds (1), subtracts (-1) or leaves out (0); gate 0 multiplies, divides, takes roots of
    magnitudes. Departs from the paper: nothing; ``gate_bias=True`` adds the bias some ports have.

    >>> import sympy
    >>> NALU.solved("multiply").formulas(sympy.symbols("a b", positive=True))
    [a*b]
    """

    grids = {"weight": (-1.0, -0.5, 0.0, 0.5, 1.0)}
    gold = gated_gold("weight", "weight")
    w_hat: Tensor
    m_hat: Tensor

    def start(self) -> dict[str, Start]:
        r = nac_start(self.in_features, self.out_features)
        shape = (self.out_features, self.in_features)
        return {"w_hat": Uniform(shape, -r, r), "m_hat": Uniform(shape, -r, r)} | self.gate_start()

    def weights(self) -> Weights:
        weight = F.signed_unit(self.slope * self.w_hat, self.slope * self.m_hat)
        return {"weight": weight} | self.gate_weights()

    @torch.no_grad()
    def assign_(self, weights: Mapping[str, Tensor]) -> Self:
        rest = dict(weights)
        w_hat, m_hat = F.signed_unit_inverse(rest.pop("weight"))
        return super().assign_({"w_hat": w_hat / self.slope, "m_hat": m_hat / self.slope} | rest)

    def compute(self, x: Tensor) -> Tensor:
        weight = self.weights()["weight"]
        return self.mixed(x, F.linear(x, weight), self.powers(x, weight))

    def expressions(self, x: Symbols, w: Spelled) -> Formulas:
        above = [spelling.dot(row, x) for row in w["weight"]]
        return self.chosen(x, w, above, [spelling.magnitudes(row, x) for row in w["weight"]])


class NALUSeparate(LogGated):
    r"""The NALU with a weight of its own for each path.

    .. math:: y_o = g_o \sum_i A_{oi} x_i + (1 - g_o) \exp \sum_i M_{oi} \ln(|x_i| + \epsilon)

    A and M are tanh times sigmoid as in the NAC. A variant of stable-nalu (two NACs).

    >>> import sympy
    >>> NALUSeparate.solved("divide").formulas(sympy.symbols("a b", positive=True))
    [a/b]
    """

    grids = {"add": (-1.0, 0.0, 1.0), "multiply": (-1.0, -0.5, 0.0, 0.5, 1.0)}
    gold = gated_gold("add", "multiply")
    paths: ClassVar[tuple[str, ...]] = ("add", "multiply")

    def start(self) -> dict[str, Start]:
        r = nac_start(self.in_features, self.out_features)
        shape = (self.out_features, self.in_features)
        raw: dict[str, Start] = {
            f"{path}_{part}_hat": Uniform(shape, -r, r) for path in self.paths for part in "wm"
        }
        return raw | self.gate_start()

    def weights(self) -> Weights:
        both = {p: F.signed_unit(*(getattr(self, f"{p}_{part}_hat") for part in "wm")) for p in self.paths}
        return both | self.gate_weights()

    @torch.no_grad()
    def assign_(self, weights: Mapping[str, Tensor]) -> Self:
        rest = dict(weights)
        for path in self.paths:
            rest[f"{path}_w_hat"], rest[f"{path}_m_hat"] = F.signed_unit_inverse(rest.pop(path))
        return super().assign_(rest)

    def compute(self, x: Tensor) -> Tensor:
        w = self.weights()
        return self.mixed(x, F.linear(x, w["add"]), self.powers(x, w["multiply"]))

    def sparsity_error(self) -> Tensor:
        w = self.weights()
        return torch.maximum(F.sparsity(w["add"]), F.sparsity(w["multiply"]))

    def expressions(self, x: Symbols, w: Spelled) -> Formulas:
        above = [spelling.dot(row, x) for row in w["add"]]
        return self.chosen(x, w, above, [spelling.magnitudes(row, x) for row in w["multiply"]])
