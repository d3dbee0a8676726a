"""Status registers in a loop (Faber & Wattenhofer 2020, arXiv:2004.07085; thesis D.3.2): lists of any length.

The published text names the tasks (minimum of a list, counting, Bellman-Ford) and no equations of the cells; these are
the plainest ones that can represent them.
"""

import abc
from collections.abc import Mapping
from typing import Any, Self

import sympy
import torch
from torch import Generator, Tensor

from nalm.errors import NALMError
from nalm.tasks.lists import edge_lengths
from nalm.units import NAU, NSR, NSRNAU, Unit
from nalm.units.base import Formulas, Spelled, Symbols, Weights
from nalm.units.start import Start


class Recurrent(Unit):
    """Units applied over and over along a list; its formula is that of one step.

    ``in_features`` is the length of the lists it is trained on; any other length of two or more works as well.
    """

    gold = {}
    options = ("redundancy", "scale")

    def __init__(
        self,
        in_features: int,
        out_features: int,
        *,
        redundancy: int = 1,
        scale: float = 1.0,
        generator: Generator | None = None,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ):
        if out_features != 1:
            raise NALMError(
                f"{type(self).__name__} says one number of a list, got out_features={out_features}."
            )
        super().__init__(in_features, out_features, generator=generator, device=device, dtype=dtype)
        self.redundancy, self.scale = redundancy, scale
        common = {"generator": generator, "device": device, "dtype": dtype}
        for name, part in self.units(redundancy, scale, common).items():
            setattr(self, name, part)

    @abc.abstractmethod
    def units(self, redundancy: int, scale: float, common: dict[str, Any]) -> dict[str, Unit]:
        """The units of a step by name."""

    @abc.abstractmethod
    def step(self, x: list[Any], w: dict[str, Spelled]) -> Any:
        """What a step computes, in symbols."""

    def parts(self) -> dict[str, Unit]:
        """The units of a step by name."""
        return {name: part for name, part in self.named_children() if isinstance(part, Unit)}

    def start(self) -> dict[str, Start]:
        return {}  # the parts have their own

    @property
    def runs(self) -> torch.Size:
        return next((part.runs for part in self.parts().values()), torch.Size())

    @torch.no_grad()
    def reset_parameters(self, generator: Generator | None = None) -> None:
        for part in self.parts().values():
            part.reset_parameters(generator)

    def flat(self, x: Tensor) -> Tensor:
        """Lists of any length of two or more, as (*runs, batch, length)."""
        n = len(self.runs)
        if not x.is_floating_point() or x.ndim <= n or x.shape[:n] != self.runs or x.shape[-1] < 2:
            expected = ", ".join([*map(str, self.runs), "...", "2 or more"])
            raise NALMError(f"{self.label} expects real lists of shape ({expected}), got {tuple(x.shape)}.")
        x = x.to(torch.promote_types(x.dtype, torch.float32))
        return x.unsqueeze(-2) if x.ndim == n + 1 else x.flatten(n, -2)

    def weights(self) -> Weights:
        return {f"{n}.{k}": w for n, part in self.parts().items() for k, w in part.weights().items()}

    @torch.no_grad()
    def rounded(self) -> Weights:
        return {f"{n}.{k}": w for n, part in self.parts().items() for k, w in part.rounded().items()}

    @torch.no_grad()
    def assign_(self, weights: Mapping[str, Tensor]) -> Self:
        for name, part in self.parts().items():
            part.assign_(
                {k.removeprefix(f"{name}."): w for k, w in weights.items() if k.startswith(f"{name}.")}
            )
        return self

    def exact_(self) -> Self:
        for part in self.parts().values():
            part.exact_()
        return self

    def penalties(self, x: Tensor | None = None) -> Weights:
        found = [part.penalties() for part in self.parts().values()]
        names = {name for terms in found for name in terms}
        return {name: torch.stack([t[name] for t in found if name in t]).sum(0) for name in sorted(names)}

    def project(self) -> None:
        for part in self.parts().values():
            part.project()

    def sparsity_error(self) -> Tensor:
        return torch.stack([part.sparsity_error() for part in self.parts().values()]).amax(0)

    def expressions(self, x: Symbols, w: Spelled) -> Formulas:
        """The step, for x (an element), the state h so far, and what else the step sees."""
        own = {
            name: {k.removeprefix(f"{name}."): v for k, v in w.items() if k.startswith(f"{name}.")}
            for name in self.parts()
        }
        return [self.step(list(sympy.symbols("x q d h")), own)]


