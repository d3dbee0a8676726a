"""A law as a network of units: every sum a NAU, every product of powers a RealNPU, with coefficients beside them.

A function of a law has no weights: it is a step of its own between the units.
"""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor, nn

from nalm.discover.law import Law
from nalm.discover.law.constants import recognised
from nalm.discover.law.expression import Function, Input, Node, Power, Sum
from nalm.discover.law.functions import FUNCTIONS
from nalm.discover.law.tidy import tidied
from nalm.errors import NALMError
from nalm.units import NAU, RealNPU


class SumStep(nn.Module):
    r"""A NAU on scaled columns: :math:`b + \sum_i W_i c_i x_i`, W the sign and c the size of a weight.

    The NAU keeps its weights within [-1, 1]; the coefficients carry what is larger, or not whole.
    """

    def __init__(self, places: Sequence[int], weights: Sequence[float], bias: float):
        super().__init__()
        self.places = tuple(places)
        w = torch.tensor([weights], dtype=torch.float64)
        self.unit = NAU(len(places), 1, generator=torch.Generator(), dtype=torch.float64).assign_(
            {"weight": w.sign()}
        )
        self.coefficient = nn.Parameter(w[0].abs())
        self.bias = nn.Parameter(torch.tensor([bias], dtype=torch.float64))

    def forward(self, x: Tensor) -> Tensor:
        """Compute the sum of its columns (*batch, n)."""
        y: Tensor = self.unit(self.coefficient * x) + self.bias
        return y

    def node(self, columns: Sequence[Node]) -> Node:
        """Return its expression, given those of all columns."""
        weights = self.unit.weights()["weight"][0] * self.coefficient
        return Sum(tuple(columns[i] for i in self.places), _read(weights), _read(self.bias)[0])


class PowerStep(nn.Module):
    r"""A RealNPU with all gates open, times a coefficient: :math:`c \prod_i x_i^{p_i}`.

    It is the unit's exact form, without the paper's epsilon; the gates do not train.
    """

    def __init__(self, places: Sequence[int], exponents: Sequence[float], coefficient: float):
        super().__init__()
        self.places = tuple(places)
        p = torch.tensor([exponents], dtype=torch.float64)
        unit = RealNPU(len(places), 1, generator=torch.Generator(), dtype=torch.float64)
        self.unit = unit.assign_({"weight": p, "gate": torch.ones_like(p[0])}).exact_()
        self.unit.gate.requires_grad_(False)
        self.coefficient = nn.Parameter(torch.tensor([coefficient], dtype=torch.float64))

    def forward(self, x: Tensor) -> Tensor:
        """Compute the product of its columns (*batch, n)."""
        y: Tensor = self.unit(x) * self.coefficient
        return y

    def node(self, columns: Sequence[Node]) -> Node:
        """Return its expression, given those of all columns."""
        factors = tuple(columns[i] for i in self.places)
        return Power(factors, _read(self.unit.weight[0]), _read(self.coefficient)[0])


class FunctionStep(nn.Module):
    """An elementary function of one column, such as sin or log; nothing in it trains."""

    def __init__(self, place: int, name: str):
        super().__init__()
        self.places, self.name = (place,), name
        self.function = getattr(torch, FUNCTIONS[name].torch)

    def forward(self, x: Tensor) -> Tensor:
        """Compute the function of its column (*batch, 1)."""
        y: Tensor = self.function(x)
        return y

    def node(self, columns: Sequence[Node]) -> Node:
        """Return its expression, given those of all columns."""
        return Function(self.name, columns[self.places[0]])

    def extra_repr(self) -> str:
        return self.name


Step = SumStep | PowerStep | FunctionStep


class LawNetwork(nn.Module):
    """The steps of a law, each writing one more column beside the inputs: (*batch, inputs) -> (*batch, 1).

    It trains on like any network (call ``project`` after a step, as for its units) and says at any time
    which law its weights spell.

    >>> from nalm.discover.law.expression import Input, Power
    >>> LawNetwork(Law(Power((Input(0), Input(1)), (1.0, -1.0), 2.5), ("a", "b"))).law().python()
    '2.5*a/b'
    """

    def __init__(self, law: Law, *, dtype: torch.dtype | None = None):
        super().__init__()
        self.names = law.names
        self.steps = nn.ModuleList()
        place = self._add(law.expression)
        if not len(self.steps):  # an input alone
            self._append(SumStep([place], [1.0], 0.0))
        self.to(dtype or torch.get_default_dtype())

    def _add(self, node: Node) -> int:
        """Append the steps of an expression; return the index of its column."""
        match node:
            case Input(index):
                return index
            case Sum(terms, weights, bias):
                places = [self._add(t) for t in terms]
                return self._append(SumStep(places or [0], weights or [0.0], bias))
            case Power(factors, exponents, coefficient) if factors:
                return self._append(PowerStep([self._add(f) for f in factors], exponents, coefficient))
            case Power(_, _, coefficient):
                return self._append(SumStep([0], [0.0], coefficient))
            case Function(name, argument):
                return self._append(FunctionStep(self._add(argument), name))

    def _append(self, step: nn.Module) -> int:
        self.steps.append(step)
        return len(self.names) + len(self.steps) - 1

    def forward(self, x: Tensor) -> Tensor:
        """Evaluate the law on every row of x."""
        if x.shape[-1] != len(self.names):
            raise NALMError(f"The law takes {len(self.names)} inputs, got x of shape {tuple(x.shape)}.")
        columns = list(x.unbind(-1))
        for step in self.steps:
            assert isinstance(step, Step)
            read = torch.stack([columns[i] for i in step.places], -1)
            columns.append(step(read).squeeze(-1))
        return columns[-1].unsqueeze(-1)

    @torch.no_grad()
    def project(self) -> None:
        """Move the units' weights back into their legal sets, after an optimiser's step."""
        for step in self.steps:
            if isinstance(step, SumStep):
                step.unit.project()

    @torch.no_grad()
    def law(self) -> Law:
        """Return the law of the present weights; a number within its rounding of a simple one becomes that one."""
        columns: list[Node] = [Input(i) for i in range(len(self.names))]
        for step in self.steps:
            assert isinstance(step, Step)
            columns.append(step.node(columns))
        return Law(tidied(columns[-1]), self.names)

    def extra_repr(self) -> str:
        return f"y = {self.law()}"


class Outputs(nn.Module):
    """Several laws of the same inputs side by side: (*batch, inputs) -> (*batch, laws)."""

    def __init__(self, networks: Sequence[LawNetwork]):
        super().__init__()
        self.networks = nn.ModuleList(networks)

    def forward(self, x: Tensor) -> Tensor:
        """Evaluate every law on every row of x."""
        return torch.cat([network(x) for network in self.networks], -1)

    def project(self) -> None:
        """Move the units' weights back into their legal sets, after an optimiser's step."""
        for network in self.networks:
            assert isinstance(network, LawNetwork)
            network.project()


def _read(values: Tensor) -> tuple[float, ...]:
    """Read numbers; one that is the float32 nearest to 3.7 becomes 3.7."""
    u = 2.0**-53 if values.dtype == torch.float64 else 2.0**-24
    found = []
    for v in values.detach().cpu().double().tolist():
        near = recognised(v, u * abs(v)) if v else 0.0
        short = v if u < 2.0**-24 else float(str(np.float32(v)))
        found.append(short if near is None else near)
    return tuple(found)
