"""A unit with learnt coefficients beside gates that are open or closed, with an L0 penalty (Louizos et al. 2018)."""

import math
from collections.abc import Mapping
from typing import Literal, Self

import sympy
import torch
from torch import Generator, Tensor

from nalm import functional as F
from nalm.errors import unknown
from nalm.units.base import Formulas, Spelled, Symbols, Unit, Weights
from nalm.units.start import Constant, Normal, Start, Uniform

BETA, LOW, HIGH = 2 / 3, -0.1, 1.1  # temperature and ends of the stretched gates, as published
SURE = 20.0  # logit of a gate that was set to 1, which no noise moves: that ends before 16
LARGEST = 80.0  # logarithm of a product in training
DIGITS = 3  # of a coefficient in a formula, which from 1,000 on has an exponent
FORMS = ("sum", "product")


class CoefficientUnit(Unit):
    r"""Adds inputs with coefficients, or multiplies powers of them and one factor; gates decide which inputs count.

    .. math:: y_o = \sum_i g_{oi} c_{oi} x_i \qquad \text{or} \qquad
        y_o = f_o \prod_i x_i^{g_{oi} P_{oi}}, \quad -1 \le P \le 1

    The gates are *hard concrete* (Louizos, Welling and Kingma 2018): in training noise moves them, and they are exactly
    0 or 1 with some chance, so that the penalty ``l0``, the expected number of open gates, has a gradient. Without
    noise they are 0 or 1 once they are sure. Coefficients and factors may be any numbers; exponents are -1, 0 or 1 when
    solved. A formula has coefficients of three digits.

    >>> unit = CoefficientUnit(3, 1)
    >>> _ = unit.assign_({"gate": torch.tensor([[1.0, 0.0, 1.0]]), "coefficient": torch.tensor([[0.37, 5.0, 2.6]])})
    >>> round(unit.eval()(torch.tensor([[1.0, 2.0, 3.0]])).item(), 4), unit.formulas()
    (8.17, [0.37*a + 2.6*c])
    """

    options = ("form",)
    gold = {}
    noisy = True
    gate_hat: Tensor
    coefficient: Tensor  # of sums
    power: Tensor  # of products
    factor: Tensor  # of products

    def __init__(
        self,
        in_features: int,
        out_features: int,
        *,
        form: Literal["sum", "product"] = "sum",
        generator: Generator | None = None,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ):
        if form not in FORMS:
            raise unknown("form", form, FORMS)
        self.form = form
        self.grids = {"gate": (0.0, 1.0)} | ({} if form == "sum" else {"power": (-1.0, 0.0, 1.0)})
        super().__init__(in_features, out_features, generator=generator, device=device, dtype=dtype)

    def start(self) -> dict[str, Start]:
        shape = (self.out_features, self.in_features)
        r = min(0.5, F.glorot(self.in_features, self.out_features))
        gates: dict[str, Start] = {"gate_hat": Normal(shape, 2.0, 0.1)}
        if self.form == "sum":
            return gates | {"coefficient": Uniform(shape, -r, r)}
        return gates | {"power": Uniform(shape, -r, r), "factor": Constant((self.out_features,), 1.0)}

    def gates(self) -> Tensor:
        """Return the gates between 0 and 1: with noise in training."""
        if not self.training:
            return stretched(self.gate_hat)
        uniform = self.noise.uniform(tuple(self.gate_hat.shape), self.gate_hat.dtype)
        return stretched((self.gate_hat + torch.logit(uniform.clamp(1e-6, 1 - 1e-6))) / BETA)

    def weights(self) -> Weights:
        gate = {"gate": stretched(self.gate_hat)}
        if self.form == "sum":
            return gate | {"coefficient": self.coefficient}
        return gate | {"power": self.power, "factor": self.factor}

    @torch.no_grad()
    def assign_(self, weights: Mapping[str, Tensor]) -> Self:
        rest = dict(weights)
        if "gate" in rest:
            gate = rest.pop("gate")
            inside = torch.logit((gate.clamp(0, 1) - LOW) / (HIGH - LOW))
            rest["gate_hat"] = torch.where(gate <= 0, -SURE, torch.where(gate >= 1, SURE, inside))
        return super().assign_(rest)

    def compute(self, x: Tensor) -> Tensor:
        gate = self.gates()
        if self.form == "sum":
            return F.linear(x, gate * self.coefficient)
        power = gate * self.power
        sign = F.linear(x, power, of=F.angle).cos()
        return self.factor.unsqueeze(-2) * self.magnitude(x, power) * sign

    def magnitude(self, x: Tensor, power: Tensor) -> Tensor:
        """Compute the product of powers: by logarithms in training, exactly in evaluation."""
        if not self.training:
            return F.power_product(x, power, of=torch.abs)
        logs = F.linear(x, power, of=lambda v: v.abs().clamp_min(1e-30).log())
        return logs.clamp(-LARGEST, LARGEST).exp()

    @torch.no_grad()
    def project(self) -> None:
        if self.form == "product":
            self.power.copy_(F.near_ternary(self.power))

    def penalties(self, x: Tensor | None = None) -> Weights:
        return {"l0": torch.sigmoid(self.gate_hat - BETA * math.log(-LOW / HIGH)).sum((-2, -1))}

    def sparsity_error(self) -> Tensor:
        return F.to_binary(self.weights()["gate"]).amax((-2, -1))

    def expressions(self, x: Symbols, w: Spelled) -> Formulas:
        if self.form == "sum":
            rows = zip(w["gate"], w["coefficient"], strict=True)
            return [
                sympy.Add(*(short(c) * u for g, c, u in zip(gates, row, x, strict=True) if g))
                for gates, row in rows
            ]
        return [
            short(f) * sympy.Mul(*(u**p for g, p, u in zip(gates, row, x, strict=True) if g))
            for gates, row, f in zip(w["gate"], w["power"], w["factor"], strict=True)
        ]


def short(number: sympy.Expr) -> sympy.Expr:
    """Return a number with three digits; a whole number that has no more stays whole.

    >>> [short(sympy.sympify(n)) * sympy.Symbol("a") for n in (2, 100, 2.5678, 6.674e-11, 299792458)]
    [2*a, 100*a, 2.57*a, 6.67e-11*a, 3.0e+8*a]
    """
    value = float(number)
    digits = f"{value:.{DIGITS}g}"
    if number.is_integer and float(digits) == value:
        return number
    return sympy.Float(digits, DIGITS) if abs(value) >= 10**DIGITS else sympy.Float(digits)


def stretched(logits: Tensor) -> Tensor:
    """Return gates between 0 and 1 that are exactly at an end for logits beyond a size."""
    return (torch.sigmoid(logits) * (HIGH - LOW) + LOW).clamp(0, 1)
