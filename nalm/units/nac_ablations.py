r"""Ablations of the multiplying NAC (Madsen & Johansen 2020, arXiv:2001.05016)."""

from collections.abc import Mapping
from typing import Self

import torch
from torch import Tensor

from nalm import functional as F
from nalm.units import spelling
from nalm.units.base import Formulas, Spelled, Symbols, Weights
from nalm.units.epsilon import EpsUnit
from nalm.units.gold import GOLD_PRODUCT
from nalm.units.start import Normal, Start, Uniform


class NACMulSigmoid(EpsUnit):
    r"""Multiplies magnitudes, without division: NAC• with :math:`W = \sigma(\hat W)` (NAC•,σ).

    .. math:: y_o = \exp \sum_i \sigma(\hat W_{oi}) \ln(|x_i| + \epsilon)

    An ablation of Madsen & Johansen (ICLR 2020); initialised Xavier normal as in stable-nalu.
    Not to be confused with ``SigmoidNMU``, a product without logarithms.

    >>> NACMulSigmoid.solved("multiply").formulas()
    [Abs(a)*Abs(b)]
    """

    grids = {"weight": (0.0, 1.0)}
    gold = GOLD_PRODUCT
    domain = "positive"
    paper_eps = 1e-7
    w_hat: Tensor

    def start(self) -> dict[str, Start]:
        shape = (self.out_features, self.in_features)
        return {"w_hat": Normal(shape, 0.0, (2 / sum(shape)) ** 0.5)}

    def weights(self) -> Weights:
        return {"weight": torch.sigmoid(self.w_hat)}

    def assign_(self, weights: Mapping[str, Tensor]) -> Self:
        return super().assign_({"w_hat": F.sigmoid_inverse(weights["weight"])})

    def compute(self, x: Tensor) -> Tensor:
        return self.powers(x, self.weights()["weight"])

    def expressions(self, x: Symbols, w: Spelled) -> Formulas:
        return [spelling.magnitudes(row, x) for row in w["weight"]]


class NACMulClamped(EpsUnit):
    r"""Multiplies magnitudes, with the NMU's clamped weights in log space (NAC•,NMU).

    .. math:: y_o = \exp \sum_i W_{oi} \ln(|x_i| + \epsilon), \qquad 0 \le W \le 1

    An ablation of Madsen & Johansen (ICLR 2020): start, clamp and penalties are those of the NMU; as in their code the
    penalty on unselected inputs acts on logarithms, and moves them to 1.

    >>> NACMulClamped.solved("multiply").formulas()
    [Abs(a)*Abs(b)]
    """

    grids = {"weight": (0.0, 1.0)}
    gold = GOLD_PRODUCT
    domain = "positive"
    paper_eps = 1e-7
    weight: Tensor

    def start(self) -> dict[str, Start]:
        return {"weight": Uniform((self.out_features, self.in_features), 0.25, 0.75)}

    def compute(self, x: Tensor) -> Tensor:
        return self.powers(x, self.weight)

    @torch.no_grad()
    def project(self) -> None:
        self.weight.clamp_(0, 1)

    def penalties(self, x: Tensor | None = None) -> Weights:
        terms = {"weight": F.mean_matrix(F.to_binary(self.weight))}
        if x is not None:
            mean = self.size(self.flat(x)).log().mean(-2, keepdim=True)
            terms["inputs"] = F.mean_matrix((1 - self.weight) * (1 - mean).square())
        return terms

    def expressions(self, x: Symbols, w: Spelled) -> Formulas:
        return [spelling.magnitudes(row, x) for row in w["weight"]]
