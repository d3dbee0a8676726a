"""Neural Sum-or-Product Unit: a unit of our own, for all four operations with one recipe."""

from collections.abc import Mapping
from typing import Any, Self

import torch
from torch import Tensor

from nalm import functional as F
from nalm.units import spelling
from nalm.units.base import Formulas, Gold, Spelled, Symbols, Weights
from nalm.units.epsilon import EpsUnit
from nalm.units.gold import GOLD_SUM
from nalm.units.inac import IMNAC
from nalm.units.start import Constant, Start, Uniform

MARGIN = 0.1  # of the raw gate, which training keeps between this and 1 less this
BEYOND = (
    1 + 1e-5
)  # size of the gate's range over that of [0, 1], so that rounding does not keep it off an end
FAR = 1e35  # larger products count as this where they are mixed
LARGEST = 80.0  # logarithm of a product, whose exponential is finite in float32
SET = (-1.0, 2.0)  # raw gates that were set to 0 and 1, where no step of training ends


def _gold() -> Gold:
    """Return the gold weights of either path, with the gate set to that path."""
    sums: dict[str, dict[str, Any]] = {
        n: {"terms": w["weight"], "power": (0.0,), "gate": 1.0} for n, w in GOLD_SUM.items()
    }
    products: dict[str, dict[str, Any]] = {
        n: {"terms": (0.0,), "power": w["weight"], "gate": 0.0} for n, w in IMNAC.gold.items()
    }
    return products | sums


