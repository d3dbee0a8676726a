"""Power units with weights drawn to -1, 0 and 1 (Mistry 2023, section 5.4 and appendix G.5)."""

from collections.abc import Sequence
from typing import ClassVar, Literal

import torch
from torch import Generator, Tensor

from nalm import functional as F
from nalm.errors import NALMError, unknown
from nalm.units.base import Grid, Weights
from nalm.units.npu import NPU, RealNPU

TERNARY = ("multiply", "divide", "reciprocal", "select")


class ModifiedRealNPU(RealNPU):
    r"""The RealNPU made robust for multiplication and division (Mistry 2023, section 5.4).

    The formula of the RealNPU with four changes: weights are clamped to [-1, 1] and gates to [0, 1]
    after the step; penalties ``weight`` and ``gate`` draw them to discrete values; the start is that of
    the NAU. ``towards`` is where weights are drawn, (-1, 1) as published, or (-1, 0, 1), under which
    a weight whose gate is closed is not left free (Mistry 2023, Figure 5.16). ``clip`` names what is clamped, and
    ``constrained=False`` starts as the RealNPU does (Mistry 2023, Figure 5.5).

    >>> ModifiedRealNPU.solved("divide", in_features=3).formulas()
    [a/b]
    """

    grids = {"weight": (-1.0, 1.0), "gate": (0.0, 1.0)}
    gold = {n: RealNPU.gold[n] for n in TERNARY}
    options: ClassVar[tuple[str, ...]] = ("eps", "towards", "clip", "constrained")

    def __init__(
        self,
        in_features: int,
        out_features: int,
        *,
        towards: Grid = (-1.0, 1.0),
        clip: Sequence[str] = ("weight", "gate"),
        constrained: bool = True,
        eps: float | None = None,
        generator: Generator | None = None,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ):
        self.towards = _checked(type(self).__name__, towards)
        for name in clip:
            if name not in ("weight", "gate"):
                raise unknown("parameter to clip", name, ("weight", "gate"))
        self.clip = tuple(clip)
        self.constrained = constrained
        self.grids = {**type(self).grids, "weight": self.towards}
        super().__init__(in_features, out_features, eps=eps, generator=generator, device=device, dtype=dtype)

    @property
    def bound(self) -> float:
        return min(0.5, super().bound) if self.constrained else super().bound

    @torch.no_grad()
    def project(self) -> None:
        if "weight" in self.clip:
            self.weight.clamp_(-1, 1)
        if "gate" in self.clip:
            self.gate.clamp_(0, 1)

    def penalties(self, x: Tensor | None = None) -> Weights:
        return {"weight": _discreteness(self.weight, self.towards), "gate": F.to_binary(self.gate).mean(-1)}


class ModifiedNPU(NPU):
    r"""The NPU with the changes of the modified RealNPU (Mistry 2023, appendix G.5).

    ``imaginary_part="free"`` leaves W' to the L1 term of the recipe; ``"clip"`` clamps it to [-1, 1]
    after the step and adds the **sum** of \|W'\| to the penalty ``weight``, as the published code does.

    >>> ModifiedNPU.solved("multiply").formulas()
    [a*b]
    """

    grids = {"weight": (-1.0, 1.0), "imaginary": (0.0,), "gate": (0.0, 1.0)}
    gold = {n: NPU.gold[n] for n in TERNARY}
    options = ("eps", "towards", "imaginary_part")

    def __init__(
        self,
        in_features: int,
        out_features: int,
        *,
        towards: Grid = (-1.0, 1.0),
        imaginary_part: Literal["free", "clip"] = "clip",
        eps: float | None = None,
        generator: Generator | None = None,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ):
        if imaginary_part not in ("free", "clip"):
            raise unknown("treatment of the imaginary part", imaginary_part, ("free", "clip"))
        self.towards = _checked(type(self).__name__, towards)
        self.imaginary_part = imaginary_part
        self.grids = {**type(self).grids, "weight": self.towards}
        super().__init__(in_features, out_features, eps=eps, generator=generator, device=device, dtype=dtype)

    @property
    def bound(self) -> float:
        return min(0.5, super().bound)

    @torch.no_grad()
    def project(self) -> None:
        self.weight.clamp_(-1, 1)
        self.gate.clamp_(0, 1)
        if self.imaginary_part == "clip":
            self.imaginary.clamp_(-1, 1)

    def penalties(self, x: Tensor | None = None) -> Weights:
        weight = _discreteness(self.weight, self.towards)
        if self.imaginary_part == "clip":
            weight = weight + self.imaginary.abs().sum((-2, -1))
        return {"weight": weight, "gate": F.to_binary(self.gate).mean(-1)}


def _checked(name: str, towards: Grid) -> Grid:
    if tuple(towards) not in ((-1.0, 1.0), (-1.0, 0.0, 1.0)):
        raise NALMError(f"{name} draws weights towards (-1, 1) or (-1, 0, 1), got {towards!r}.")
    return tuple(map(float, towards))


def _discreteness(weight: Tensor, towards: Grid) -> Tensor:
    return F.mean_matrix(F.to_ternary(weight) if 0.0 in towards else (1 - weight.abs()).abs())
