r"""The iNALU of the power units' published code (Heim et al. 2020), which differs from the paper's."""

import torch
from torch import Tensor

from nalm import functional as F
from nalm.units import spelling
from nalm.units.base import Formulas, Spelled, Symbols, Weights
from nalm.units.inac import SATURATION, signed_product
from nalm.units.nalu import NALUSeparate
from nalm.units.start import Start, Uniform


class InputGatedINALU(NALUSeparate):
    r"""The paths of the iNALU behind the gate of the NALU, which looks at the input.

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
