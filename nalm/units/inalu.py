r"""Improved NALU (Schlör et al. 2020, arXiv:2003.07629), as nalm-benchmark runs it.

Gradient clipping, reinitialisation and the moment the penalty sets in belong to the recipe.
"""

from collections.abc import Mapping
from typing import Self

import torch
from torch import Generator, Tensor

from nalm import functional as F
from nalm.errors import NALMError
from nalm.units import spelling
from nalm.units.base import Formulas, Spelled, Symbols, Weights
from nalm.units.epsilon import EpsUnit
from nalm.units.inac import IMNAC, INAC, signed_product, unsaturated
from nalm.units.start import Normal, Start


class INALU(EpsUnit):
    r"""Gates between a sum and a signed product; the gate does not look at the input.

    .. math:: y_o = \sigma(g_o)\,\mathrm{iNAC}(x)_o + (1 - \sigma(g_o))\,\mathrm{iMNAC}(x)_o

    with a weight of its own for each path. Gate 1 adds, gate 0 multiplies; weights as in INAC and IMNAC.
    Departs from the paper: the raw parameters W, M and g start at ``means`` (0.88, 0.5, 0) with deviation ``std``
    0.2, as the benchmark's runs did, where the paper recommends (1, -1, 0) and its code has a deviation of 0.1.

    >>> INALU.solved("multiply").formulas()
    [a*b]
    """

    grids = {"add": (-1.0, 0.0, 1.0), "multiply": (-1.0, 0.0, 1.0), "gate": (0.0, 1.0)}
    gold = {n: {"add": w["weight"], "multiply": (0.0,), "gate": 1.0} for n, w in INAC.gold.items()} | {
        n: {"add": (0.0,), "multiply": w["weight"], "gate": 0.0}
        for n, w in IMNAC.gold.items()
        if n != "select"
    }
    paper_eps = 1e-7
    add_w_hat: Tensor
    add_m_hat: Tensor
    multiply_w_hat: Tensor
    multiply_m_hat: Tensor
    gate_hat: Tensor

    options = ("eps", "means", "std")

    def __init__(
        self,
        in_features: int,
        out_features: int,
        *,
        means: tuple[float, float, float] = (0.88, 0.5, 0.0),
        std: float = 0.2,
        eps: float | None = None,
        generator: Generator | None = None,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ):
        if len(means) != 3 or not std >= 0:
            raise NALMError(f"INALU needs three means and std of at least 0, got {means!r} and {std!r}.")
        self.means = tuple(means)
        self.std = std
        super().__init__(in_features, out_features, eps=eps, generator=generator, device=device, dtype=dtype)

    def start(self) -> dict[str, Start]:
        shape, (w, m, g) = (self.out_features, self.in_features), self.means
        return {
            "add_w_hat": Normal(shape, w, self.std),
            "add_m_hat": Normal(shape, m, self.std),
            "multiply_w_hat": Normal(shape, w, self.std),
            "multiply_m_hat": Normal(shape, m, self.std),
            "gate_hat": Normal((self.out_features,), g, self.std),
        }

    def weights(self) -> Weights:
        return {
            "add": F.signed_unit(self.add_w_hat, self.add_m_hat),
            "multiply": F.signed_unit(self.multiply_w_hat, self.multiply_m_hat),
            "gate": torch.sigmoid(self.gate_hat),
        }

    @torch.no_grad()
    def assign_(self, weights: Mapping[str, Tensor]) -> Self:
        add = F.signed_unit_inverse(weights["add"])
        multiply = F.signed_unit_inverse(weights["multiply"])
        raw = (*add, *multiply, F.sigmoid_inverse(weights["gate"]))
        return super().assign_(dict(zip(self.start(), raw, strict=True)))

    def compute(self, x: Tensor) -> Tensor:
        w = self.weights()
        gate = w["gate"].unsqueeze(-2)
        return gate * F.linear(x, w["add"]) + (1 - gate) * signed_product(x, w["multiply"], self.eps)

    def penalties(self, x: Tensor | None = None) -> Weights:
        return {"weight": unsaturated(*(getattr(self, name) for name in self.start()))}

    def sparsity_error(self) -> Tensor:
        w = self.weights()
        return (F.sparsity(w["add"]) + F.sparsity(w["multiply"])) / 2

    def expressions(self, x: Symbols, w: Spelled) -> Formulas:
        sums = [spelling.dot(row, x) for row in w["add"]]
        products = [spelling.powers(row, x) for row in w["multiply"]]
        return [s if g else p for g, s, p in zip(w["gate"], sums, products, strict=True)]
