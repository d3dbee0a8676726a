r"""Neural Accumulators (Trask et al., NeurIPS 2018, arXiv:1808.00508) and Madsen's ablations of NAC•."""

import functools
import math
from collections.abc import Mapping
from typing import Self

import torch
from scipy.optimize import brentq
from torch import Tensor

from nalm import functional as F
from nalm.units import spelling
from nalm.units.base import EpsUnit, Formulas, Gold, Spelled, Symbols, Unit, Weights
from nalm.units.start import Normal, Start, Uniform

GOLD_SUM: Gold = {
    "add": {"weight": (1.0, 1.0)},
    "subtract": {"weight": (1.0, -1.0)},
    "select": {"weight": (1.0,)},
}
GOLD_POWER: Gold = {
    "multiply": {"weight": (1.0, 1.0)},
    "divide": {"weight": (1.0, -1.0)},
    "reciprocal": {"weight": (-1.0,)},
    "sqrt": {"weight": (0.5,)},
    "select": {"weight": (1.0,)},
}
GOLD_PRODUCT: Gold = {"multiply": {"weight": (1.0, 1.0)}, "select": {"weight": (1.0,)}}


@functools.cache
def nac_start(in_features: int, out_features: int) -> float:
    """Half width r of U[-r, r] that gives tanh(U) sigmoid(U) the variance 2 / (in + out).

    Solves document 002, eq. 8, as stable-nalu does: at least 5 features are counted, which caps
    r at 9.47, where the weights are all but saturated.
    """

    def excess(r: float) -> float:
        variance = (1 - math.tanh(r) / r) * (r - math.tanh(r / 2)) / (2 * r)
        return variance - 2 / max(in_features + out_features, 5)

    return float(brentq(excess, 1e-3, 10.0, xtol=1e-12))


class TanhSigmoid(Unit):
    r"""Anything with one weight :math:`W = \tanh(\hat W)\,\sigma(\hat M)`."""

    w_hat: Tensor
    m_hat: Tensor

    def start(self) -> dict[str, Start]:
        r = nac_start(self.in_features, self.out_features)
        shape = (self.out_features, self.in_features)
        return {"w_hat": Uniform(shape, -r, r), "m_hat": Uniform(shape, -r, r)}

    def weights(self) -> Weights:
        return {"weight": F.signed_unit(self.w_hat, self.m_hat)}

    @torch.no_grad()
    def assign_(self, weights: Mapping[str, Tensor]) -> Self:
        w_hat, m_hat = F.signed_unit_inverse(weights["weight"])
        return super().assign_({"w_hat": w_hat, "m_hat": m_hat})


class NAC(TanhSigmoid):
    r"""Adds and subtracts the inputs it selects (NAC+).

    .. math:: y_o = \sum_i W_{oi} x_i, \qquad W = \tanh(\hat W)\,\sigma(\hat M)

    A weight of 1 adds an input, -1 subtracts it, 0 leaves it out; all three are only approached. The penalty
    ``inputs`` (needs x) is the NAU's, as Madsen & Johansen (2020) give it to the NAC in a loop.
    Departs from the paper: the initial range follows stable-nalu, the paper names none.

    >>> NAC.solved("subtract").formulas()
    [a - b]
    """

    grids = {"weight": (-1.0, 0.0, 1.0)}
    gold = GOLD_SUM

    def compute(self, x: Tensor) -> Tensor:
        return F.linear(x, self.weights()["weight"])

    def penalties(self, x: Tensor | None = None) -> Weights:
        if x is None:
            return {}
        mean = self.flat(x).mean(-2, keepdim=True)
        return {"inputs": F.mean_matrix((1 - self.weights()["weight"].abs()) * mean.square())}

    def expressions(self, x: Symbols, w: Spelled) -> Formulas:
        return [spelling.dot(row, x) for row in w["weight"]]


class NACMul(TanhSigmoid, EpsUnit):
    r"""Multiplies and divides the magnitudes of the inputs it selects (NAC•).

    .. math:: y_o = \exp \sum_i W_{oi} \ln(|x_i| + \epsilon), \qquad W = \tanh(\hat W)\,\sigma(\hat M)

    A weight of 1 multiplies by an input, -1 divides by it, 1/2 takes its root, 0 leaves it out.
    The sign of the inputs is lost. With ``eps=0`` the product of powers is computed without logarithms.
    Departs from the paper: nothing.

    >>> NACMul.solved("divide").formulas()
    [Abs(a)/Abs(b)]
    """

    grids = {"weight": (-1.0, -0.5, 0.0, 0.5, 1.0)}
    gold = GOLD_POWER
    domain = "positive"
    paper_eps = 1e-7

    def compute(self, x: Tensor) -> Tensor:
        return self.powers(x, self.weights()["weight"])

    def expressions(self, x: Symbols, w: Spelled) -> Formulas:
        return [spelling.magnitudes(row, x) for row in w["weight"]]


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
    one on idle inputs acts on logarithms, and presses them to 1.

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
