"""A unit in a loop: it sees each element of a sequence beside its own last output (Madsen & Johansen 2020)."""

import torch
from torch import Tensor, nn

from nalm.errors import NALMError
from nalm.units.base import Trainable
from nalm.units.snmu import SNMU
from nalm.units.start import Start, Uniform


class Accumulator(Trainable):
    r"""What the loop is to learn, given: :math:`y = x \cdot h` or :math:`y = x + h`, element by element.

    >>> Accumulator(2, 1, operation="multiply")(torch.tensor([3.0, 5.0]))
    tensor([15.])
    """

    options = ("operation",)

    def __init__(
        self,
        in_features: int,
        out_features: int,
        *,
        operation: str = "multiply",
        generator: torch.Generator | None = None,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ):
        if in_features != 2 * out_features or operation not in ("add", "multiply"):
            raise NALMError(
                f"An accumulator adds or multiplies two halves, got {operation!r} of {in_features} inputs to "
                f"{out_features}: use in_features={2 * out_features} and 'add' or 'multiply'."
            )
        self.operation = operation
        super().__init__(in_features, out_features, generator=generator, device=device, dtype=dtype)

    def start(self) -> dict[str, Start]:
        return {}

    def compute(self, x: Tensor) -> Tensor:
        element, state = x.chunk(2, -1)
        return element * state if self.operation == "multiply" else element + state

    def sparsity_error(self) -> Tensor:
        return torch.zeros(self.runs)


class LSTM(Trainable):
    r"""A long short-term memory whose state (h, c) is handed in behind the element and handed out again.

    .. math:: c' = \sigma(f) c + \sigma(i) \tanh(g), \qquad h' = \sigma(o) \tanh(c')

    with i, f, g, o affine in x and h; starts as ``torch.nn.LSTMCell``. Its h lies between -1 and 1, which is all it can
    say: the published comparison reads the result from it all the same.
    """

    def start(self) -> dict[str, Start]:
        hidden, rest = divmod(self.out_features, 2)
        inputs = self.in_features - self.out_features
        if rest or inputs < 1:
            raise NALMError(f"{self.label} needs an even number of outputs, and more inputs than outputs.")
        r = hidden**-0.5
        return {
            "from_input": Uniform((4 * hidden, inputs), -r, r),
            "from_state": Uniform((4 * hidden, hidden), -r, r),
            "input_bias": Uniform((4 * hidden,), -r, r),
            "state_bias": Uniform((4 * hidden,), -r, r),
        }

    def compute(self, x: Tensor) -> Tensor:
        hidden = self.out_features // 2
        element, h, c = x.split([self.in_features - self.out_features, hidden, hidden], -1)
        w = self.weights()
        gates = element @ w["from_input"].mT + h @ w["from_state"].mT
        gates = gates + (w["input_bias"] + w["state_bias"]).unsqueeze(-2)
        i, f, g, o = gates.chunk(4, -1)
        c = f.sigmoid() * c + i.sigmoid() * g.tanh()
        return torch.cat([o.sigmoid() * c.tanh(), c], -1)

    def sparsity_error(self) -> Tensor:
        return self.get_parameter("from_input").new_zeros(self.runs)  # its numbers are meant to be any


CELLS: dict[str, type[Trainable]] = {cell.__name__: cell for cell in (Accumulator, LSTM)}


class Loop(nn.Module):
    r"""A unit along a sequence: :math:`h_t = \mathrm{unit}([x_t, h_{t-1}])`, with :math:`h_0` the same number everywhere.

    >>> from nalm.units import NMU
    >>> loop = Loop(NMU.solved("multiply"), first=1.0)
    >>> y, _ = loop(torch.tensor([[[3.0], [5.0], [2.0]]]))
    >>> y.flatten().tolist()
    [3.0, 15.0, 30.0]
    """

    def __init__(self, unit: Trainable, *, first: float = 0.0):
        super().__init__()
        self.unit, self.first = unit, first
        self.outputs = unit.out_features // (2 if isinstance(unit, LSTM) else 1)

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

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Results after every element of x (*runs, batch, time, in), and all that the unit saw, (*runs, batch * time, ...).

        What it saw is for the penalty on inputs, whose mean is over batch and time, the first state included.
        """
        state = self.begin(x[..., 0, :])
        results, seen = [], []
        for element in x.unbind(-2):
            state, saw = self.step(element, state)
            results.append(self.output(state))
            seen.append(saw)
        return torch.stack(results, -2), torch.cat(seen, -2)
