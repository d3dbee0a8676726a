"""Neural Multiplicative Reciprocal Unit (Mistry et al. 2021; Mistry 2023, sections 5.2.2 and G.6)."""

import math

import torch
from torch import Tensor

from nalm import functional as F
from nalm.units import spelling
from nalm.units.base import Formulas, Spelled, Symbols, Weights
from nalm.units.epsilon import EpsUnit
from nalm.units.inac import IMNAC
from nalm.units.start import Constant, Start, Uniform


class NMRU(EpsUnit):
    r"""Multiplies by the inputs and by the reciprocals it selects, the sign computed apart.

    .. math:: y_o = \prod_{i=1}^{2I} \bigl(W_{oi} |c_i| + 1 - W_{oi}\bigr)
        \cos\Bigl(\pi \sum_{i=1}^{2I} W_{oi} [c_i < 0]\Bigr), \qquad c = \bigl[x, 1/(x + \epsilon)\bigr]

    with weights in [0, 1] of shape (out, 2 in): the first half multiplies by inputs, the second by
    their reciprocals. The epsilon is there in training only. The recipe clips the gradient's norm at 1; on large inputs
    that norm overflows in float32, as in ``torch.nn.utils.clip_grad_norm_``, and the unit takes no step. The recipe's
    ``norm="scaled"`` divides by the largest entry first (`thesis/ch5/nmru-safe-clip`).
    Departs from published code: in evaluation an input of exactly 0 whose reciprocal has weight 0
    counts as 1, where the code's 0 times infinity is not a number.

    >>> NMRU.solved("divide").formulas()
    [a/b]
    """

    grids = {"weight": (0.0, 1.0)}
    gold = IMNAC.gold
    inverse = "divide"
    paper_eps = F.FLOAT32_EPS
    weight: Tensor

    def start(self) -> dict[str, Start]:
        return {"weight": Uniform((self.out_features, 2 * self.in_features), 0.25, 0.75)}

    @classmethod
    def gold_weights(cls, name: str, in_features: int) -> dict[str, float | list[float]]:
        exponents = super().gold_weights(name, in_features)["weight"]
        assert isinstance(exponents, list)
        halves = [float(e == 1) for e in exponents], [float(e == -1) for e in exponents]
        return {"weight": halves[0] + halves[1]}

    def terms(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return the inputs, their reciprocals (*runs, batch, in) with 1 for an infinite one, and which are infinite.

        The two halves stay apart all the way, as do the weights': joined, the batch would no longer be innermost.
        """
        eps = self.eps if self.training else 0.0
        zero = x + eps == 0
        return x, 1 / torch.where(zero, 1.0, x + eps), zero

    def compute(self, x: Tensor) -> Tensor:
        c, reciprocal, infinite = self.terms(x)
        return self.magnitude(c.abs(), reciprocal.abs(), infinite) * self.sign(c, reciprocal)

    def magnitude(self, c: Tensor, reciprocal: Tensor, infinite: Tensor) -> Tensor:
        """Compute the NMU's product over 2 in terms; an infinite term counts only if its weight is not zero."""
        first, second = self.weight.chunk(2, -1)
        pole = F.linear(infinite.to(c.dtype), (second.detach() != 0).to(c.dtype)) > 0
        product = F.gated_product(c, first) * F.gated_product(torch.where(infinite, 1.0, reciprocal), second)
        return torch.where(pole, math.inf, 1.0) * product

    def sign(self, c: Tensor, reciprocal: Tensor) -> Tensor:
        first, second = self.weight.chunk(2, -1)
        return (F.linear(c, first, of=F.angle) + F.linear(reciprocal, second, of=F.angle)).cos()

    @torch.no_grad()
    def project(self) -> None:
        self.weight.clamp_(0, 1)

    def penalties(self, x: Tensor | None = None) -> Weights:
        return {"weight": F.mean_matrix(F.to_binary(self.weight))}

    def expressions(self, x: Symbols, w: Spelled) -> Formulas:
        return [spelling.selected(row, [*x, *(1 / x_i for x_i in x)]) for row in w["weight"]]


class NMRUNoSign(NMRU):
    r"""The NMRU without sign retrieval: signed terms go straight through the product.

    .. math:: y_o = \prod_{i=1}^{2I} (W_{oi} c_i + 1 - W_{oi}), \qquad c = \bigl[x, 1/(x + \epsilon)\bigr]

    An ablation of Mistry 2023, appendix G.6; the published code calls this unit NMRU.

    >>> NMRUNoSign.solved("reciprocal").formulas()
    [1/a]
    """

    def compute(self, x: Tensor) -> Tensor:
        return self.magnitude(*self.terms(x))


class NMRUGated(NMRU):
    r"""The NMRU with a gate in [0, 1] on each of its 2 in terms.

    .. math:: c = g \odot \bigl[x, 1/(x + \epsilon)\bigr]

    in place of c. An ablation of Mistry 2023, appendix G.6. The gate multiplies without an identity, so a closed
    gate under a weight of 1 makes the product 0.

    >>> NMRUGated.solved("divide").formulas()
    [a/b]
    """

    grids = {"weight": (0.0, 1.0), "gate": (0.0, 1.0)}
    gate: Tensor

    def start(self) -> dict[str, Start]:
        return super().start() | {"gate": Constant((2 * self.in_features,), 0.5)}

    @classmethod
    def gold_weights(cls, name: str, in_features: int) -> dict[str, float | list[float]]:
        return super().gold_weights(name, in_features) | {"gate": 1.0}

    def terms(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        c, reciprocal, infinite = super().terms(x)
        first, second = self.gate.unsqueeze(-2).chunk(2, -1)
        return c * first, reciprocal * second, infinite

    @torch.no_grad()
    def project(self) -> None:
        super().project()
        self.gate.clamp_(0, 1)

    def penalties(self, x: Tensor | None = None) -> Weights:
        return super().penalties(x) | {"gate": F.to_binary(self.gate).mean(-1)}

    def expressions(self, x: Symbols, w: Spelled) -> Formulas:
        c = [g * c_i for g, c_i in zip(w["gate"], [*x, *(1 / x_i for x_i in x)], strict=True)]
        return [spelling.selected(row, c) for row in w["weight"]]
