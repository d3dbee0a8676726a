"""Neural Addition Unit (Madsen & Johansen, ICLR 2020, arXiv:2001.05016)."""

from typing import ClassVar

from torch import Tensor

from nalm import functional as F
from nalm.units import spelling
from nalm.units.base import Formulas, Inverse, Spelled, Symbols, Weights
from nalm.units.bounded import BoundedUnit
from nalm.units.gold import GOLD_SUM
from nalm.units.start import Start, Uniform


class NAU(BoundedUnit):
    r"""Adds and subtracts the inputs it selects.

    .. math:: y_o = \sum_i W_{oi} x_i, \qquad -1 \le W \le 1

    A weight of 1 adds an input, -1 subtracts it, 0 leaves it out. Penalties: ``weight`` draws
    towards {-1, 0, 1}, ``inputs`` (needs x) draws unselected inputs towards 0.
    Departs from the paper: linear penalty and clamping after the step, as the published code
    runs it; ``penalty="squared", bounds="penalty"`` is the form of the text.

    >>> NAU.solved("subtract").formulas()
    [a - b]
    """

    grids = {"weight": (-1.0, 0.0, 1.0)}
    gold = GOLD_SUM
    legal = (-1.0, 1.0)
    inverse: ClassVar[Inverse] = "subtract"
    weight: Tensor

    def start(self) -> dict[str, Start]:
        r = min(0.5, F.glorot(self.in_features, self.out_features))
        return {"weight": Uniform((self.out_features, self.in_features), -r, r)}

    def weights(self) -> Weights:
        return {"weight": self.weight.clamp(-1, 1)}  # in either mode, as in the published code

    def compute(self, x: Tensor) -> Tensor:
        return F.linear(x, self.weights()["weight"])

    def discreteness(self) -> Tensor:
        return F.to_ternary(self.weight) if self.penalty == "linear" else self._squared()

    def _squared(self) -> Tensor:
        return self.weight.square() * (1 - self.weight.abs()).square()

    def idleness(self, mean: Tensor) -> Tensor | None:
        return (1 - self.weight.abs()) * mean.square()

    def expressions(self, x: Symbols, w: Spelled) -> Formulas:
        return [spelling.dot(row, x) for row in w["weight"]]
