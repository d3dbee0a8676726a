"""Units with one weight kept within bounds: the base of NAU, NMU and NRU."""

import abc
from typing import ClassVar, Literal

import torch
from torch import Generator, Tensor

from nalm import functional as F
from nalm.errors import unknown
from nalm.units.base import Unit, Weights


class BoundedUnit(Unit):
    """A unit with one weight in an interval, which a penalty moves towards discrete values.

    ``penalty`` is linear (published runs) or squared (draft of Madsen & Johansen 2020, eqs. 3 and 5).
    ``bounds="clip"`` clamps after the step; ``"penalty"`` leaves the parameter free, clamps it in the
    forward pass and adds the penalty ``bounds``.
    """

    legal: ClassVar[tuple[float, float]]
    options: ClassVar[tuple[str, ...]] = ("penalty", "bounds")
    weight: Tensor

    def __init__(
        self,
        in_features: int,
        out_features: int,
        *,
        penalty: Literal["linear", "squared"] = "linear",
        bounds: Literal["clip", "penalty"] = "clip",
        generator: Generator | None = None,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ):
        if penalty not in ("linear", "squared"):
            raise unknown("penalty shape", penalty, ("linear", "squared"))
        if bounds not in ("clip", "penalty"):
            raise unknown("way to keep bounds", bounds, ("clip", "penalty"))
        self.penalty = penalty
        self.bounds = bounds
        super().__init__(in_features, out_features, generator=generator, device=device, dtype=dtype)

    def weights(self) -> Weights:
        return {"weight": self.weight if self.bounds == "clip" else self.weight.clamp(*self.legal)}

    @abc.abstractmethod
    def discreteness(self) -> Tensor:
        """Return the distance of each weight to its grid, (*runs, out, in)."""

    def idleness(self, mean: Tensor) -> Tensor | None:
        """Return the published penalty on unselected inputs of this mean (*runs, 1, in), if there is one."""
        return None

    def penalties(self, x: Tensor | None = None) -> Weights:
        terms = {"weight": F.mean_matrix(self.discreteness())}
        if self.bounds == "penalty":
            low, high = self.legal
            outside = torch.relu((self.weight - (low + high) / 2).abs() - (high - low) / 2)
            terms["bounds"] = F.mean_matrix(outside if self.penalty == "linear" else outside.square())
        if x is not None:
            idle = self.idleness(self.flat(x).mean(-2, keepdim=True))
            terms |= {} if idle is None else {"inputs": F.mean_matrix(idle)}
        return terms

    @torch.no_grad()
    def project(self) -> None:
        if self.bounds == "clip":
            self.weight.clamp_(*self.legal)
