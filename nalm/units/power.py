"""The bases of the power units: weights as exponents, real or complex, with or without a gate per input."""

import torch
from torch import Tensor

from nalm import functional as F
from nalm.units import spelling
from nalm.units.base import Formulas, Grid, Spelled, Symbols, Weights
from nalm.units.epsilon import EpsUnit
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


class PowerUnit(EpsUnit):
    """Real weights, as exponents."""

    paper_eps = F.FLOAT32_EPS
    inverse = "divide"
    weight: Tensor

    @property
    def bound(self) -> float:
        """Half width of the initial weights."""
        return F.glorot(self.in_features, self.out_features)

    def start(self) -> dict[str, Start]:
        return {"weight": Uniform((self.out_features, self.in_features), -self.bound, self.bound)}

    @staticmethod
    def angle(x: Tensor) -> Tensor:
        """Return the argument of an input as a complex number."""
        return F.angle(x)

    def columns(self) -> tuple[Tensor, ...]:
        """Return the arguments of ``size`` and ``angle`` after x, one value per input each."""
        return ()

    def expressions(self, x: Symbols, w: Spelled) -> Formulas:
        return [spelling.powers(row, x) for row in w["weight"]]


class GatedPower(PowerUnit):
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


class ComplexPower(PowerUnit):
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
        """Compute the logarithm of a size, finite where that is 0."""
        size = self.size(x, *columns)
        if self.eps == 0:  # else it is never 0, and compiled code shares the logarithm with ``powers``
            size = size.clamp_min(torch.finfo(size.dtype).tiny)
        return size.log()

    def sparsity_error(self) -> Tensor:
        return (F.sparsity(self.weight) + F.sparsity(self.imaginary)) / 2
