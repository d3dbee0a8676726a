"""Neural Reciprocal Unit (Mistry, Farrahi & Hare; thesis 5.2.1 and G.1, document 000)."""

import torch
from torch import Tensor

from nalm import functional as F
from nalm.units import spelling
from nalm.units.base import Formulas, Spelled, Symbols, Weights
from nalm.units.bounded import BoundedUnit
from nalm.units.inalu import IMNAC
from nalm.units.nau import NAU

TANH_SCALE = 1000.0


class NRU(NAU):
    r"""Multiplies by and divides by the inputs it selects, the sign carried by each factor.

    .. math:: y_o = \prod_i \bigl(\mathrm{sign}(x_i) |x_i|^{W_{oi}} \alpha_{oi} + 1 - \alpha_{oi}\bigr),
        \qquad -1 \le W \le 1

    with :math:`\alpha = \tanh(1000 W)^2` in training, a smooth stand-in for :math:`\alpha = |W|`, which is
    used in evaluation; both agree at {-1, 0, 1}. 1 multiplies by an input, -1 divides by it, 0 leaves it
    out. Departs from the paper: nothing (document 000 drops the exponent in eq. 6; the thesis has it).

    >>> NRU.solved("divide").formulas()
    [a/b]
    """

    gold = IMNAC.gold

    def idleness(self, mean: Tensor) -> None:
        """The penalty on inputs is published for sums only."""

    def weights(self) -> Weights:
        return BoundedUnit.weights(self)

    def compute(self, x: Tensor) -> Tensor:
        w = self.weights()["weight"]
        return F.product(self.factor, x, w, self.selection(w))

    def selection(self, w: Tensor) -> Tensor:
        """How far each input is selected: 0 leaves it out, 1 takes it in."""
        return torch.tanh(TANH_SCALE * w).square() if self.training else w.abs()

    @staticmethod
    def factor(x: Tensor, w: Tensor, alpha: Tensor) -> Tensor:
        return x.sign() * F.power(x.abs(), w) * alpha + (1 - alpha)

    def expressions(self, x: Symbols, w: Spelled) -> Formulas:
        return [spelling.powers(row, x) for row in w["weight"]]


class NRUSeparateSign(NRU):
    r"""The NRU with the sign computed apart from the magnitude (thesis G.1).

    .. math:: y_o = \prod_i \bigl(|x_i|^{W_{oi}} \alpha_{oi} + 1 - \alpha_{oi}\bigr)
        \prod_i \mathrm{sign}(x_i)^{\mathrm{round}(W_{oi})}

    The sign has no gradient. It brought no gain over the NRU.

    >>> NRUSeparateSign.solved("multiply").formulas()
    [a*b]
    """

    def compute(self, x: Tensor) -> Tensor:
        w = self.weights()["weight"]
        return super().compute(x.abs()) * F.product(self.sign, x, w.detach().round())

    @staticmethod
    def sign(x: Tensor, w: Tensor) -> Tensor:
        return x.sign() ** w
