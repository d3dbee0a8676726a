r"""The two paths of the improved NALU as units (Schlör et al. 2020, arXiv:2003.07629), as nalm-benchmark runs them."""

import torch
from torch import Tensor

from nalm import functional as F
from nalm.units import spelling
from nalm.units.base import Formulas, Spelled, Symbols, Weights
from nalm.units.epsilon import EpsUnit
from nalm.units.gold import GOLD_SUM
from nalm.units.nac import TanhSigmoid
from nalm.units.start import Normal, Start

OMEGA = 20.0  # largest logarithm of a product
SATURATION = 20.0  # the penalty is 0 for raw parameters beyond it


def unsaturated(*raw: Tensor) -> Tensor:
    r"""Compute the published penalty :math:`\sum_\theta \mathrm{mean}\,\max(20 - |\theta|, 0)`, one value per run.

    The last tensor may be a vector per run; all others are matrices.
    """
    parts = [torch.relu(SATURATION - theta.abs()) for theta in raw]
    matrices = parts[0].ndim
    return sum(
        (p.mean((-2, -1)) if p.ndim == matrices else p.mean(-1) for p in parts[1:]), parts[0].mean((-2, -1))
    )


def signed_product(x: Tensor, weight: Tensor, eps: float) -> Tensor:
    r"""Return the product of powers of the inputs' magnitudes, times the product of their signs.

    .. math:: \exp \min(\sum_i W \ln \max(|x_i|, \epsilon), 20) \prod_i (\mathrm{sign}(x_i)|W| + 1 - |W|)
    """
    if eps == 0:
        magnitude = F.power_product(x, weight, of=torch.abs)
    else:
        magnitude = F.linear(x, weight, of=lambda v: v.abs().clamp_min(eps).log()).clamp_max(OMEGA).exp()
    return magnitude * F.product(_sign, x, weight.abs())


def _sign(x: Tensor, selected: Tensor) -> Tensor:
    return x.sign() * selected + (1 - selected)


class _Saturating(TanhSigmoid):
    """The NAC's weight with the initialisation and penalty of the iNALU."""

    def start(self) -> dict[str, Start]:
        shape = (self.out_features, self.in_features)
        return {"w_hat": Normal(shape, 0.88, 0.2), "m_hat": Normal(shape, 0.5, 0.2)}

    def penalties(self, x: Tensor | None = None) -> Weights:
        return {"weight": unsaturated(self.w_hat, self.m_hat)}


class INAC(_Saturating):
    r"""Adds and subtracts: the summative path of the iNALU.

    .. math:: y_o = \sum_i W_{oi} x_i, \qquad W = \tanh(\hat W)\,\sigma(\hat M)

    1 adds, -1 subtracts, 0 leaves out. Differs from the NAC in start and penalty only.

    >>> INAC.solved("add").formulas()
    [a + b]
    """

    grids = {"weight": (-1.0, 0.0, 1.0)}
    gold = GOLD_SUM
    inverse = "subtract"

    def compute(self, x: Tensor) -> Tensor:
        return F.linear(x, self.weights()["weight"])

    def expressions(self, x: Symbols, w: Spelled) -> Formulas:
        return [spelling.dot(row, x) for row in w["weight"]]


class IMNAC(_Saturating, EpsUnit):
    r"""Multiplies and divides with the right sign: the multiplicative path of the iNALU.

    .. math:: y_o = \exp\Bigl(\min\bigl({\textstyle\sum_i} W_{oi} \ln\max(|x_i|, \epsilon), 20\bigr)\Bigr)
        \prod_i \bigl(\mathrm{sign}(x_i)\,|W_{oi}| + 1 - |W_{oi}|\bigr)

    1 multiplies by an input, -1 divides by it, 0 leaves it out; an output never exceeds e^20.
    The exact form (``eps=0``) drops that bound as well. Mistry 2023 omits the sum; the code has it.

    >>> IMNAC.solved("divide").formulas()
    [a/b]
    """

    grids = {"weight": (-1.0, 0.0, 1.0)}
    gold = {
        "multiply": {"weight": (1.0, 1.0)},
        "divide": {"weight": (1.0, -1.0)},
        "reciprocal": {"weight": (-1.0,)},
        "select": {"weight": (1.0,)},
    }
    paper_eps = 1e-7
    inverse = "divide"

    def compute(self, x: Tensor) -> Tensor:
        return signed_product(x, self.weights()["weight"], self.eps)

    def expressions(self, x: Symbols, w: Spelled) -> Formulas:
        return [spelling.powers(row, x) for row in w["weight"]]
