"""The NSR before a NAU (Faber & Wattenhofer 2020; Mistry 2023, appendix D.3.2). No published code exists."""

from typing import Any

import sympy
import torch
from torch import Tensor

from nalm import functional as F
from nalm.units import spelling
from nalm.units.base import Formulas, Spelled, Symbols, Weights
from nalm.units.nsr import NSR, SURE
from nalm.units.start import Start, Uniform

GREATER: dict[str, Any] = {  # sure of a > b and of its contrary
    **{"left": (1.0, 0.0), "right": (0.0, 1.0)},
    **{"sign": SURE, "zero": -SURE / 2, "bias": -SURE / 2},
}


class NSRNAU(NSR):
    r"""Adds and subtracts in one of two ways, as a comparison of two inputs says.

    .. math:: y_o = c_o \, (W^{yes}_o \cdot x) + (1 - c_o) \, (W^{no}_o \cdot x), \qquad c = \mathrm{NSR}(x),
        \quad -1 \le W \le 1

    ``yes`` and ``no`` are a NAU each, ``left`` to ``bias`` the NSR's. The penalty ``weight`` draws both towards
    {-1, 0, 1}. Learns continuous functions such as :math:`|a - b|` best: where the pieces do not meet, the soft
    comparison is wrong near the jump until it is snapped.

    >>> NSRNAU.solved("distance").formulas()
    [Piecewise((a - b, a > b), (-a + b, True))]
    """

    grids = {**NSR.grids, "yes": (-1.0, 0.0, 1.0), "no": (-1.0, 0.0, 1.0)}
    gold = {
        "minimum": GREATER | {"yes": (0.0, 1.0), "no": (1.0, 0.0)},
        "maximum": GREATER | {"yes": (1.0, 0.0), "no": (0.0, 1.0)},
        "distance": GREATER | {"yes": (1.0, -1.0), "no": (-1.0, 1.0)},
        "jump": GREATER | {"yes": (1.0, -1.0), "no": (1.0, 1.0)},
    }
    yes: Tensor
    no: Tensor

    def start(self) -> dict[str, Start]:
        shape, r = (self.out_features, self.in_features), F.glorot(self.in_features, self.out_features)
        return super().start() | {side: Uniform(shape, -min(0.5, r), min(0.5, r)) for side in ("yes", "no")}

    def weights(self) -> Weights:
        return super().weights() | {"yes": self.yes.clamp(-1, 1), "no": self.no.clamp(-1, 1)}

    def compute(self, x: Tensor) -> Tensor:
        holds = super().compute(x)
        yes, no = (F.linear(x, side.clamp(-1, 1)) for side in (self.yes, self.no))
        return holds * yes + (1 - holds) * no

    @torch.no_grad()
    def rounded(self) -> Weights:
        sides = {side: F.nearest(self.get_parameter(side), self.grids[side]) for side in ("yes", "no")}
        return super().rounded() | sides

    def penalties(self, x: Tensor | None = None) -> Weights:
        return {"weight": (F.mean_matrix(F.to_ternary(self.yes)) + F.mean_matrix(F.to_ternary(self.no))) / 2}

    @torch.no_grad()
    def project(self) -> None:
        self.yes.clamp_(-1, 1)
        self.no.clamp_(-1, 1)

    def sparsity_error(self) -> Tensor:
        sides = torch.maximum(F.sparsity(self.yes), F.sparsity(self.no))
        return torch.maximum(super().sparsity_error(), sides)

    def expressions(self, x: Symbols, w: Spelled) -> Formulas:
        rows = zip(super().expressions(x, w), w["yes"], w["no"], strict=True)
        return [_joined(holds, spelling.dot(yes, x), spelling.dot(no, x)) for holds, yes, no in rows]


def _joined(holds: sympy.Expr, yes: sympy.Expr, no: sympy.Expr) -> sympy.Expr:
    if isinstance(holds, sympy.Piecewise):
        return sympy.Piecewise((yes, holds.args[0][1]), (no, True))
    return yes if holds == 1 else no