class NSPU(EpsUnit):
    r"""Adds and subtracts, or multiplies and divides, the inputs it selects; both are learnt side by side.

    .. math:: y_o = g_o s_o + (1 - g_o) p_o, \qquad s_o = \sum_i A_{oi} x_i, \qquad
        p_o = m_o \cos\Bigl(\pi \sum_i P_{oi} [x_i < 0]\Bigr), \quad
        m_o = \prod_i |x_i|^{P_{oi}}

    with A and P in [-1, 1] and a gate g in [0, 1]: 1 adds, 0 multiplies. In training the rows of a batch take turns
    (:func:`nalm.functional.turn`): a row shows s alone, m alone, or the mixture, through which only the gate is
    trained. So each path is judged by its own error, and the gate compares two paths that are both trained. The loss
    ``paths`` judges each kind of row by the error that is convex in its weights: of s without the mean, of m in
    logarithms, of the mixture on a scale that neither outliers nor units of measurement disturb. A gate that was
    set to exactly 0 or 1, by ``assign_`` or ``snap_``, stays there and ends the turns. Training keeps the gate off
    these ends, and puts weights that are within 0.001 of -1, 0 or 1 there. No penalty and no schedule of one is
    needed. Train it with ``nalm.losses.paths(prediction, target)`` and batches of six rows or more: other losses do
    not know which part a row shows. Both count the rows along the last axis of a batch. In our studies layers
    before it do not learn. Not published before.

    >>> NSPU.solved("divide").formulas(), NSPU.solved("subtract").formulas()
    ([a/b], [a - b])
    """

    grids = {"terms": (-1.0, 0.0, 1.0), "power": (-1.0, 0.0, 1.0), "gate": (0.0, 1.0)}
    gold = _gold()
    paper_eps = 1e-30
    terms: Tensor
    power: Tensor
    gate_raw: Tensor

    def start(self) -> dict[str, Start]:
        r = min(0.5, F.glorot(self.in_features, self.out_features))
        weight = Uniform((self.out_features, self.in_features), -r, r)
        return {"terms": weight, "power": weight, "gate_raw": Constant((self.out_features,), 0.5)}

    def gate(self) -> Tensor:
        """Return the gate, which is exactly 0 or 1 where training stops its raw value, and has a slope there too."""
        raw = torch.where(self.is_set(), self.gate_raw.detach(), self.gate_raw)
        free = 0.5 + (raw - 0.5) * (BEYOND / (1 - 2 * MARGIN))
        return free + (free.clamp(0, 1) - free).detach()

    def is_set(self) -> Tensor:
        """Return which gates were set to exactly 0 or 1; they have no slope."""
        return (self.gate_raw == SET[0]) | (self.gate_raw == SET[1])

    def weights(self) -> Weights:
        return {"terms": self.terms, "power": self.power, "gate": self.gate()}

    def counts(self) -> Weights:
        gate = self.gate().unsqueeze(-1)
        return {"terms": gate != 0, "power": gate != 1}

    @torch.no_grad()
    def assign_(self, weights: Mapping[str, Tensor]) -> Self:
        rest = dict(weights)
        if "gate" in rest:
            gate = rest.pop("gate")
            inside = 0.5 + (gate - 0.5) * ((1 - 2 * MARGIN) / BEYOND)
            rest["gate_raw"] = torch.where(gate <= 0, SET[0], torch.where(gate >= 1, SET[1], inside))
        return super().assign_(rest)

    def forward(self, x: Tensor) -> Tensor:
        """Apply the unit; in training rows take turns along the last axis of the batch."""
        rows = x.shape[-2] if isinstance(x, Tensor) and x.ndim > len(self.runs) + 1 else 1
        return self.unflat(self._shown(self.flat(x), rows), x)

    def compute(self, x: Tensor) -> Tensor:
        return self._shown(x, x.shape[-2])

    def _shown(self, x: Tensor, rows: int) -> Tensor:
        """Compute what rows (*runs, batch, in) show whose turns begin anew after that many."""
        gate = self.gate()
        over = self.is_set() if self.training else torch.ones_like(gate, dtype=torch.bool)
        # Weights of a path that is left out for good count as 0: its infinities reach neither output nor gradients.
        terms = torch.where((over & (gate == 0)).unsqueeze(-1), 0.0, self.terms)
        power = torch.where((over & (gate == 1)).unsqueeze(-1), 0.0, self.power)
        gate = gate.unsqueeze(-2)
        s, m = F.linear(x, terms), self.magnitude(x, power)
        p = m * F.linear(x, power, of=F.angle).cos()
        if not self.training:
            return mixture(gate, s, p)
        turn = F.turn(x.shape[-2], x.device, rows).unsqueeze(-1)  # (batch, 1)
        mixed = gate * s.detach() + (1 - gate) * p.detach().clamp(-FAR, FAR)
        taught = torch.where(turn == 0, s, torch.where(turn == 1, m, mixed))
        return torch.where(over.unsqueeze(-2), mixture(gate, s, p), taught)

    def magnitude(self, x: Tensor, power: Tensor) -> Tensor:
        """Compute the product of powers: by logarithms in training, exactly in evaluation or if epsilon is 0."""
        if self.eps == 0 or not self.training:
            return F.power_product(x, power, of=torch.abs)
        logs = F.linear(x, power, of=lambda v: self.size(v).log())
        return logs.clamp(-LARGEST, LARGEST).exp()

    @torch.no_grad()
    def project(self) -> None:
        for weight in (self.terms, self.power):
            weight.copy_(F.near_ternary(weight))
        trained = self.gate_raw.clamp(MARGIN, 1 - MARGIN)
        self.gate_raw.copy_(torch.where(self.is_set(), self.gate_raw, trained))

    def penalties(self, x: Tensor | None = None) -> Weights:
        chosen = self.gate().unsqueeze(-1)
        return {"weight": F.mean_matrix(_off(self.terms, chosen) + _off(self.power, 1 - chosen))}

    def sparsity_error(self) -> Tensor:
        chosen = self.gate().unsqueeze(-1)
        return (_off(self.terms, chosen) + _off(self.power, 1 - chosen)).amax((-2, -1))

    def expressions(self, x: Symbols, w: Spelled) -> Formulas:
        rows = zip(w["gate"], w["terms"], w["power"], strict=True)
        return [spelling.dot(terms, x) if gate else spelling.powers(power, x) for gate, terms, power in rows]


def mixture(gate: Tensor, s: Tensor, p: Tensor) -> Tensor:
    """Mix two paths; a path that is left out may be infinite or not a number."""
    return gate * torch.where(gate == 0, 0.0, s) + (1 - gate) * torch.where(gate == 1, 0.0, p)


def _off(weight: Tensor, share: Tensor) -> Tensor:
    """Return the distance of each weight to {-1, 0, 1}, times the share of its path."""
    return share * F.to_ternary(weight)
