"""A mixture of selectors, one for each sequence of operations, that are trained side by side and judged one by one."""

import itertools
from collections.abc import Mapping, Sequence
from typing import Self

import sympy
import torch
from torch import Generator, Tensor

from nalm import functional as F
from nalm.errors import NALMError
from nalm.networks.lines import Line, LineNetwork
from nalm.networks.selection import mixed, one_hot
from nalm.networks.selector import OPERATIONS, check_names, check_steps, operated, spelt, whole
from nalm.units.base import Spelled, Symbols, Weights
from nalm.units.start import Constant, Normal, Start

SMALL, LARGEST = 1e-6, 15.0  # magnitudes below, and logarithms of products beyond, count as these in training
LINE = 1.0  # mean of the logits by which a step starts to see the lines before it


class ExpertSelector(LineNetwork):
    r"""Experts with fixed operations learn what each operation sees, and a gate learns which expert is right.

    An expert has one of the four operations of the frozen selector at each step: with two steps there are 16, and
    ``copies`` of them with starts of their own. It learns a mask of what each step sees of the inputs and of the lines
    before. In training masks are numbers between 0 and 1, products are :math:`\prod_i |u_i|^{m_i}`, which do not blow
    up, and every expert is trained on all rows by its own error, so that none is left behind for being worse at first
    (the load of the experts is equal). The loss ``experts`` knows this: in training the outputs are the values of
    all experts, then their shares. The gate learns the share of each expert from their errors alone. In evaluation
    the likeliest expert computes with masks of 0 and 1. The penalty ``weight`` counts what is seen.

    >>> network = ExpertSelector(3, 1, generator=Generator().manual_seed(0))
    >>> network(torch.ones(8, 3)).shape, network.eval()(torch.ones(8, 3)).shape
    (torch.Size([8, 32]), torch.Size([8, 1]))
    """

    options = ("steps", "copies")
    grids = {"mask": (0.0, 1.0), "line": (0.0, 1.0), "choice": (0.0, 1.0)}
    mask_hat: Tensor  # (*runs, experts, steps, inputs)
    line_hat: Tensor  # (*runs, experts, steps, lines)
    gate_hat: Tensor  # (*runs, experts)

    def __init__(
        self,
        in_features: int,
        out_features: int,
        *,
        steps: int = 2,
        copies: int = 1,
        generator: Generator | None = None,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ):
        check_steps(out_features, steps)
        if not whole(copies, 1):
            raise NALMError(
                f"ExpertSelector has at least one copy of each expert, as a whole number, got copies={copies!r}."
            )
        self.steps, self.copies = steps, copies
        self.operations = list(itertools.product(range(4), repeat=steps)) * copies
        super().__init__(in_features, out_features, generator=generator, device=device, dtype=dtype)

    def start(self) -> dict[str, Start]:
        experts = len(self.operations)
        return {
            "mask_hat": Normal((experts, self.steps, self.in_features), 0.0, 0.5),
            "line_hat": Normal((experts, self.steps, self.steps), LINE, 1.0),
            "gate_hat": Constant((experts,), 0.0),
        }

    def weights(self) -> Weights:
        return {
            "mask": torch.sigmoid(self.mask_hat),
            "line": torch.sigmoid(self.line_hat),
            "choice": torch.softmax(self.gate_hat, -1),
        }

    @torch.no_grad()
    def rounded(self) -> Weights:
        return super().rounded() | {"choice": one_hot(self.gate_hat)}

    @torch.no_grad()
    def assign_(self, weights: Mapping[str, Tensor]) -> Self:
        check_names(self, weights)
        for name in ("mask", "line"):
            if name in weights:
                self.get_parameter(f"{name}_hat").copy_(F.sigmoid_inverse(weights[name]))
        if "choice" in weights:
            self.gate_hat.copy_(weights["choice"].clamp_min(1e-12).log())
        return self

    def compute(self, x: Tensor) -> Tensor:
        return self._experts(x) if self.training else self._likeliest(x)

    def _experts(self, x: Tensor) -> Tensor:
        """Return the values and the shares of all experts, (*runs, batch, 2 * experts)."""
        w = self.weights()
        seen = [
            column.unsqueeze(-2) for column in x.unbind(-1)
        ]  # (*runs, 1, batch): the batch stays innermost
        which = torch.tensor(self.operations, device=x.device).unsqueeze(-1)  # (experts, steps, 1)
        for t in range(self.steps):
            masks = [*w["mask"][..., t, :].unbind(-1), *w["line"][..., t, :].unbind(-1)]
            seen.append(_written(seen, [m.unsqueeze(-1) for m in masks], which[:, t]))
        values = seen[-1].mT
        return torch.cat([values, w["choice"].unsqueeze(-2).expand_as(values)], -1)

    def _likeliest(self, x: Tensor) -> Tensor:
        w = self.rounded()
        share = w["choice"].unsqueeze(-1)
        masks = torch.cat([(w[n] * share.unsqueeze(-1)).sum(-3) for n in ("mask", "line")], -1)
        one = torch.eye(4, dtype=x.dtype, device=x.device)
        which = one[torch.tensor(self.operations, device=x.device)]  # (experts, steps, 4)
        chosen = (which * share.unsqueeze(-1)).sum(-3)  # (*runs, steps, 4)
        seen = list(x.unbind(-1))
        for t in range(self.steps):
            k = chosen[..., t, :]
            mask = masks[..., t, :].unsqueeze(-1) * k.unsqueeze(-2)  # (*runs, seen, 4)
            seen.append(mixed(operated(seen, mask.unsqueeze(-3), sure=True), k))
        return seen[-1].unsqueeze(-1)

    def penalties(self, x: Tensor | None = None) -> Weights:
        w = self.weights()
        later = torch.ones(self.steps, self.steps, device=w["line"].device).tril(-1)
        return {"weight": w["mask"].sum((-3, -2, -1)) + (w["line"] * later).sum((-3, -2, -1))}

    def sparsity_error(self) -> Tensor:
        return torch.zeros_like(self.gate_hat[..., 0])

    def lines(self, x: Symbols, w: Spelled) -> list[Line]:
        best = w["choice"].index(1)
        written: list[Line] = []
        for t, k in enumerate(self.operations[best]):
            lines = [sympy.Symbol(line.name) for line in written]
            pairs = [*zip(x, w["mask"][best][t], strict=True), *zip(lines, w["line"][best][t], strict=False)]
            mine = [u for u, seen in pairs if seen]
            written.append(Line(f"s{t + 1}", OPERATIONS[k], spelt(OPERATIONS[k], mine)))
        return written


def _written(seen: Sequence[Tensor], masks: Sequence[Tensor], which: Tensor) -> Tensor:
    """Return what each expert writes: the sum or product, by its operation, of what it sees to some degree."""
    total, logs, sign = (torch.zeros_like(masks[0] * seen[0]) for _ in range(3))
    for u, m in zip(seen, masks, strict=False):
        total = total + m * u
        logs = logs + m * u.abs().clamp_min(SMALL).log()
        sign = sign + ((u < 0) & (m > 0.5)).to(u.dtype)
    logs = torch.where(which == 2, logs, -logs).clamp(-LARGEST, LARGEST)
    product = (1 - 2 * torch.remainder(sign, 2)) * logs.exp()
    return torch.where(which == 0, total, torch.where(which == 1, -total, product))
