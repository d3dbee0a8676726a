"""Neural Power Units (Heim, Pevný & Šmídl, NeurIPS 2020, arXiv:2006.01681); modified forms of thesis 5.4, G.5."""

from collections.abc import Sequence
from typing import Literal

import torch
from torch import Generator, Tensor

from nalm import functional as F
from nalm.errors import NALMError, unknown
from nalm.units import spelling
from nalm.units.base import EpsUnit, Formulas, Grid, Spelled, Symbols, Weights
from nalm.units.start import Constant, Start, Uniform

EXPONENTS = (-3.0, -2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0, 3.0)
ROWS: dict[str, Grid] = {
    "multiply": (1.0, 1.0),
    "divide": (1.0, -1.0),
    "reciprocal": (-1.0,),
    "square": (2.0,),
    "sqrt": (0.5,),
    "select": (1.0,),
}
TERNARY = ("multiply", "divide", "reciprocal", "select")


class _Power(EpsUnit):
    """Real weights, as exponents."""

    paper_eps = F.FLOAT32_EPS
    weight: Tensor

    @property
    def bound(self) -> float:
        """Half width of the initial weights."""
        return F.glorot(self.in_features, self.out_features)

    def start(self) -> dict[str, Start]:
        return {"weight": Uniform((self.out_features, self.in_features), -self.bound, self.bound)}

    @staticmethod
    def angle(x: Tensor) -> Tensor:
        """The argument of an input as a complex number."""
        return F.angle(x)

    def columns(self) -> tuple[Tensor, ...]:
        """What size and angle take besides x, one value per input."""
        return ()

    def expressions(self, x: Symbols, w: Spelled) -> Formulas:
        return [spelling.powers(row, x) for row in w["weight"]]


class _Gated(_Power):
    """A gate per input, shared by the outputs, that turns the input into 1 when closed."""

    gate: Tensor

    def start(self) -> dict[str, Start]:
        return super().start() | {"gate": Constant((self.in_features,), 0.5)}

    def weights(self) -> Weights:
        return super().weights() | {"gate": self.gate.clamp(0, 1)}

    def columns(self) -> tuple[Tensor, ...]:
        return (self.gate.clamp(0, 1),)

    def size(self, x: Tensor, gate: Tensor) -> Tensor:  # type: ignore[override]
        return gate * super().size(x) + (1 - gate)

    @staticmethod
    def angle(x: Tensor, gate: Tensor) -> Tensor:  # type: ignore[override]
        return gate * F.angle(x)

    def expressions(self, x: Symbols, w: Spelled) -> Formulas:
        rows = [[g * w_i for g, w_i in zip(w["gate"], row, strict=True)] for row in w["weight"]]
        return super().expressions(x, w | {"weight": rows})


class RealNPU(_Gated):
    r"""Raises the inputs it selects to real powers and multiplies them.

    .. math:: y_o = \exp\Bigl(\sum_i W_{oi} \ln r_i\Bigr) \cos\Bigl(\sum_i W_{oi} k_i\Bigr), \quad
        r_i = \hat g_i (|x_i| + \epsilon) + 1 - \hat g_i, \quad k_i = \pi \hat g_i [x_i < 0]

    A weight is an exponent: 1 multiplies, -1 divides, 1/2 takes the root, 2 squares; a closed gate
    leaves an input out whatever its weight. Integer powers of negative numbers have the right sign;
    of other powers it is the real part. Departs from the paper: nothing.

    >>> RealNPU.solved("divide").formulas()
    [a/b]
    """

    grids = {"weight": EXPONENTS, "gate": (0.0, 1.0)}
    gold = {n: {"weight": row, "gate": (1.0,) * len(row)} for n, row in ROWS.items()}

    def compute(self, x: Tensor) -> Tensor:
        gates = self.columns()
        return self.powers(x, self.weight, *gates) * F.linear(x, self.weight, *gates, of=self.angle).cos()


