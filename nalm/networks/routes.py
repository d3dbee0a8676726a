"""A graph network of units: a NAU computes the messages along edges, a learnt choice of min, max and sum joins them."""

from collections.abc import Mapping
from typing import Any, Self

import sympy
import torch
from torch import Tensor

from nalm.networks.composite import Build
from nalm.networks.registers import ListLoop
from nalm.networks.selection import one_hot
from nalm.tasks.lists import edge_lengths
from nalm.units import NAU, Unit
from nalm.units.base import Formulas, Spelled, Symbols, Weights
from nalm.units.start import Normal, Start, Uniform

JOINS = ("min", "max", "sum")


class EdgeMessage(NAU):
    """A NAU whose weights start between 1/4 and 3/4: a message begins as a sum.

    With the start of the NAU, half of which is negative, half of the seeds ended in min(x - h).
    """

    def start(self) -> dict[str, Start]:
        return {"weight": Uniform((self.out_features, self.in_features), 0.25, 0.75)}


class Routes(ListLoop):
    r"""Computes a number for the last node of a graph from the lengths of its edges, in rounds of messages.

    .. math:: h_v \leftarrow \sum_k p_k \, \mathrm{join}_k \{ \mathrm{NAU}(h_u, x_{uv}) : u \}, \qquad
        p = \mathrm{softmax}(\hat p), \quad \mathrm{join} = (\min, \max, \Sigma)

    The inputs are the lengths x of all edges of a graph of n nodes, row by row; the first node begins with 0, and there
    are as many rounds as nodes, less one. With the NAU's weights at 1 and all of p on min these are shortest paths, as
    Bellman and Ford compute them, for graphs of any size. A round is learnt once and used in all of them. The penalty
    ``gate`` pulls p to one of the joins, ``weight`` is the NAU's.

    >>> network = Routes(9, 1).assign_({"message.weight": torch.ones(1, 2), "choice": torch.tensor([1.0, 0.0, 0.0])})
    >>> network(torch.tensor([[0.0, 2.0, 9.0, 2.0, 0.0, 3.0, 9.0, 3.0, 0.0]])).detach(), network.formulas()
    (tensor([[5.]]), [min(h + x)])
    """

    own_grids = {"choice": (0.0, 1.0)}
    message: EdgeMessage
    choice_hat: Tensor

    def units_inside(self, build: Build) -> dict[str, Unit]:
        return {"message": build(EdgeMessage, 2, 1)}

    def start(self) -> dict[str, Start]:
        return {"choice_hat": Normal((len(JOINS),), 0.0, 0.1)}

    def own(self) -> Weights:
        return {"choice": self.choice_hat.softmax(-1)}

    @torch.no_grad()
    def assign_(self, weights: Mapping[str, Tensor]) -> Self:
        if "choice" in weights:
            self.choice_hat.copy_(weights["choice"].clamp_min(1e-30).log())
        return super().assign_(weights)

    @torch.no_grad()
    def rounded(self) -> Weights:
        return super().rounded() | {"choice": one_hot(self.choice_hat)}

    def penalties(self, x: Tensor | None = None) -> Weights:
        return super().penalties(x) | {"gate": 1 - self.own()["choice"].amax(-1)}

    def sparsity_error(self) -> Tensor:
        return torch.maximum(super().sparsity_error(), 1 - self.own()["choice"].amax(-1))

    def compute(self, x: Tensor) -> Tensor:
        edges = edge_lengths(x)  # (*runs, batch, from, to)
        state = self.messages(torch.zeros_like(edges[..., 0]), edges)[..., 0, :]
        for _ in range(edges.shape[-1] - 2):
            state = self.joined(self.messages(state, edges))
        return state[..., -1:]

    def messages(self, state: Tensor, edges: Tensor) -> Tensor:
        """Compute what each node sends along each edge, (*runs, batch, from, to)."""
        seen = torch.stack([state.unsqueeze(-1).expand_as(edges), edges], -1)
        sent: Tensor = self.message(seen).squeeze(-1)
        return sent

    def joined(self, messages: Tensor) -> Tensor:
        """Join the messages that arrive at each node, (*runs, batch, to)."""
        found = messages.amin(-2), messages.amax(-2), messages.sum(-2)
        shares = self.own()["choice"].unbind(-1)
        terms = [p[..., None, None] * join for p, join in zip(shares, found, strict=True)]
        return terms[0] + terms[1] + terms[2]

    def expressions(self, x: Symbols, w: Spelled) -> Formulas:
        """Return the formula of a round: h is the number of the sending node, x the length of its edge."""
        (sent,) = self.message.expressions(list(sympy.symbols("h x")), self.of("message", w))
        join: Any = sympy.Function(JOINS[w["choice"].index(1)])
        return [join(sent)]