class Smallest(Recurrent):
    r"""Keeps one of the element and the state: :math:`h_t = \mathrm{NSRNAU}(x_t, h_{t-1})`, :math:`h_1 = x_1`.

    >>> unit = Smallest.from_cell(NSRNAU.solved("minimum"))
    >>> unit(torch.tensor([[5.0, 2.0, 9.0, -7.0, 3.0]])).detach(), unit.formulas()
    (tensor([[-7.]]), [Piecewise((h, h < x), (x, True))])
    """

    cell: NSRNAU

    @classmethod
    def from_cell(cls, cell: NSRNAU) -> Self:
        """The loop around a given cell."""
        made = cls(2, 1, redundancy=cell.redundancy)
        made.cell = cell
        return made

    def units(self, redundancy: int, scale: float, common: dict[str, Any]) -> dict[str, Unit]:
        return {"cell": NSRNAU(2, 1, redundancy=redundancy, scale=scale, **common)}

    def compute(self, x: Tensor) -> Tensor:
        state = x[..., :1]
        for element in x.split(1, -1)[1:]:
            state = self.cell(torch.cat([element, state], -1))
        return state

    def step(self, x: list[Any], w: dict[str, Spelled]) -> Any:
        element, _, _, state = x
        return self.cell.expressions([element, state], w["cell"])[0]


class Counter(Recurrent):
    r"""Adds up a comparison with the first element q: :math:`h_t = \mathrm{NAU}(\mathrm{NSR}(x_t, q), h_{t-1})`."""

    register: NSR
    sum: NAU

    def units(self, redundancy: int, scale: float, common: dict[str, Any]) -> dict[str, Unit]:
        return {
            "register": NSR(2, 1, redundancy=redundancy, scale=scale, **common),
            "sum": NAU(2, 1, **common),
        }

    def compute(self, x: Tensor) -> Tensor:
        sought, *elements = x.split(1, -1)
        state = torch.zeros_like(sought)
        for element in elements:
            found = self.register(torch.cat([element, sought], -1))
            state = self.sum(torch.cat([found, state], -1))
        return state

    def step(self, x: list[Any], w: dict[str, Spelled]) -> Any:
        element, sought, _, state = x
        found = self.register.expressions([element, sought], w["register"])[0]
        return self.sum.expressions([found, state], w["sum"])[0]


class Paths(Recurrent):
    r"""Distances from the first node, relaxed edge by edge as Bellman and Ford do; says how far the last node is.

    .. math:: h_v \leftarrow \mathrm{NSRNAU}(d_u + x_{uv}, h_v) \text{ for all } u, \qquad d_v = h_v

    for as many rounds as there are nodes, less two. The inputs are the lengths x of all edges, row by row. The sums are
    given; how to aggregate them is learnt.
    """

    cell: NSRNAU

    def units(self, redundancy: int, scale: float, common: dict[str, Any]) -> dict[str, Unit]:
        return {"cell": NSRNAU(2, 1, redundancy=redundancy, scale=scale, **common)}

    def compute(self, x: Tensor) -> Tensor:
        edges = edge_lengths(x)  # (*runs, batch, from, to)
        distance = edges[..., 0, :]
        for _ in range(edges.shape[-1] - 2):
            state = distance
            for node, row in enumerate(edges.unbind(-2)):
                way = distance[..., node : node + 1] + row
                state = self.cell(torch.stack([way, state], -1)).squeeze(-1)
            distance = state
        return distance[..., -1:]

    def step(self, x: list[Any], w: dict[str, Spelled]) -> Any:
        element, _, distance, state = x
        return self.cell.expressions([distance + element, state], w["cell"])[0]
