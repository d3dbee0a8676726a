r"""Improved NALU (Schlör et al., Frontiers in AI 2020, arXiv:2003.07629), as nalm-benchmark runs it.

Gradient clipping, reinitialisation and the moment the penalty sets in belong to the recipe.
"""

from collections.abc import Mapping
from typing import Self

import torch
from torch import Generator, Tensor

from nalm import functional as F
from nalm.errors import NALMError
from nalm.units import spelling
from nalm.units.base import EpsUnit, Formulas, Spelled, Symbols, Weights
from nalm.units.nac import GOLD_SUM, TanhSigmoid
from nalm.units.nalu import NALUSeparate
from nalm.units.start import Normal, Start, Uniform

OMEGA = 20.0  # largest logarithm of a product
SATURATION = 20.0  # raw parameters beyond it are not pushed any further


def unsaturated(*raw: Tensor) -> Tensor:
    r"""The published pressure :math:`\sum_\theta \mathrm{mean}\,\max(20 - |\theta|, 0)`, one value per run.

    The last tensor may be a vector per run; all others are matrices.
    """
    parts = [torch.relu(SATURATION - theta.abs()) for theta in raw]
    matrices = parts[0].ndim
    return sum(
        (p.mean((-2, -1)) if p.ndim == matrices else p.mean(-1) for p in parts[1:]), parts[0].mean((-2, -1))
    )


def signed_product(x: Tensor, weight: Tensor, eps: float) -> Tensor:
    r""":math:`\exp \min(\sum_i W \ln \max(|x_i|, \epsilon), 20) \prod_i (\mathrm{sign}(x_i)|W| + 1 - |W|)`."""
    if eps == 0:
        magnitude = F.power_product(x, weight, of=torch.abs)
    else:
        magnitude = F.linear(x, weight, of=lambda v: v.abs().clamp_min(eps).log()).clamp_max(OMEGA).exp()
    return magnitude * F.product(_sign, x, weight.abs())


def _sign(x: Tensor, selected: Tensor) -> Tensor:
    return x.sign() * selected + (1 - selected)


class _Saturating(TanhSigmoid):
    """The NAC's weight, starting and pressed as in the iNALU."""

    def start(self) -> dict[str, Start]:
        shape = (self.out_features, self.in_features)
        return {"w_hat": Normal(shape, 0.88, 0.2), "m_hat": Normal(shape, 0.5, 0.2)}

    def penalties(self, x: Tensor | None = None) -> Weights:
        return {"weight": unsaturated(self.w_hat, self.m_hat)}


class INAC(_Saturating):
    r"""Adds and subtracts: the summative path of the iNALU.

    .. math:: y_o = \sum_i W_{oi} x_i, \qquad W = \tanh(\hat W)\,\sigma(\hat M)

    1 adds, -1 subtracts, 0 leaves out. Differs from the NAC in start and penalty only.

    >>> INAC.solved("add").formulas()
    [a + b]
    """

    grids = {"weight": (-1.0, 0.0, 1.0)}
    gold = GOLD_SUM

    def compute(self, x: Tensor) -> Tensor:
        return F.linear(x, self.weights()["weight"])

    def expressions(self, x: Symbols, w: Spelled) -> Formulas:
        return [spelling.dot(row, x) for row in w["weight"]]


class IMNAC(_Saturating, EpsUnit):
    r"""Multiplies and divides with the right sign: the multiplicative path of the iNALU.

    .. math:: y_o = \exp\Bigl(\min\bigl(\textstyle\sum_i W_{oi} \ln\max(|x_i|, \epsilon), 20\bigr)\Bigr)
        \prod_i \bigl(\mathrm{sign}(x_i)\,|W_{oi}| + 1 - |W_{oi}|\bigr)

    1 multiplies by an input, -1 divides by it, 0 leaves it out; an output never exceeds e^20.
    The exact form (``eps=0``) drops that bound as well. The thesis omits the sum; code has it.

    >>> IMNAC.solved("divide").formulas()
    [a/b]
    """

    grids = {"weight": (-1.0, 0.0, 1.0)}
    gold = {
        "multiply": {"weight": (1.0, 1.0)},
        "divide": {"weight": (1.0, -1.0)},
        "reciprocal": {"weight": (-1.0,)},
        "select": {"weight": (1.0,)},
    }
    paper_eps = 1e-7

    def compute(self, x: Tensor) -> Tensor:
        return signed_product(x, self.weights()["weight"], self.eps)

    def expressions(self, x: Symbols, w: Spelled) -> Formulas:
        return [spelling.powers(row, x) for row in w["weight"]]


