r"""Neural Accumulators (Trask et al. 2018, arXiv:1808.00508)."""

import functools
import math
from collections.abc import Mapping
from typing import Self

import torch
from torch import Tensor

from nalm import functional as F
from nalm.units import spelling
from nalm.units.base import Formulas, Spelled, Symbols, Unit, Weights
from nalm.units.epsilon import EpsUnit
from nalm.units.gold import GOLD_POWER, GOLD_SUM
from nalm.units.start import Start, Uniform


@functools.cache
def nac_start(in_features: int, out_features: int) -> float:
    """Return the half width r of U[-r, r] that gives tanh(U) sigmoid(U) the variance 2 / (in + out).

    Solves eq. 8 of the draft of Madsen & Johansen 2020 as stable-nalu does: at least 5 features are counted, which caps
    r at 9.47, where the weights are all but saturated.
    """

    from scipy.optimize import brentq  # takes half a second to load, which other units need not spend

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
    inverse = "subtract"

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
    inverse = "divide"
    domain = "positive"
    paper_eps = 1e-7

    def compute(self, x: Tensor) -> Tensor:
        return self.powers(x, self.weights()["weight"])

    def expressions(self, x: Symbols, w: Spelled) -> Formulas:
        return [spelling.magnitudes(row, x) for row in w["weight"]]
