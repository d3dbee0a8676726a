"""Inputs scaled before a model and outputs scaled back after it (Mistry 2023, section 6.1)."""

from dataclasses import dataclass, replace

import torch
from torch import Tensor


@dataclass(frozen=True)
class Scaling:
    """The model sees (x - mean) / width and says shift + factor * z; without statistics both stay as they are.

    ``minmax``: half the distance between the smallest and largest value, and no shift (Mistry 2023, equation 6.1; its
    learnt factors and offsets are layers of the model). ``minmax-evaluated``: the equation to the letter, which has
    the mean of the training inputs but the width of the inputs at hand. ``zscore``: means and unbiased deviations
    (eq. 6.2).
    """

    mean: Tensor | None = None  # (*runs, 1, in)
    width: Tensor | None = None
    shift: Tensor | None = None  # (*runs, 1, out)
    factor: Tensor | None = None

    @classmethod
    def of(cls, kind: str, x: Tensor, y: Tensor) -> "Scaling":
        """Return the statistics of data x (*runs, rows, in) and y (*runs, rows, out)."""
        x_wide, y_wide = x.double(), y.double()
        mean, shift = (v.mean(-2, keepdim=True) for v in (x_wide, y_wide))
        if kind == "zscore":
            width, factor = (v.std(-2, keepdim=True) for v in (x_wide, y_wide))
        else:
            width, factor = _half_width(x_wide), _half_width(y_wide)
            shift = torch.zeros_like(shift)
        return cls(mean.to(x), width.to(x), shift.to(y), factor.to(y))

    def evaluated(self, kind: str, x: Tensor) -> "Scaling":
        """Return the scaling with which data x (*runs, rows, in) is evaluated."""
        if kind != "minmax-evaluated":
            return self
        return replace(self, width=_half_width(x.double()).to(x))

    def seen(self, x: Tensor) -> Tensor:
        """Return x as the model sees it."""
        return x if self.mean is None or self.width is None else (x - self.mean) / self.width

    def said(self, z: Tensor) -> Tensor:
        """Return the value that the model's output z stands for."""
        return z if self.shift is None or self.factor is None else self.shift + self.factor * z


def _half_width(values: Tensor) -> Tensor:
    """Return half the distance between the smallest and largest value of each column."""
    return (values.amax(-2, keepdim=True) - values.amin(-2, keepdim=True)) / 2