class INALU(EpsUnit):
    r"""Gates between a sum and a signed product; the gate does not look at the input.

    .. math:: y_o = \sigma(g_o)\,\mathrm{iNAC}(x)_o + (1 - \sigma(g_o))\,\mathrm{iMNAC}(x)_o

    with a weight of its own for each path. Gate 1 adds, gate 0 multiplies; weights as in INAC and IMNAC.
    Departs from the paper: the raw parameters W, M and g start at ``means`` (0.88, 0.5, 0) with deviation ``std``
    0.2, as the benchmark's runs did, where the paper recommends (1, -1, 0) and its code has a deviation of 0.1.

    >>> INALU.solved("multiply").formulas()
    [a*b]
    """

    grids = {"add": (-1.0, 0.0, 1.0), "multiply": (-1.0, 0.0, 1.0), "gate": (0.0, 1.0)}
    gold = {n: {"add": w["weight"], "multiply": (0.0,), "gate": 1.0} for n, w in INAC.gold.items()} | {
        n: {"add": (0.0,), "multiply": w["weight"], "gate": 0.0}
        for n, w in IMNAC.gold.items()
        if n != "select"
    }
    paper_eps = 1e-7
    add_w_hat: Tensor
    add_m_hat: Tensor
    multiply_w_hat: Tensor
    multiply_m_hat: Tensor
    gate_hat: Tensor

    options = ("eps", "means", "std")

    def __init__(
        self,
        in_features: int,
        out_features: int,
        *,
        means: tuple[float, float, float] = (0.88, 0.5, 0.0),
        std: float = 0.2,
        eps: float | None = None,
        generator: Generator | None = None,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ):
        if len(means) != 3 or not std >= 0:
            raise NALMError(f"INALU needs three means and std of at least 0, got {means!r} and {std!r}.")
        self.means = tuple(means)
        self.std = std
        super().__init__(in_features, out_features, eps=eps, generator=generator, device=device, dtype=dtype)

    def start(self) -> dict[str, Start]:
        shape, (w, m, g) = (self.out_features, self.in_features), self.means
        return {
            "add_w_hat": Normal(shape, w, self.std),
            "add_m_hat": Normal(shape, m, self.std),
            "multiply_w_hat": Normal(shape, w, self.std),
            "multiply_m_hat": Normal(shape, m, self.std),
            "gate_hat": Normal((self.out_features,), g, self.std),
        }

    def weights(self) -> Weights:
        return {
            "add": F.signed_unit(self.add_w_hat, self.add_m_hat),
            "multiply": F.signed_unit(self.multiply_w_hat, self.multiply_m_hat),
            "gate": torch.sigmoid(self.gate_hat),
        }

    @torch.no_grad()
    def assign_(self, weights: Mapping[str, Tensor]) -> Self:
        add = F.signed_unit_inverse(weights["add"])
        multiply = F.signed_unit_inverse(weights["multiply"])
        raw = (*add, *multiply, F.sigmoid_inverse(weights["gate"]))
        return super().assign_(dict(zip(self.start(), raw, strict=True)))

    def compute(self, x: Tensor) -> Tensor:
        w = self.weights()
        gate = w["gate"].unsqueeze(-2)
        return gate * F.linear(x, w["add"]) + (1 - gate) * signed_product(x, w["multiply"], self.eps)

    def penalties(self, x: Tensor | None = None) -> Weights:
        return {"weight": unsaturated(*(getattr(self, name) for name in self.start()))}

    def sparsity_error(self) -> Tensor:
        w = self.weights()
        return (F.sparsity(w["add"]) + F.sparsity(w["multiply"])) / 2

    def expressions(self, x: Symbols, w: Spelled) -> Formulas:
        sums = [spelling.dot(row, x) for row in w["add"]]
        products = [spelling.powers(row, x) for row in w["multiply"]]
        return [s if g else p for g, s, p in zip(w["gate"], sums, products, strict=True)]


class InputGatedINALU(NALUSeparate):
    r"""What the power units' code calls iNALU: its two paths behind the gate of the NALU, which looks at the input.

    .. math:: y_o = \sigma(G x)_o\,\mathrm{iNAC}(x)_o + (1 - \sigma(G x)_o)\,\mathrm{iMNAC}(x)_o

    Starts Xavier uniform. Penalty ``weight`` is the iNALU's summed over all raw parameters and divided by 20, without
    means. Known from published code only (Heim et al., NeurIPS 2020).

    >>> import sympy
    >>> InputGatedINALU.solved("divide").formulas(sympy.symbols("a b", positive=True))
    [a/b]
    """

    grids = {"add": (-1.0, 0.0, 1.0), "multiply": (-1.0, 0.0, 1.0)}
    gold = {n: w for n, w in NALUSeparate.gold.items() if n != "sqrt"}

    def start(self) -> dict[str, Start]:
        r = F.glorot(self.in_features, self.out_features)
        shape = (self.out_features, self.in_features)
        raw: dict[str, Start] = {
            f"{p}_{part}_hat": Uniform(shape, -r, r) for p in self.paths for part in "wm"
        }
        return raw | self.gate_start()

    def compute(self, x: Tensor) -> Tensor:
        w = self.weights()
        return self.mixed(x, F.linear(x, w["add"]), signed_product(x, w["multiply"], self.eps))

    def penalties(self, x: Tensor | None = None) -> Weights:
        parts = [torch.relu(SATURATION - p.abs()).flatten(len(self.runs)).sum(-1) for p in self.parameters()]
        return {"weight": torch.stack(parts).sum(0) / SATURATION}

    def expressions(self, x: Symbols, w: Spelled) -> Formulas:
        above = [spelling.dot(row, x) for row in w["add"]]
        return self.chosen(x, w, above, [spelling.powers(row, x) for row in w["multiply"]])
