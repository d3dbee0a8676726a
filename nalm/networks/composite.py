"""A unit made of units: parameters, weights and penalties are those of its parts."""

import abc
from collections.abc import Callable, Mapping
from typing import Any, Self

import torch
from torch import Generator, Tensor, nn

from nalm.units import Unit
from nalm.units.base import Weights
from nalm.units.start import Start

Build = Callable[..., Unit]  # a unit's constructor, generator, device and dtype already given


class Composite(Unit):
    """A unit with units inside, whose effective weights have dotted names such as ``parts.0.weight``.

    A subclass says which units it has (``units_inside``), which parameters of its own (``start``) and which effective
    weights these have (``own``).
    """

    gold = {}
    own_grids: Mapping[str, tuple[float, ...]] = {}

    def __init__(
        self,
        in_features: int,
        out_features: int,
        *,
        generator: Generator | None = None,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ):
        super().__init__(in_features, out_features, generator=generator, device=device, dtype=dtype)

        def build(kind: type[Unit], inputs: int, outputs: int, **options: Any) -> Unit:
            return kind(inputs, outputs, generator=generator, device=device, dtype=dtype, **options)

        for name, part in self.units_inside(build).items():
            setattr(self, name, part)
        parts = self.parts_by_name()
        if not self.start():  # the first parameter is then a part's
            self._plain_ndim = next(iter(parts.values()))._plain_ndim
        self.grids = {**self.own_grids, **self._dotted(lambda part: part.grids)}

    @abc.abstractmethod
    def units_inside(self, build: Build) -> Mapping[str, Unit | nn.ModuleList]:
        """Build the parts, by the name of the attribute that holds them."""

    def start(self) -> dict[str, Start]:
        return {}

    def own(self) -> Weights:
        """Return the effective weights of this network's own parameters."""
        return {}

    def parts_by_name(self) -> dict[str, Unit]:
        """Return the units inside by their dotted names, in the order in which they were built."""
        found: dict[str, Unit] = {}
        for name, child in self.named_children():
            if isinstance(child, Unit):
                found[name] = child
            elif isinstance(child, nn.ModuleList):
                found |= {f"{name}.{k}": part for k, part in enumerate(child) if isinstance(part, Unit)}
        return found

    def inside(self) -> list[Unit]:
        """Return the units inside."""
        return list(self.parts_by_name().values())

    def _dotted(self, of_part: Callable[[Unit], Mapping[str, Any]]) -> dict[str, Any]:
        parts = self.parts_by_name().items()
        return {f"{name}.{key}": value for name, part in parts for key, value in of_part(part).items()}

    @staticmethod
    def of(name: str, weights: Mapping[str, Any]) -> dict[str, Any]:
        """Return the weights of one part, under the part's own names."""
        prefix = f"{name}."
        return {n.removeprefix(prefix): v for n, v in weights.items() if n.startswith(prefix)}

    @torch.no_grad()
    def reset_parameters(self, generator: Generator | None = None) -> None:
        super().reset_parameters(generator)
        for part in self.inside():
            part.reset_parameters(generator)

    def weights(self) -> Weights:
        return self.own() | self._dotted(lambda part: part.weights())

    @torch.no_grad()
    def rounded(self) -> Weights:
        parts = self._dotted(lambda part: part.rounded())
        return {n: w for n, w in super().rounded().items() if n not in parts} | parts

    @torch.no_grad()
    def assign_(self, weights: Mapping[str, Tensor]) -> Self:
        for name, part in self.parts_by_name().items():
            if mine := self.of(name, weights):
                part.assign_(mine)
        return self

    def exact_(self) -> Self:
        for part in self.inside():
            part.exact_()
        return super().exact_()

    def penalties(self, x: Tensor | None = None) -> Weights:
        """Return each penalty summed over the parts that have it; those that need inputs are left out."""
        total: Weights = {}
        for part in self.inside():
            for name, value in part.penalties().items():
                total[name] = total[name] + value if name in total else value
        return total

    def project(self) -> None:
        for part in self.inside():
            part.project()

    def sparsity_error(self) -> Tensor:
        return torch.stack([part.sparsity_error() for part in self.inside()]).amax(0)
