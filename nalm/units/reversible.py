"""Reversible noise (Mistry 2022c, arXiv:2211.05624; Mistry 2023, section 4.7) for every unit with an inverse rule.

A unit says beside its formula how noise on its inputs is undone (``Unit.inverse``): a product f has f(x n) = f(x) f(n)
for noise n > 0 once its weights are solved, a sum f(x + n) = f(x) + f(n). Where that holds for all weights, as for sums
and for products of powers, the noise changes nothing; it acts where a unit interpolates between an input and 1.
"""

import math
from typing import Literal

import torch
from torch import Generator, Tensor

from nalm.errors import NALMError, unknown
from nalm.units.base import Unit
from nalm.units.modified_npu import ModifiedRealNPU
from nalm.units.nmru import NMRU
from nalm.units.nru import NRU, TANH_SCALE
from nalm.units.start import Constant, Start

Distribution = Literal["uniform", "lognormal", "learnt"]
Ends = tuple[float, float]
FLOAT32 = torch.finfo(torch.float32)


def undone(unit: Unit, x: Tensor, n: Tensor) -> Tensor:
    """Apply a unit to noised x and undo the noise on its output by the unit's rule; x and n are (*runs, batch, in)."""
    if unit.inverse == "divide":
        return unit.compute(x * n) / unit.compute(n)
    if unit.inverse == "subtract":
        return unit.compute(x + n) - unit.compute(n)
    raise NALMError(
        f"{unit.label} has no rule that undoes noise on its inputs: take a unit for one operation."
    )


class Reversible(Unit):
    """Noise on the inputs in training, undone on the output; the unit without noise in evaluation.

    The noise lies between the ends of ``noise_range``. ``distribution`` is ``uniform``; ``lognormal``, with 95 % of its
    mass between the ends; or ``learnt``: uniform from the lower end on, with a width for each input that is trained
    like the weights. Hand noise in with ``unit(x, noise=n)``.
    """

    noisy = True
    noise_range: Ends | Literal["batch"]
    distribution: Distribution
    log_width: Tensor

    def set_noise(self, noise_range: Ends | Literal["batch"], distribution: Distribution) -> None:
        """Check the options of the noise and keep them."""
        if distribution not in ("uniform", "lognormal", "learnt"):
            raise unknown("distribution of noise", distribution, ("uniform", "lognormal", "learnt"))
        ends = self.checked_ends(noise_range, FLOAT32.tiny, "(low, high), 0 < low < high")
        self.noise_range, self.distribution = ends, distribution

    @classmethod
    def checked_ends(cls, noise_range: Ends | str, least: float, form: str) -> Ends:
        """Return the ends of the noise as numbers of float32, of which the lower one has a bound."""
        try:
            low, high = (math.nan, math.nan) if isinstance(noise_range, str) else map(float, noise_range)
        except (TypeError, ValueError):
            low, high = math.nan, math.nan
        if not least <= low < high <= FLOAT32.max:
            raise NALMError(
                f"{cls.__name__} needs noise_range={form}, in the range of float32, got {noise_range!r}."
            )
        return low, high

    def start(self) -> dict[str, Start]:
        first = super().start()  # type: ignore[safe-super]
        if self.distribution != "learnt":
            return first
        low, high = self.ends
        return first | {"log_width": Constant((self.in_features,), math.log(high - low))}

    @property
    def ends(self) -> Ends:
        """The ends of the noise, which depend on the batch only in a unit that draws it otherwise."""
        assert self.noise_range != "batch"
        return self.noise_range

    def forward(self, x: Tensor, noise: Tensor | None = None) -> Tensor:
        """Apply the unit; in training, noise of x's shape may be given instead of drawn."""
        flat = self.flat(x)
        if not self.training:
            return self.unflat(self.compute(flat), x)
        if noise is not None:
            self.check_noise(noise, x.shape, "x")
        return self.unflat(self.undo(flat, self.draw(flat) if noise is None else self.flat(noise)), x)

    def undo(self, x: Tensor, n: Tensor) -> Tensor:
        """Apply the unit to noised inputs and undo the noise."""
        return undone(self, x, n)

    def draw(self, x: Tensor) -> Tensor:
        """Draw noise for x (*runs, batch, in)."""
        low, high = self.ends
        shape = tuple(x.shape)
        if self.distribution == "lognormal":
            middle, spread = math.log(low * high) / 2, math.log(high / low) / 4
            return (middle + spread * self.noise.normal(shape, x.dtype)).exp()
        width: Tensor | float = high - low
        if self.distribution == "learnt":
            width = self.log_width.exp().unsqueeze(-2)
        return low + width * self.noise.uniform(shape, x.dtype)


class SNRU(Reversible, NRU):
    r"""The NRU with reversible noise on its inputs.

    .. math:: y_o = f_o(n \odot x) / f_o(n), \qquad n_i \sim U[1, 5)

    with f the NRU, in training; the NRU in evaluation. The noise cancels at -1, 0 and 1, and almost everywhere else
    too, because the NRU's factor is a power of its input wherever a weight is not close to 0. Not published before.

    >>> SNRU.solved("divide").formulas()
    [a/b]
    """

    options = (*NRU.options, "noise_range", "distribution")

    def __init__(
        self,
        in_features: int,
        out_features: int,
        *,
        noise_range: Ends = (1.0, 5.0),
        distribution: Distribution = "uniform",
        tanh_scale: float = TANH_SCALE,
        penalty: Literal["linear", "squared"] = "linear",
        bounds: Literal["clip", "penalty"] = "clip",
        generator: Generator | None = None,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ):
        self.set_noise(noise_range, distribution)
        super().__init__(
            in_features,
            out_features,
            tanh_scale=tanh_scale,
            penalty=penalty,
            bounds=bounds,
            generator=generator,
            device=device,
            dtype=dtype,
        )


class SNMRU(Reversible, NMRU):
    r"""The NMRU with reversible noise on its inputs.

    .. math:: y_o = f_o(n \odot x) / f_o(n), \qquad n_i \sim U[1, 5)

    with f the NMRU, in training; the NMRU in evaluation. The noise cancels at 0 and 1. Not published before.

    >>> SNMRU.solved("divide").formulas()
    [a/b]
    """

    options = (*NMRU.options, "noise_range", "distribution")

    def __init__(
        self,
        in_features: int,
        out_features: int,
        *,
        noise_range: Ends = (1.0, 5.0),
        distribution: Distribution = "uniform",
        eps: float | None = None,
        generator: Generator | None = None,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ):
        self.set_noise(noise_range, distribution)
        super().__init__(in_features, out_features, eps=eps, generator=generator, device=device, dtype=dtype)


class SModifiedRealNPU(Reversible, ModifiedRealNPU):
    r"""The modified Real NPU with reversible noise on its inputs.

    .. math:: y_o = f_o(n \odot x) / f_o(n), \qquad n_i \sim U[1, 5)

    with f the modified Real NPU, in training; that unit in evaluation. The noise cancels at gates 0 and 1 whatever the
    weights are, so it acts on the gates only. Not published before.

    >>> SModifiedRealNPU.solved("divide").formulas()
    [a/b]
    """

    options = ("eps", "noise_range", "distribution")

    def __init__(
        self,
        in_features: int,
        out_features: int,
        *,
        noise_range: Ends = (1.0, 5.0),
        distribution: Distribution = "uniform",
        eps: float | None = None,
        generator: Generator | None = None,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ):
        self.set_noise(noise_range, distribution)
        super().__init__(in_features, out_features, eps=eps, generator=generator, device=device, dtype=dtype)
