"""A unit of one's own: the NMU with weights that a sine keeps between 0 and 1, without clamping or penalty."""

from collections.abc import Mapping
from typing import Self

import torch
from torch import Tensor

import nalm
from nalm import functional as F
from nalm.units import spelling
from nalm.units.base import Formulas, Spelled, Symbols, Weights
from nalm.units.start import Start, Uniform


class WaveNMU(nalm.Unit):
    r"""Multiplies the inputs it selects; the sine of a free parameter decides the selection.

    .. math:: y_o = \prod_i (W_{oi} x_i + 1 - W_{oi}), \qquad W = (1 + \sin \hat W) / 2

    >>> WaveNMU.solved("multiply").formulas()
    [a*b]
    """

    grids = {"weight": (0.0, 1.0)}
    gold = nalm.NMU.gold
    w_hat: Tensor

    def start(self) -> dict[str, Start]:
        return {"w_hat": Uniform((self.out_features, self.in_features), -0.5, 0.5)}

    def weights(self) -> Weights:
        return {"weight": (1 + self.w_hat.sin()) / 2}

    def assign_(self, weights: Mapping[str, Tensor]) -> Self:
        return super().assign_({"w_hat": torch.asin(2 * weights["weight"] - 1)})

    def compute(self, x: Tensor) -> Tensor:
        return F.gated_product(x, self.weights()["weight"])

    def expressions(self, x: Symbols, w: Spelled) -> Formulas:
        return [spelling.selected(row, x) for row in w["weight"]]
