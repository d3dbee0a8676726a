r"""A NAU and an NMU behind the gate of the NALU (Madsen & Johansen 2020, arXiv:2001.05016)."""

import torch
from torch import Generator, Tensor

from nalm import functional as F
from nalm.units import spelling
from nalm.units.base import Formulas, Spelled, Symbols, Weights
from nalm.units.input_gate import InputGated, gated_gold
from nalm.units.start import Start, Uniform


class GatedNAUNMU(InputGated):
    r"""Gates between a NAU and an NMU.

    .. math:: y_o = g_o \sum_i A_{oi} x_i + (1 - g_o) \prod_i (M_{oi} x_i + 1 - M_{oi}),
        \qquad -1 \le A \le 1, \quad 0 \le M \le 1, \quad g = \sigma(G x)

    A study of Madsen & Johansen (ICLR 2020): better than the NALU, and still unreliable.
    Departs from the paper: nothing.

    >>> import sympy
    >>> GatedNAUNMU.solved("multiply").formulas(sympy.symbols("a b", positive=True))
    [a*b]
    """

    grids = {"add": (-1.0, 0.0, 1.0), "multiply": (0.0, 1.0)}
    gold = {n: gated_gold("add", "multiply")[n] for n in ("add", "subtract", "multiply", "select")}
    options = ("gate_bias",)
    add: Tensor
    multiply: Tensor

    def __init__(
        self,
        in_features: int,
        out_features: int,
        *,
        gate_bias: bool = False,
        generator: Generator | None = None,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ):
        self.gate_bias = gate_bias
        super().__init__(in_features, out_features, generator=generator, device=device, dtype=dtype)

    def start(self) -> dict[str, Start]:
        r = min(0.5, F.glorot(self.in_features, self.out_features))
        shape = (self.out_features, self.in_features)
        return {"add": Uniform(shape, -r, r), "multiply": Uniform(shape, 0.25, 0.75)} | self.gate_start()

    def weights(self) -> Weights:
        return {"add": self.add, "multiply": self.multiply} | self.gate_weights()

    def compute(self, x: Tensor) -> Tensor:
        return self.mixed(x, F.linear(x, self.add.clamp(-1, 1)), F.gated_product(x, self.multiply))

    @torch.no_grad()
    def project(self) -> None:
        self.add.clamp_(-1, 1)
        self.multiply.clamp_(0, 1)

    def penalties(self, x: Tensor | None = None) -> Weights:
        weight = F.mean_matrix(F.to_ternary(self.add)) + F.mean_matrix(F.to_binary(self.multiply))
        return {"weight": weight}

    def sparsity_error(self) -> Tensor:
        return torch.maximum(F.sparsity(self.add), F.sparsity(self.multiply))

    def expressions(self, x: Symbols, w: Spelled) -> Formulas:
        above = [spelling.dot(row, x) for row in w["add"]]
        return self.chosen(x, w, above, [spelling.selected(row, x) for row in w["multiply"]])
