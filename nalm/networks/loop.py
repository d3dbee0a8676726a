"""A unit in a loop along a sequence: it sees each element and its own last output (Madsen & Johansen 2020)."""

from dataclasses import dataclass

import torch
from torch import Tensor

from nalm.networks.cells import LSTM
from nalm.units.base import Trainable
from nalm.units.snmu import SNMU


@dataclass  # not frozen: older compilers (torch 2.11) cannot trace how a frozen one is made
class Loop:
    r"""A unit along a sequence: :math:`h_t = \mathrm{unit}([x_t, h_{t-1}])`; all numbers of :math:`h_0` are ``first``.

    >>> from nalm.units import NMU
    >>> y, _ = Loop(NMU.solved("multiply"), first=1.0)(torch.tensor([[[3.0], [5.0], [2.0]]]))
    >>> y.flatten().tolist()
    [3.0, 15.0, 30.0]
    """

    unit: Trainable
    first: float = 0.0

    @property
    def outputs(self) -> int:
        """How many numbers of a state are the result: all, of an LSTM the first half."""
        return self.unit.out_features // (2 if isinstance(self.unit, LSTM) else 1)

    def begin(self, x: Tensor) -> Tensor:
        """Return the state before the first element x (..., in)."""
        return x.new_full((*x.shape[:-1], self.unit.out_features), self.first)

    def step(self, x: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
        """Return the next state and the unit's input, which for the stochastic NMU includes its noise."""
        seen = torch.cat([x, state], -1)
        if isinstance(self.unit, SNMU) and self.unit.training:
            noise = self.unit.draw(seen)
            return self.unit(seen, noise=noise), seen * noise
        return self.unit(seen), seen

    def output(self, state: Tensor) -> Tensor:
        """Return the part of a state that is the result."""
        return state[..., : self.outputs]

    def __call__(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Return the results after every element of x (*runs, batch, time, in), and all inputs of the unit.

        The inputs are for the penalty on inputs, whose mean is over batch and time, including the first state.
        """
        state = self.begin(x[..., 0, :])
        results, seen = [], []
        for element in x.unbind(-2):
            state, saw = self.step(element, state)
            results.append(self.output(state))
            seen.append(saw)
        return torch.stack(results, -2), torch.cat(seen, -2)
