"""A unit in a loop: it sees each element of a sequence beside its own last output (Madsen & Johansen 2020)."""

from dataclasses import dataclass

import torch
from torch import Tensor

from nalm.networks.cells import LSTM
from nalm.units.base import Trainable
from nalm.units.snmu import SNMU


@dataclass  # not frozen: older compilers (torch 2.11) cannot trace how a frozen one is made
class Loop:
    r"""A unit along a sequence: :math:`h_t = \mathrm{unit}([x_t, h_{t-1}])`, and :math:`h_0` is one number everywhere.

    >>> from nalm.units import NMU
    >>> y, _ = Loop(NMU.solved("multiply"), first=1.0)(torch.tensor([[[3.0], [5.0], [2.0]]]))
    >>> y.flatten().tolist()
    [3.0, 15.0, 30.0]
    """

    unit: Trainable
    first: float = 0.0

    @property
    def outputs(self) -> int:
        """Numbers of a state that are read as the result: all, except of an LSTM the first half."""
        return self.unit.out_features // (2 if isinstance(self.unit, LSTM) else 1)

    def begin(self, x: Tensor) -> Tensor:
        """The state before the first element x (..., in)."""
        return x.new_full((*x.shape[:-1], self.unit.out_features), self.first)

    def step(self, x: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
        """The next state, and what the unit saw: for the stochastic NMU its inputs with their noise."""
        seen = torch.cat([x, state], -1)
        if isinstance(self.unit, SNMU) and self.unit.training:
            noise = self.unit.draw(seen)
            return self.unit(seen, noise=noise), seen * noise
        return self.unit(seen), seen

    def output(self, state: Tensor) -> Tensor:
        """The part of a state that is read as the result."""
        return state[..., : self.outputs]

    def __call__(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Results after every element of x (*runs, batch, time, in), and all that the unit saw, a batch after another.

        What it saw is for the penalty on inputs, whose mean is over batch and time, the first state included.
        """
        state = self.begin(x[..., 0, :])
        results, seen = [], []
        for element in x.unbind(-2):
            state, saw = self.step(element, state)
            results.append(self.output(state))
            seen.append(saw)
        return torch.stack(results, -2), torch.cat(seen, -2)
