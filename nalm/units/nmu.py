"""Neural Multiplication Unit (Madsen & Johansen, ICLR 2020, arXiv:2001.05016), also normalised and with a sigmoid."""

from collections.abc import Mapping
from typing import Self

import torch
from torch import Tensor

from nalm import functional as F
from nalm.units import spelling
from nalm.units.base import Formulas, Spelled, Symbols, Unit, Weights
from nalm.units.bounded import BoundedUnit
from nalm.units.gold import GOLD_PRODUCT
from nalm.units.start import Start, Uniform


class NMU(BoundedUnit):
    r"""Multiplies the inputs it selects.

    .. math:: y_o = \prod_i (W_{oi} x_i + 1 - W_{oi}), \qquad 0 \le W \le 1

    A weight of 1 keeps an input, 0 replaces it by the neutral 1. Penalties: ``weight`` pulls the weights
    to 0 or 1; ``inputs`` (computed from x) trains the layers before to give 1 where an input is not selected.
    Differences from the paper: the penalty is linear and the weights are clamped after each optimiser step,
    as in the authors' code; ``penalty="squared", bounds="penalty"`` is the version of the paper.

    >>> NMU.solved("multiply").formulas()
    [a*b]
    """

    grids = {"weight": (0.0, 1.0)}
    gold = GOLD_PRODUCT
    legal = (0.0, 1.0)
    inverse = "divide"

    def start(self) -> dict[str, Start]:
        return {"weight": Uniform((self.out_features, self.in_features), 0.25, 0.75)}

    def compute(self, x: Tensor) -> Tensor:
        return F.gated_product(x, self.weights()["weight"])

    def discreteness(self) -> Tensor:
        if self.penalty == "linear":
            return F.to_binary(self.weight)
        return self.weight.square() * (1 - self.weight).square()

    def idleness(self, mean: Tensor) -> Tensor:
        return (1 - self.weight) * (1 - mean).square()

    def expressions(self, x: Symbols, w: Spelled) -> Formulas:
        return [spelling.selected(row, x) for row in w["weight"]]


class NormalisedNMU(NMU):
    r"""Multiplies inputs divided by their standard deviation, then scales back (MadsenDraft, section 2.3).

    .. math:: y_o = c^{\sum_i W_{oi}} \prod_i (W_{oi} x_i / c + 1 - W_{oi}), \qquad c = \mathrm{std}(x)

    The unbiased standard deviation is taken over all inputs of the batch, in training and in evaluation. So
    while the weights are not all 0 or 1, the output for a row depends on the other rows of its batch. If the
    deviation is 0, c is 1.

    >>> NormalisedNMU.solved("multiply").formulas()
    [a*b]
    """

    def compute(self, x: Tensor) -> Tensor:
        weight = self.weights()["weight"]
        c = F.spread(x)
        c = torch.where(c > 0, c, 1.0).unsqueeze(-1)  # (*runs, 1)
        scale = c ** weight.sum(-1)  # (*runs, out)
        return F.gated_product(x / c.unsqueeze(-1), weight) * scale.unsqueeze(-2)


class SigmoidNMU(Unit):
    r"""Multiplies the inputs it selects, with a sigmoid in place of the clamp.

    .. math:: y_o = \prod_i (\sigma(\hat W_{oi}) x_i + 1 - \sigma(\hat W_{oi}))

    The repository stable-nalu calls this layer MNAC. It is neither NAC• nor the NMU, and no paper describes it.

    >>> SigmoidNMU.solved("multiply").formulas()
    [a*b]
    """

    grids = {"weight": (0.0, 1.0)}
    gold = GOLD_PRODUCT
    inverse = "divide"
    w_hat: Tensor

    def start(self) -> dict[str, Start]:
        r = 0.75**0.5  # variance 1/4
        return {"w_hat": Uniform((self.out_features, self.in_features), -r, r)}

    def weights(self) -> Weights:
        return {"weight": torch.sigmoid(self.w_hat)}

    def assign_(self, weights: Mapping[str, Tensor]) -> Self:
        return super().assign_({"w_hat": F.sigmoid_inverse(weights["weight"])})

    def compute(self, x: Tensor) -> Tensor:
        return F.gated_product(x, self.weights()["weight"])

    def expressions(self, x: Symbols, w: Spelled) -> Formulas:
        return [spelling.selected(row, x) for row in w["weight"]]
