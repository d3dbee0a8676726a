"""A unit of one's own: the NMU with squared parameters as weights."""

from collections.abc import Mapping
from typing import Self

import torch
from torch import Tensor

import nalm
from nalm import functional as F
from nalm.units import spelling
from nalm.units.base import Formulas, Spelled, Symbols, Weights
from nalm.units.start import Start, Uniform


class SquareNMU(nalm.Unit):
    r"""Multiplies the inputs it selects; the square of a parameter selects, so that small ones move slowly.

    .. math:: y_o = \prod_i (W_{oi} x_i + 1 - W_{oi}), \qquad W = \hat W^2, \quad 0 \le \hat W \le 1

    >>> SquareNMU.solved("multiply").formulas()
    [a*b]
    """

    grids = {"weight": (0.0, 1.0)}
    gold = nalm.NMU.gold
    w_hat: Tensor

    def start(self) -> dict[str, Start]:
        return {"w_hat": Uniform((self.out_features, self.in_features), 0.5, 0.9)}

    def weights(self) -> Weights:
        return {"weight": self.w_hat.square()}

    def assign_(self, weights: Mapping[str, Tensor]) -> Self:
        return super().assign_({"w_hat": weights["weight"].sqrt()})

    @torch.no_grad()
    def project(self) -> None:
        self.w_hat.clamp_(0, 1)

    def compute(self, x: Tensor) -> Tensor:
        return F.gated_product(x, self.weights()["weight"])

    def expressions(self, x: Symbols, w: Spelled) -> Formulas:
        return [spelling.selected(row, x) for row in w["weight"]]
