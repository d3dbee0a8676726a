r"""Gates between a sum and a product that look at the input, as the NALU has them."""

from typing import ClassVar

import torch
from torch import Generator, Tensor

from nalm import functional as F
from nalm.units import spelling
from nalm.units.base import Formulas, Grid, Spelled, Symbols, Unit, Weights
from nalm.units.epsilon import EpsUnit
from nalm.units.start import Constant, Start, Uniform


class InputGated(Unit):
    r"""A gate :math:`g = \sigma(G x + b)` between a sum (1) and a product (0), one per output.

    Snapped, the gate is a step: which path is taken depends on the sign of G x. Without a bias it
    cannot be right for inputs of both signs, so a solved unit promises positive inputs only.
    """

    domain = "positive"
    slope: ClassVar[float] = 1.0
    gate_bias: bool
    gate: Tensor
    bias: Tensor  # only with gate_bias

    def gate_start(self) -> dict[str, Start]:
        r = F.glorot(self.in_features, self.out_features)
        start: dict[str, Start] = {"gate": Uniform((self.out_features, self.in_features), -r, r)}
        return start | ({"bias": Constant((self.out_features,), 0.0)} if self.gate_bias else {})

    def gate_weights(self) -> Weights:
        return {"gate": self.gate} | ({"bias": self.bias} if self.gate_bias else {})

    def mixed(self, x: Tensor, above: Tensor, below: Tensor) -> Tensor:
        z = F.linear(x, self.gate)
        z = z + self.bias.unsqueeze(-2) if self.gate_bias else z
        g = torch.sigmoid(self.slope * z)
        return g * above + (1 - g) * below

    @torch.no_grad()
    def rounded(self) -> Weights:
        steps = self.gate_weights()
        size = torch.stack([w.abs().flatten(len(self.runs)).amax(-1) for w in steps.values()]).amax(0)
        scale = F.STEEP / torch.where(size > 0, size, 1.0)
        steep = {n: w * scale.reshape(*self.runs, *[1] * (w.ndim - len(self.runs))) for n, w in steps.items()}
        return super().rounded() | steep

    def chosen(self, x: Symbols, w: Spelled, above: Formulas, below: Formulas) -> Formulas:
        """Return, for each output, the expression of the path that its gate takes."""
        bias = w.get("bias", [0] * self.out_features)
        rows = [[*row, b] for row, b in zip(w["gate"], bias, strict=True)]
        flat = [[spelling.number(round(float(g) / F.STEEP, 6)) for g in row] for row in rows]
        gates = [spelling.dot(row, [*x, 1]) for row in flat]
        return [spelling.choice(g, a, m) for g, a, m in zip(gates, above, below, strict=True)]


class LogGated(InputGated, EpsUnit):
    """An input-gated unit whose product goes through logarithms."""

    paper_eps = 1e-7
    options = ("eps", "gate_bias")

    def __init__(
        self,
        in_features: int,
        out_features: int,
        *,
        eps: float | None = None,
        gate_bias: bool = False,
        generator: Generator | None = None,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ):
        self.gate_bias = gate_bias
        super().__init__(in_features, out_features, eps=eps, generator=generator, device=device, dtype=dtype)


def gated_gold(add: str, multiply: str) -> dict[str, dict[str, float | Grid]]:
    """Return the gold weights of a unit whose paths use these weights, which may be one and the same."""
    rows: dict[str, tuple[str, Grid, float]] = {
        "add": (add, (1.0, 1.0), F.STEEP),
        "subtract": (add, (1.0, -1.0), F.STEEP),
        "multiply": (multiply, (1.0, 1.0), -F.STEEP),
        "divide": (multiply, (1.0, -1.0), -F.STEEP),
        "reciprocal": (multiply, (-1.0,), -F.STEEP),
        "sqrt": (multiply, (0.5,), -F.STEEP),
        "select": (add, (1.0,), F.STEEP),
    }
    rest: dict[str, float | Grid] = {add: (0.0,), multiply: (0.0,)}
    return {name: rest | {path: row, "gate": gate} for name, (path, row, gate) in rows.items()}
