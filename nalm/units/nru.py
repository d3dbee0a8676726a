"""Neural Reciprocal Unit (Mistry et al. 2021, arXiv:2110.05177; Mistry 2023, sections 5.2.1 and G.1)."""

from typing import Literal

import torch
from torch import Generator, Tensor

from nalm import functional as F
from nalm.errors import NALMError
from nalm.units import spelling
from nalm.units.base import Formulas, Spelled, Symbols, Weights
from nalm.units.bounded import BoundedUnit
from nalm.units.inac import IMNAC
from nalm.units.nau import NAU

TANH_SCALE = 1000.0


class NRU(NAU):
    r"""Multiplies by and divides by the inputs it selects, the sign carried by each factor.

    .. math:: y_o = \prod_i \bigl(\mathrm{sign}(x_i) |x_i|^{W_{oi}} \alpha_{oi} + 1 - \alpha_{oi}\bigr),
        \qquad -1 \le W \le 1

    with :math:`\alpha = \tanh(s W)^2` in training, a smooth stand-in for :math:`\alpha = |W|`, which is
    used in evaluation; both agree at {-1, 0, 1} for a large ``tanh_scale`` s. 1 multiplies by an input, -1
    divides by it, 0 leaves it out. Departs from the paper: nothing (Mistry et al. 2021, eq. 6, omits the exponent; the
    thesis, Mistry 2023, has it).

    >>> NRU.solved("divide").formulas()
    [a/b]
    """

    gold = IMNAC.gold
    inverse = "divide"
    options = (*NAU.options, "tanh_scale")

    def __init__(
        self,
        in_features: int,
        out_features: int,
        *,
        tanh_scale: float = TANH_SCALE,
        penalty: Literal["linear", "squared"] = "linear",
        bounds: Literal["clip", "penalty"] = "clip",
        generator: Generator | None = None,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ):
        if not tanh_scale > 0:
            raise NALMError(f"{type(self).__name__} needs tanh_scale > 0, got {tanh_scale!r}.")
        self.tanh_scale = tanh_scale
        super().__init__(
            in_features,
            out_features,
            penalty=penalty,
            bounds=bounds,
            generator=generator,
            device=device,
            dtype=dtype,
        )

    def idleness(self, mean: Tensor) -> None:
        """Return None: the penalty on inputs is published for sums only."""

    def weights(self) -> Weights:
        return BoundedUnit.weights(self)

    def compute(self, x: Tensor) -> Tensor:
        w = self.weights()["weight"]
        return F.product(self.factor, x, w, self.selection(w))

    def selection(self, w: Tensor) -> Tensor:
        """Return how far each input is selected: 0 leaves it out, 1 takes it in."""
        return torch.tanh(self.tanh_scale * w).square() if self.training else w.abs()

    @staticmethod
    def factor(x: Tensor, w: Tensor, alpha: Tensor) -> Tensor:
        return x.sign() * F.power(x.abs(), w) * alpha + (1 - alpha)

    def expressions(self, x: Symbols, w: Spelled) -> Formulas:
        return [spelling.powers(row, x) for row in w["weight"]]


class NRUSeparateSign(NRU):
    r"""The NRU with the sign computed apart from the magnitude (Mistry 2023, appendix G.1).

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
