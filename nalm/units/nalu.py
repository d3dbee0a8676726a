r"""Neural Arithmetic Logic Units: Trask et al. (NeurIPS 2018), G-NALU (Rana et al. 2019), gated NAU/NMU."""

import math
from collections.abc import Mapping
from typing import ClassVar, Self

import torch
from torch import Generator, Tensor

from nalm import functional as F
from nalm.units import spelling
from nalm.units.base import EpsUnit, Formulas, Grid, Spelled, Symbols, Unit, Weights
from nalm.units.nac import nac_start
from nalm.units.start import Constant, Start, Uniform

LN_PHI = math.log((1 + math.sqrt(5)) / 2)


class _InputGated(Unit):
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
        """Per output, the expression of the path its gate takes."""
        bias = w.get("bias", [0] * self.out_features)
        rows = [[*row, b] for row, b in zip(w["gate"], bias, strict=True)]
        flat = [[spelling.number(round(float(g) / F.STEEP, 6)) for g in row] for row in rows]
        gates = [spelling.dot(row, [*x, 1]) for row in flat]
        return [spelling.choice(g, a, m) for g, a, m in zip(gates, above, below, strict=True)]


class _LogGated(_InputGated, EpsUnit):
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


def _gold(add: str, multiply: str) -> dict[str, dict[str, float | Grid]]:
    """Gold weights of a unit whose paths use these weights, which may be one and the same."""
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


class NALU(_LogGated):
    r"""Gates between a sum and a product that share one weight.

    .. math:: y_o = g_o \sum_i W_{oi} x_i + (1 - g_o) \exp \sum_i W_{oi} \ln(|x_i| + \epsilon),
        \qquad W = \tanh(\hat W)\,\sigma(\hat M), \quad g = \sigma(G x)

    Gate 1 adds (1), subtracts (-1) or leaves out (0); gate 0 multiplies, divides, takes roots of
    magnitudes. Departs from the paper: nothing; ``gate_bias=True`` adds the bias some ports have.

    >>> import sympy
    >>> NALU.solved("multiply").formulas(sympy.symbols("a b", positive=True))
    [a*b]
    """

    grids = {"weight": (-1.0, -0.5, 0.0, 0.5, 1.0)}
    gold = _gold("weight", "weight")
    w_hat: Tensor
    m_hat: Tensor

    def start(self) -> dict[str, Start]:
        r = nac_start(self.in_features, self.out_features)
        shape = (self.out_features, self.in_features)
        return {"w_hat": Uniform(shape, -r, r), "m_hat": Uniform(shape, -r, r)} | self.gate_start()

    def weights(self) -> Weights:
        weight = F.signed_unit(self.slope * self.w_hat, self.slope * self.m_hat)
        return {"weight": weight} | self.gate_weights()

    @torch.no_grad()
    def assign_(self, weights: Mapping[str, Tensor]) -> Self:
        rest = dict(weights)
        w_hat, m_hat = F.signed_unit_inverse(rest.pop("weight"))
        return super().assign_({"w_hat": w_hat / self.slope, "m_hat": m_hat / self.slope} | rest)

    def compute(self, x: Tensor) -> Tensor:
        weight = self.weights()["weight"]
        return self.mixed(x, F.linear(x, weight), self.powers(x, weight))

    def expressions(self, x: Symbols, w: Spelled) -> Formulas:
        above = [spelling.dot(row, x) for row in w["weight"]]
        return self.chosen(x, w, above, [spelling.magnitudes(row, x) for row in w["weight"]])


class GNALU(NALU):
    r"""The NALU on the base of the golden ratio.

    .. math:: \sigma_\varphi(x) = \frac{1}{1 + \varphi^{-x}}, \qquad
        \tanh_\varphi(x) = \frac{\varphi^{2x} - 1}{\varphi^{2x} + 1}

    in place of sigmoid and tanh in weight and gate. Since :math:`\sigma_\varphi(x) = \sigma(x \ln \varphi)`
    it is computed as a NALU whose raw parameters are multiplied by ln φ, which cannot overflow; the
    changed base of the product path has no effect at all. Departs from the paper: nothing.

    >>> import sympy
    >>> GNALU.solved("add").formulas(sympy.symbols("a b", positive=True))
    [a + b]
    """

    slope = LN_PHI


class NALUSeparate(_LogGated):
    r"""The NALU with a weight of its own for each path.

    .. math:: y_o = g_o \sum_i A_{oi} x_i + (1 - g_o) \exp \sum_i M_{oi} \ln(|x_i| + \epsilon)

    A and M are tanh times sigmoid as in the NAC. A variant of stable-nalu (two NACs).

    >>> import sympy
    >>> NALUSeparate.solved("divide").formulas(sympy.symbols("a b", positive=True))
    [a/b]
    """

    grids = {"add": (-1.0, 0.0, 1.0), "multiply": (-1.0, -0.5, 0.0, 0.5, 1.0)}
    gold = _gold("add", "multiply")
    paths: ClassVar[tuple[str, ...]] = ("add", "multiply")

    def start(self) -> dict[str, Start]:
        r = nac_start(self.in_features, self.out_features)
        shape = (self.out_features, self.in_features)
        raw: dict[str, Start] = {
            f"{path}_{part}_hat": Uniform(shape, -r, r) for path in self.paths for part in "wm"
        }
        return raw | self.gate_start()

    def weights(self) -> Weights:
        both = {p: F.signed_unit(*(getattr(self, f"{p}_{part}_hat") for part in "wm")) for p in self.paths}
        return both | self.gate_weights()

    @torch.no_grad()
    def assign_(self, weights: Mapping[str, Tensor]) -> Self:
        rest = dict(weights)
        for path in self.paths:
            rest[f"{path}_w_hat"], rest[f"{path}_m_hat"] = F.signed_unit_inverse(rest.pop(path))
        return super().assign_(rest)

    def compute(self, x: Tensor) -> Tensor:
        w = self.weights()
        return self.mixed(x, F.linear(x, w["add"]), self.powers(x, w["multiply"]))

    def sparsity_error(self) -> Tensor:
        w = self.weights()
        return torch.maximum(F.sparsity(w["add"]), F.sparsity(w["multiply"]))

    def expressions(self, x: Symbols, w: Spelled) -> Formulas:
        above = [spelling.dot(row, x) for row in w["add"]]
        return self.chosen(x, w, above, [spelling.magnitudes(row, x) for row in w["multiply"]])


class GatedNAUNMU(_InputGated):
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
    gold = {n: _gold("add", "multiply")[n] for n in ("add", "subtract", "multiply", "select")}
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