class ModifiedRealNPU(RealNPU):
    r"""The RealNPU made robust for multiplication and division (thesis 5.4).

    The formula of the RealNPU with four changes: weights are clamped to [-1, 1] and gates to [0, 1]
    after the step; penalties ``weight`` and ``gate`` draw them to discrete values; the start is that of
    the NAU. ``towards`` is where weights are drawn, (-1, 1) as published, or (-1, 0, 1), under which
    a weight whose gate is closed is not left free (thesis Figure 5.16). ``clip`` names what is clamped, and
    ``constrained=False`` starts as the RealNPU does (thesis Figure 5.5).

    >>> ModifiedRealNPU.solved("divide", in_features=3).formulas()
    [a/b]
    """

    grids = {"weight": (-1.0, 1.0), "gate": (0.0, 1.0)}
    gold = {n: RealNPU.gold[n] for n in TERNARY}
    options = ("eps", "towards", "clip", "constrained")

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


def _checked(name: str, towards: Grid) -> Grid:
    if tuple(towards) not in ((-1.0, 1.0), (-1.0, 0.0, 1.0)):
        raise NALMError(f"{name} draws weights towards (-1, 1) or (-1, 0, 1), got {towards!r}.")
    return tuple(map(float, towards))


def _discreteness(weight: Tensor, towards: Grid) -> Tensor:
    return F.mean_matrix(F.to_ternary(weight) if 0.0 in towards else (1 - weight.abs()).abs())


class _Complex(_Power):
    """Complex weights: the imaginary part starts at zero and is zero when solved."""

    imaginary: Tensor

    def start(self) -> dict[str, Start]:
        shape = (self.out_features, self.in_features)
        return super().start() | {"imaginary": Constant(shape, 0.0)}

    def compute(self, x: Tensor) -> Tensor:
        columns = self.columns()
        damping = F.linear(x, -self.imaginary, *columns, of=self.angle)
        turn = F.linear(x, self.weight, *columns, of=self.angle) + F.linear(
            x, self.imaginary, *columns, of=self.log
        )
        if self.eps == 0:  # exact at 0, without logarithms
            return self.powers(x, self.weight, *columns) * damping.exp() * turn.cos()
        return (F.linear(x, self.weight, *columns, of=self.log) + damping).exp() * turn.cos()

    def log(self, x: Tensor, *columns: Tensor) -> Tensor:
        """The logarithm of a size, finite where that is 0."""
        size = self.size(x, *columns)
        if self.eps == 0:  # else it is never 0, and compiled code shares the logarithm with ``powers``
            size = size.clamp_min(torch.finfo(size.dtype).tiny)
        return size.log()

    def sparsity_error(self) -> Tensor:
        return (F.sparsity(self.weight) + F.sparsity(self.imaginary)) / 2


class NaiveNPU(_Complex):
    r"""Raises inputs to complex powers and keeps the real part, without gates.

    .. math:: y_o = \exp\Bigl(\sum_i W_{oi} \ln r_i - W'_{oi} k_i\Bigr)
        \cos\Bigl(\sum_i W_{oi} k_i + W'_{oi} \ln r_i\Bigr), \quad r_i = |x_i| + \epsilon, \quad k_i = \pi [x_i < 0]

    W is the real part of an exponent (1 multiplies, -1 divides, 0 leaves out), W' the imaginary part,
    zero when solved. An input near zero silences all gradients of its row. Departs from the paper: nothing.

    >>> NaiveNPU.solved("square").formulas()
    [a**2]
    """

    grids = {"weight": EXPONENTS, "imaginary": (0.0,)}
    gold = {n: {"weight": row, "imaginary": 0.0} for n, row in ROWS.items()}


class NPU(_Complex, _Gated):
    r"""Raises the inputs it selects to complex powers and keeps the real part.

    The NaiveNPU with the gates of the RealNPU: :math:`r_i = \hat g_i (|x_i| + \epsilon) + 1 - \hat g_i`,
    :math:`k_i = \pi \hat g_i [x_i < 0]`. The gate is clamped in the forward pass and has no gradient
    beyond [0, 1], as in the code behind the published numbers (a later library passes it straight through).

    >>> NPU.solved("sqrt").formulas()
    [re(sqrt(a))]
    """

    grids = {"weight": EXPONENTS, "imaginary": (0.0,), "gate": (0.0, 1.0)}
    gold = {n: {**RealNPU.gold[n], "imaginary": 0.0} for n in ROWS}


class ModifiedNPU(NPU):
    r"""The NPU with the changes of the modified RealNPU (thesis G.5).

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
