"""Neural Logic Rule Layer (Reimann & Schwung 2019; Mistry 2023, section 2.2.6). No published code exists."""

from collections.abc import Mapping
from typing import Self

import torch
from torch import Tensor

from nalm import functional as F
from nalm.units import spelling
from nalm.units.base import Formulas, Spelled, Symbols, Weights
from nalm.units.epsilon import EpsUnit
from nalm.units.start import Start, Uniform


class NLRL(EpsUnit):
    r"""Combines truth values by AND or OR, each input taken as it is or negated.

    .. math:: \hat x_{oi} = (1 - s_{oi}) x_i + s_{oi} (1 - x_i), \quad s = \sigma(G^{neg}), \qquad
        y_o = (1 - t_o) \exp \sum_i A_{oi} \ln(|\hat x_{oi}| + \epsilon)
        + t_o \bigl(1 - \prod_i (1 - A_{oi} \hat x_{oi})\bigr)

    with :math:`t = \sigma(G^{out})`. A of 1 uses an input and 0 ignores it, s of 1 negates it; t of 0 is AND
    and of 1 is OR, as the equation says (the text of Mistry 2023 says the reverse). Inputs are 0 or 1.
    Unspecified in the sources and chosen here: A starts in U[0.25, 0.75] and is clamped to [0, 1],
    the gates start Xavier uniform and in U[-1, 1], epsilon is 1e-7. The OR is the closed form of the paper's
    Kronecker product.

    >>> NLRL.solved("or").formulas()
    [-(1 - a)*(1 - b) + 1]
    """

    grids = {"weight": (0.0, 1.0), "negate": (0.0, 1.0), "output": (0.0, 1.0)}
    gold = {
        "and": {"weight": (1.0, 1.0), "negate": 0.0, "output": 0.0},
        "or": {"weight": (1.0, 1.0), "negate": 0.0, "output": 1.0},
        "not": {"weight": (1.0,), "negate": (1.0,), "output": 0.0},
        "implies": {"weight": (1.0, 1.0), "negate": (1.0, 0.0), "output": 1.0},
        "select": {"weight": (1.0,), "negate": 0.0, "output": 0.0},
        "true": {"weight": 0.0, "negate": 0.0, "output": 0.0},
        "false": {"weight": 0.0, "negate": 0.0, "output": 1.0},
    }
    domain = "boolean"
    paper_eps = 1e-7
    weight: Tensor
    negate_hat: Tensor
    output_hat: Tensor

    def start(self) -> dict[str, Start]:
        shape = (self.out_features, self.in_features)
        r = F.glorot(self.in_features, self.out_features)
        return {
            "weight": Uniform(shape, 0.25, 0.75),
            "negate_hat": Uniform(shape, -r, r),
            "output_hat": Uniform((self.out_features,), -1.0, 1.0),
        }

    def weights(self) -> Weights:
        gates = {"negate": torch.sigmoid(self.negate_hat), "output": torch.sigmoid(self.output_hat)}
        return {"weight": self.weight} | gates

    @torch.no_grad()
    def assign_(self, weights: Mapping[str, Tensor]) -> Self:
        gates = {f"{name}_hat": F.sigmoid_inverse(weights[name]) for name in ("negate", "output")}
        return super().assign_({"weight": weights["weight"]} | gates)

    def compute(self, x: Tensor) -> Tensor:
        w = self.weights()
        output = w["output"].unsqueeze(-2)
        return self.combined(self.conjunction(x, w["weight"], w["negate"]), x, w, output)

    def combined(self, conjunction: Tensor, x: Tensor, w: Weights, output: Tensor) -> Tensor:
        disjunction = 1 - F.product(lambda x_i, a, s: 1 - a * _literal(x_i, s), x, w["weight"], w["negate"])
        return (1 - output) * conjunction + output * disjunction

    def conjunction(self, x: Tensor, weight: Tensor, negate: Tensor) -> Tensor:
        if self.eps == 0:
            return F.product(lambda x_i, a, s: _literal(x_i, s).abs() ** a, x, weight, negate)
        return F.total(
            lambda x_i, a, s: a * (_literal(x_i, s).abs() + self.eps).log(), x, weight, negate
        ).exp()

    @torch.no_grad()
    def project(self) -> None:
        self.weight.clamp_(0, 1)

    def expressions(self, x: Symbols, w: Spelled) -> Formulas:
        rows = zip(w["weight"], w["negate"], w["output"], strict=True)
        literals = [
            ([x_i if not s else 1 - x_i for x_i, s in zip(x, neg, strict=True)], a, t) for a, neg, t in rows
        ]
        return [
            1 - spelling.selected(a, [1 - v for v in values]) if t else spelling.selected(a, values)
            for values, a, t in literals
        ]


def _literal(x: Tensor, s: Tensor) -> Tensor:
    """Return the input, or its negation where s is 1."""
    return (1 - s) * x + s * (1 - x)


class AndNLRL(NLRL):
    r"""The NLRL without OR: a second negation at the output makes it one (De Morgan).

    .. math:: y_o = (1 - t_o) z_o + t_o (1 - z_o), \qquad z_o = \exp \sum_i A_{oi} \ln(|\hat x_{oi}| + \epsilon)

    t of 1 negates the output; OR negates inputs and output. Smaller and faster than the NLRL.

    >>> AndNLRL.solved("or").formulas()
    [-(1 - a)*(1 - b) + 1]
    """

    gold = {
        "and": {"weight": (1.0, 1.0), "negate": 0.0, "output": 0.0},
        "or": {"weight": (1.0, 1.0), "negate": 1.0, "output": 1.0},
        "not": {"weight": (1.0,), "negate": 0.0, "output": 1.0},
        "implies": {"weight": (1.0, 1.0), "negate": (0.0, 1.0), "output": 1.0},
        "select": {"weight": (1.0,), "negate": 0.0, "output": 0.0},
        "true": {"weight": 0.0, "negate": 0.0, "output": 0.0},
        "false": {"weight": 0.0, "negate": 0.0, "output": 1.0},
    }

    def combined(self, conjunction: Tensor, x: Tensor, w: Weights, output: Tensor) -> Tensor:
        return _literal(conjunction, output)

    def expressions(self, x: Symbols, w: Spelled) -> Formulas:
        plain = super().expressions(x, w | {"output": [0] * self.out_features})
        return [1 - z if t else z for z, t in zip(plain, w["output"], strict=True)]
