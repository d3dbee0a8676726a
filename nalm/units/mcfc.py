"""Mass-conserving layers (Hoedt et al. 2021, arXiv:2101.05186), as nalm-benchmark ports them."""

from collections.abc import Mapping
from typing import Self

import torch
from torch import Tensor

from nalm import functional as F
from nalm.units import spelling
from nalm.units.base import Formulas, Spelled, Symbols, Unit, Weights
from nalm.units.start import Constant, Orthogonal, Start


class MCFC(Unit):
    r"""Adds all inputs, each spread over the outputs so that nothing is lost, behind an output gate.

    .. math:: y_o = \sigma(w_o + b_o) \sum_i J_{oi} x_i, \qquad J = \mathrm{softmax}_o(r)

    ``junction`` J sends an input to one output when solved, ``gate`` opens an output at 1. With one
    output J is always 1 and r has no gradient: it can only add everything. The penalty ``magnitude``
    is negative, it rewards large raw values.

    >>> MCFC.solved("add").formulas()
    [a + b]
    """

    grids = {"junction": (0.0, 1.0), "gate": (0.0, 1.0)}
    gold = {
        "add": {"junction": (1.0, 1.0), "gate": 1.0},
        "select": {"junction": (1.0,), "gate": 1.0},
    }
    ignores = False
    shares = False
    r: Tensor
    gate_weight: Tensor
    gate_bias: Tensor

    def start(self) -> dict[str, Start]:
        return {
            "r": Orthogonal((self.out_features, self.in_features), identity_if_square=True),
            "gate_weight": Orthogonal((self.out_features, 1)),
            "gate_bias": Constant((self.out_features,), 0.0),
        }

    def weights(self) -> Weights:
        gate = torch.sigmoid(self.gate_weight.squeeze(-1) + self.gate_bias)
        return {"junction": self.r.softmax(-2), "gate": gate}

    @torch.no_grad()
    def assign_(self, weights: Mapping[str, Tensor]) -> Self:
        rest = dict(weights)
        gate = F.sigmoid_inverse(rest.pop("gate"))
        raw = {"r": -F.CLOSED * rest.pop("junction"), "gate_weight": gate.unsqueeze(-1)}
        return super().assign_(raw | {"gate_bias": torch.zeros_like(gate)} | rest)

    @torch.no_grad()
    def rounded(self) -> Weights:
        """Round the junction so that each input goes to the output that gets most of it."""
        junction = self.weights()["junction"]
        whole = torch.nn.functional.one_hot(junction.argmax(-2), self.out_features).mT.to(junction)
        return super().rounded() | {"junction": whole}

    def compute(self, x: Tensor) -> Tensor:
        w = self.weights()
        return w["gate"].unsqueeze(-2) * F.linear(x, w["junction"])

    def penalties(self, x: Tensor | None = None) -> Weights:
        matrices = self.r.square().mean((-2, -1)) + self.gate_weight.square().mean((-2, -1))
        return {"magnitude": -matrices - self.gate_bias.square().mean(-1)}

    def sparsity_error(self) -> Tensor:
        return F.sparsity(self.weights()["junction"])

    def expressions(self, x: Symbols, w: Spelled) -> Formulas:
        return [g * spelling.dot(row, x) for g, row in zip(w["gate"], w["junction"], strict=True)]


class MulMCFC(MCFC):
    r"""Multiplies all inputs: the MC-FC in log space, with a bias.

    .. math:: y_o = \exp(\mathrm{MCFC}(\ln x)_o + b'_o)

    Inputs must be positive. Solved as the MCFC is, with b' = 0. Computed as the product of powers that
    it equals, which stays differentiable at 0.

    >>> MulMCFC.solved("multiply").formulas()
    [a*b]
    """

    grids = {**MCFC.grids, "bias": (0.0,)}
    gold = {
        "multiply": {"junction": (1.0, 1.0), "gate": 1.0, "bias": 0.0},
        "select": {"junction": (1.0,), "gate": 1.0, "bias": 0.0},
    }
    domain = "positive"
    accepts = "positive"
    bias: Tensor

    def start(self) -> dict[str, Start]:
        return super().start() | {"bias": Constant((self.out_features,), 0.0)}

    def weights(self) -> Weights:
        return super().weights() | {"bias": self.bias}

    def compute(self, x: Tensor) -> Tensor:
        w = self.weights()
        exponents = w["gate"].unsqueeze(-1) * w["junction"]
        return F.power_product(x, exponents) * self.bias.exp().unsqueeze(-2)

    def expressions(self, x: Symbols, w: Spelled) -> Formulas:
        rows = zip(w["gate"], w["junction"], strict=True)
        return [spelling.powers([g * j for j in row], x) for g, row in rows]


class MulMCFCSignINALU(MulMCFC):
    r"""The MulMCFC on magnitudes, with the iNALU's sign product.

    .. math:: y_o = \exp(\mathrm{MCFC}(\ln |x|)_o + b'_o) \prod_i (\mathrm{sign}(x_i) J_{oi} + 1 - J_{oi})

    >>> MulMCFCSignINALU.solved("multiply").formulas()
    [a*b]
    """

    domain = "real"
    accepts = "real"

    def compute(self, x: Tensor) -> Tensor:
        return super().compute(x.abs()) * F.gated_product(x.sign(), self.weights()["junction"])

    def expressions(self, x: Symbols, w: Spelled) -> Formulas:
        rows = zip(w["gate"], w["junction"], strict=True)
        return [
            spelling.powers(row, x) if g else spelling.powers(row, [v / abs(v) for v in x]) for g, row in rows
        ]


class MulMCFCSignRealNPU(MulMCFC):
    r"""The MulMCFC on magnitudes, with the RealNPU's cosine and a gate per input for the sign.

    .. math:: y_o = \exp(\mathrm{MCFC}(\ln |x|)_o + b'_o) \cos\Bigl(\pi \sum_i J_{oi} \hat g_i [x_i < 0]\Bigr)

    ``sign_gate`` of 1 lets an input's sign count, 0 hides it.

    >>> MulMCFCSignRealNPU.solved("multiply").formulas()
    [a*b]
    """

    grids = {**MulMCFC.grids, "sign_gate": (0.0, 1.0)}
    gold = {name: {**weights, "sign_gate": 1.0} for name, weights in MulMCFC.gold.items()}
    domain = "real"
    accepts = "real"
    sign_gate: Tensor

    def start(self) -> dict[str, Start]:
        return super().start() | {"sign_gate": Constant((self.in_features,), 0.5)}

    def weights(self) -> Weights:
        return super().weights() | {"sign_gate": self.sign_gate.clamp(0, 1)}

    def compute(self, x: Tensor) -> Tensor:
        w = self.weights()
        turn = F.linear(x, w["junction"], w["sign_gate"], of=lambda v, g: g * F.angle(v))
        return super().compute(x.abs()) * turn.cos()

    @torch.no_grad()
    def project(self) -> None:
        self.sign_gate.clamp_(0, 1)

    def penalties(self, x: Tensor | None = None) -> Weights:
        return super().penalties(x) | {"gate": F.to_binary(self.sign_gate).mean(-1)}

    def expressions(self, x: Symbols, w: Spelled) -> Formulas:
        shown = [x_i if g else abs(x_i) for g, x_i in zip(w["sign_gate"], x, strict=True)]
        return super().expressions(shown, w)
