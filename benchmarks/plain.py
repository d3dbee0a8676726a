"""Plain networks beside those of units: a graph network of perceptrons, and a recurrent network that reads symbols."""

import torch
from torch import Generator, Tensor

from nalm.tasks.lists import edge_lengths
from nalm.units.base import Trainable
from nalm.units.baselines import MLP
from nalm.units.start import Constant, Start, Uniform


class PlainRoutes(torch.nn.Module):
    """Messages of a perceptron, of which a node takes the smallest, and a perceptron that reads the last node."""

    def __init__(self, generator: Generator, width: int = 8):
        super().__init__()
        self.message = MLP(2, 1, hidden=(width,), generator=generator)
        self.output = MLP(1, 1, hidden=(width,), generator=generator)

    def forward(self, x: Tensor) -> Tensor:
        """Compute the result for the lengths of all edges, row by row."""
        edges = edge_lengths(x)
        state = torch.zeros_like(edges[..., 0])
        for _ in range(edges.shape[-1] - 1):
            seen = torch.stack([state.unsqueeze(-1).expand_as(edges), edges], -1)
            state = self.message(seen).squeeze(-1).amin(-2)
        y: Tensor = self.output(state[..., -1:])
        return y


class PlainReader(Trainable):
    """A gated recurrent unit (Cho et al. 2014) that sees symbols one by one, and a linear layer that says asinh(y)."""

    inputs: Tensor
    hidden: Tensor
    bias: Tensor
    last: Tensor
    offset: Tensor

    def __init__(self, symbols: int, generator: Generator, width: int = 6):
        self.width = width
        super().__init__(symbols, 1, generator=generator)

    def start(self) -> dict[str, Start]:
        r = self.width**-0.5
        return {
            "inputs": Uniform((3 * self.width, self.in_features), -r, r),
            "hidden": Uniform((3 * self.width, self.width), -r, r),
            "bias": Constant((3 * self.width,), 0.0),
            "last": Uniform((1, self.width), -r, r),
            "offset": Constant((1,), 0.0),
        }

    def flat(self, x: Tensor) -> Tensor:
        """Return sequences as they are: they may have any length."""
        return x

    def unflat(self, y: Tensor, x: Tensor) -> Tensor:
        """Return the result as it is."""
        return y

    def compute(self, x: Tensor) -> Tensor:
        state = x.new_zeros(*x.shape[:-1], self.width)
        hidden = self.hidden.split(self.width, -2)
        for symbol in x.unbind(-1):
            which = torch.nn.functional.one_hot(symbol.long(), self.in_features).to(x.dtype)
            seen = (which @ self.inputs.mT + self.bias.unsqueeze(-2)).split(self.width, -1)
            reset, update = (torch.sigmoid(seen[i] + state @ hidden[i].mT) for i in (0, 1))
            fresh = torch.tanh(seen[2] + reset * (state @ hidden[2].mT))
            state = update * state + (1 - update) * fresh
        return (state @ self.last.mT + self.offset.unsqueeze(-2)).sinh()
