"""Status registers in a loop, for lists of any length (Faber & Wattenhofer 2020; Mistry 2023, appendix D.3.2).

The published text names the tasks (minimum of a list, counting, Bellman-Ford) but gives no equations of the cells;
these are the simplest ones that can represent them.
"""

import abc
from typing import Any

import sympy
import torch
from torch import Generator, Tensor

from nalm.errors import NALMError
from nalm.networks.composite import Build, Composite
from nalm.tasks.lists import edge_lengths
from nalm.units import NAU, NSR, NSRNAU, Unit
from nalm.units.base import Formulas, Spelled, Symbols


class ListLoop(Composite):
    """Units that are used again and again along a list, which gives one number; its formula is that of one step.

    ``in_features`` is the length of the lists in training; the network accepts any length of two or more.
    """

    def __init__(
        self,
        in_features: int,
        out_features: int,
        *,
        generator: Generator | None = None,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ):
        if out_features != 1:
            raise NALMError(
                f"{type(self).__name__} computes one number of a list, got out_features={out_features}: use 1."
            )
        super().__init__(in_features, out_features, generator=generator, device=device, dtype=dtype)

    def flat(self, x: Tensor) -> Tensor:
        """Check lists of two or more elements and reshape them to (*runs, batch, length)."""
        n = len(self.runs)
        if not x.is_floating_point() or x.ndim <= n or x.shape[:n] != self.runs or x.shape[-1] < 2:
            expected = ", ".join([*map(str, self.runs), "...", "2 or more"])
            raise NALMError(f"{self.label} expects real lists of shape ({expected}), got {tuple(x.shape)}.")
        x = x.to(torch.promote_types(x.dtype, torch.float32))
        return x.unsqueeze(-2) if x.ndim == n + 1 else x.flatten(n, -2)


class RegisterLoop(ListLoop):
    """Units applied to the elements of a list one after another."""

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
        self.redundancy, self.scale = redundancy, scale
        super().__init__(in_features, out_features, generator=generator, device=device, dtype=dtype)

    @abc.abstractmethod
    def step(self, x: list[Any], w: dict[str, Spelled]) -> Any:
        """Return what a step computes, in symbols."""

    def expressions(self, x: Symbols, w: Spelled) -> Formulas:
        """Return the formula of a step: x is the element, h the state, q and d what else the step sees."""
        return [self.step(list(sympy.symbols("x q d h")), {n: self.of(n, w) for n in self.parts_by_name()})]


class Smallest(RegisterLoop):
    r"""Keeps one of the element and the state: :math:`h_t = \mathrm{NSRNAU}(x_t, h_{t-1})`, :math:`h_1 = x_1`.

    >>> unit = Smallest(2, 1)
    >>> unit.cell = NSRNAU.solved("minimum")
    >>> unit(torch.tensor([[5.0, 2.0, 9.0, -7.0, 3.0]])).detach(), unit.formulas()
    (tensor([[-7.]]), [Piecewise((h, h < x), (x, True))])
    """

    cell: NSRNAU

    def units_inside(self, build: Build) -> dict[str, Unit]:
        return {"cell": build(NSRNAU, 2, 1, redundancy=self.redundancy, scale=self.scale)}

    def compute(self, x: Tensor) -> Tensor:
        state = x[..., :1]
        for element in x.split(1, -1)[1:]:
            state = self.cell(torch.cat([element, state], -1))
        return state

    def step(self, x: list[Any], w: dict[str, Spelled]) -> Any:
        element, _, _, state = x
        return self.cell.expressions([element, state], w["cell"])[0]


class Counter(RegisterLoop):
    r"""Adds up a comparison with the first element q: :math:`h_t = \mathrm{NAU}(\mathrm{NSR}(x_t, q), h_{t-1})`."""

    register: NSR
    sum: NAU

    def units_inside(self, build: Build) -> dict[str, Unit]:
        register = build(NSR, 2, 1, redundancy=self.redundancy, scale=self.scale)
        return {"register": register, "sum": build(NAU, 2, 1)}

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


class Paths(RegisterLoop):
    r"""Computes the distance from the first node to the last, edge by edge as Bellman and Ford do.

    .. math:: h_v \leftarrow \mathrm{NSRNAU}(d_u + x_{uv}, h_v) \text{ for all } u, \qquad d_v = h_v

    for as many rounds as there are nodes, less two. The inputs are the lengths x of all edges, row by row. The sums are
    given; the network learns how to aggregate them.
    """

    cell: NSRNAU

    def units_inside(self, build: Build) -> dict[str, Unit]:
        return {"cell": build(NSRNAU, 2, 1, redundancy=self.redundancy, scale=self.scale)}

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
