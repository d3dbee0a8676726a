"""Stochastic NMU (Mistry et al. 2022, arXiv:2211.05624; Mistry 2023, chapter 4) and stochastic gates."""

import math
from collections.abc import Mapping
from typing import Literal, Self

import torch
from torch import Generator, Tensor

from nalm import functional as F
from nalm.errors import NALMError
from nalm.units import spelling
from nalm.units.base import Formulas, Spelled, Symbols, Unit, Weights
from nalm.units.gold import GOLD_PRODUCT
from nalm.units.nmu import NMU
from nalm.units.reversible import FLOAT32, Distribution, Ends, Reversible
from nalm.units.start import Constant, Normal, Start

SIGMA = 0.5
BEYOND = 4.0  # a solved gate lies this far beyond its bounds: over 5 standard deviations of the noise


class SNMU(Reversible, NMU):
    r"""Multiplies like the NMU, with reversible noise against local optima.

    .. math:: y_o = \frac{\prod_i (W_{oi} n_i x_i + 1 - W_{oi})}{\prod_i (W_{oi} n_i + 1 - W_{oi})}

    in training, with a fresh n for every sample and input, shared by the outputs; the NMU in
    evaluation. At W in {0, 1} the noise cancels. ``noise_range`` is (low, high), or "batch" for
    :math:`U[1, 1 + 1/s]` with s the standard deviation of the batch. ``denoising="powers"`` divides by
    :math:`\prod_i n_i^{W_{oi}}` instead (Mistry 2022c, equation 8), which needs noise above 0 and is reported to
    fail outside the training range. ``distribution`` is that of reversible.py. Hand noise in with
    ``unit(x, noise=n)``. Departs from published code: the caller's x is left alone, and the penalty ``inputs`` sees the
    x it is given, not the noised one.

    >>> SNMU.solved("multiply").formulas()
    [a*b]
    """

    options = (*NMU.options, "noise_range", "denoising", "distribution")

    def __init__(
        self,
        in_features: int,
        out_features: int,
        *,
        noise_range: Ends | Literal["batch"] = (1.0, 5.0),
        denoising: Literal["linear", "powers"] = "linear",
        distribution: Distribution = "uniform",
        penalty: Literal["linear", "squared"] = "linear",
        bounds: Literal["clip", "penalty"] = "clip",
        generator: Generator | None = None,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ):
        if denoising not in ("linear", "powers"):
            raise NALMError(f"SNMU needs denoising='linear' or 'powers', got {denoising!r}.")
        self.denoising: Literal["linear", "powers"] = denoising
        self.set_noise(noise_range, distribution)
        super().__init__(
            in_features,
            out_features,
            penalty=penalty,
            bounds=bounds,
            generator=generator,
            device=device,
            dtype=dtype,
        )

    def set_noise(self, noise_range: Ends | Literal["batch"], distribution: Distribution) -> None:
        if distribution != "uniform" and noise_range != "batch":
            super().set_noise(noise_range, distribution)
            return
        if distribution != "uniform":
            raise NALMError(f"SNMU needs uniform noise for noise_range='batch', got {distribution!r}.")
        if noise_range != "batch":
            noise_range = self.checked_ends(noise_range, -FLOAT32.max, "(low, high), low < high, or 'batch'")
        if self.denoising == "powers" and noise_range != "batch" and noise_range[0] <= 0:
            raise NALMError(f"Powers of noise need noise above 0, got noise_range={noise_range!r}.")
        self.noise_range, self.distribution = noise_range, distribution

    def undo(self, x: Tensor, n: Tensor) -> Tensor:
        return self.compute(x * n) / self.factor(n)

    def factor(self, n: Tensor) -> Tensor:
        """Return what the noise n (*runs, batch, in) multiplies an output by when the weights are 0 or 1."""
        return self.compute(n) if self.denoising == "linear" else F.power_product(n, self.weight)

    def draw(self, x: Tensor) -> Tensor:
        if self.noise_range != "batch":
            return super().draw(x)
        return 1.0 + (self.batch_bound(x) - 1.0) * self.noise.uniform(tuple(x.shape), x.dtype)

    @staticmethod
    def batch_bound(x: Tensor) -> Tensor:
        """Return the upper end 1 + 1/std(x) of the batch noise, (*runs, 1, 1); std is at least 1e-7."""
        return 1 + 1 / F.spread(x.detach()).clamp_min(1e-7)[..., None, None]


