"""Cells that units in a loop are compared with: the arithmetic itself, and a long short-term memory.

They are not in BASELINES: their inputs are an element and a state, so they can only be used in a loop.
"""

import torch
from torch import Tensor

from nalm.errors import NALMError
from nalm.units.base import Trainable
from nalm.units.start import Start, Uniform


class Accumulator(Trainable):
    r"""The operation that a loop should learn, without parameters: :math:`y = x \cdot h` or :math:`y = x + h`.

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
    r"""A long short-term memory (Hochreiter & Schmidhuber 1997): input (element, h, c), output (h, c).

    .. math:: c' = \sigma(f) c + \sigma(i) \tanh(g), \qquad h' = \sigma(o) \tanh(c')

    with i, f, g, o affine in x and h; starts as ``torch.nn.LSTMCell``. Its h lies between -1 and 1;
    the published comparison uses h as the result although most targets lie outside.
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
        return self.get_parameter("from_input").new_zeros(self.runs)  # its weights have no grid


CELLS: dict[str, type[Trainable]] = {cell.__name__: cell for cell in (Accumulator, LSTM)}