class StgNMU(Unit):
    r"""Multiplies through stochastic gates (Mistry 2023, section 4.3.1, after Yamada et al. 2020).

    .. math:: y_o = \prod_i (w_{oi} x_i + 1 - w_{oi}), \qquad
        w = \mathrm{clip}(\mu + \varepsilon, 0, 1), \quad \varepsilon \sim N(0, 0.5^2)

    in training, one draw for the whole batch; no noise in evaluation. A gate is open at mu of 1 or
    more, closed at 0 or less. The penalty ``l0`` is the expected number of open gates,
    :math:`\sum \Phi(\mu / 0.5)`. Hand noise in with ``unit(x, noise=eps)``.

    >>> StgNMU.solved("multiply").formulas()
    [a*b]
    """

    grids = {"weight": (0.0, 1.0)}
    gold = GOLD_PRODUCT
    noisy = True
    mu: Tensor

    def start(self) -> dict[str, Start]:
        return {"mu": Constant((self.out_features, self.in_features), 0.5)}

    def gates(self, noise: Tensor | None = None) -> Tensor:
        return (self.mu if noise is None else self.mu + noise).clamp(0, 1)

    def weights(self) -> Weights:
        return {"weight": self.gates()}

    def assign_(self, weights: Mapping[str, Tensor]) -> Self:
        return super().assign_({"mu": self.centre(weights["weight"])})

    @staticmethod
    def centre(weight: Tensor) -> Tensor:
        """Return centres whose clipped value is the weight; fully open and closed gates stay so under noise."""
        return weight + BEYOND * ((weight >= 1).to(weight.dtype) - (weight <= 0).to(weight.dtype))

    def forward(self, x: Tensor, noise: Tensor | None = None) -> Tensor:
        """Apply the unit; in training, noise of mu's shape may be given instead of drawn."""
        if not self.training:
            noise = None
        elif noise is None:
            noise = SIGMA * self.noise.normal(tuple(self.mu.shape), self.mu.dtype)
        else:
            self.check_noise(noise, self.mu.shape, "mu")
        return self.unflat(self.gated(self.flat(x), self.gates(noise)), x)

    def gated(self, x: Tensor, weight: Tensor) -> Tensor:
        return F.gated_product(x, weight)

    def compute(self, x: Tensor) -> Tensor:
        return self.gated(x, self.gates())

    def penalties(self, x: Tensor | None = None) -> Weights:
        return {"l0": torch.special.ndtr(self.mu / SIGMA).sum((-2, -1))}

    def expressions(self, x: Symbols, w: Spelled) -> Formulas:
        return [spelling.selected(row, x) for row in w["weight"]]


class StgProduct(StgNMU):
    r"""Stochastic gates as the published code has them: without the identity.

    .. math:: y_o = \prod_i w_{oi} x_i, \qquad w = \mathrm{clip}(\mu + 0.5 + \varepsilon, 0, 1)

    A closed gate makes the product 0 instead of leaving the input out, so all inputs must be used.

    >>> StgProduct.solved("multiply").formulas()
    [a*b]
    """

    gold = {"multiply": {"weight": (1.0, 1.0)}, "select": {"weight": (1.0,)}}
    ignores = False

    def start(self) -> dict[str, Start]:
        return {"mu": Normal((self.out_features, self.in_features), 0.0, 0.01)}

    def gates(self, noise: Tensor | None = None) -> Tensor:
        return (self.mu + 0.5 if noise is None else self.mu + 0.5 + noise).clamp(0, 1)

    @staticmethod
    def centre(weight: Tensor) -> Tensor:
        return StgNMU.centre(weight) - 0.5

    def gated(self, x: Tensor, weight: Tensor) -> Tensor:
        return F.product(lambda x_i, w_i: w_i * x_i, x, weight)

    def expressions(self, x: Symbols, w: Spelled) -> Formulas:
        return [math.prod(w_i * x_i for w_i, x_i in zip(row, x, strict=True)) for row in w["weight"]]
