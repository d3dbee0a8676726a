"""Units inside a unit: what networks of units share, and what they compute written line by line."""

import abc
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import sympy
import torch
from torch import Generator, Tensor, nn

from nalm.errors import NALMError
from nalm.units import Unit, unit
from nalm.units.base import Formulas, Spelled, Symbols, Weights
from nalm.units.start import Start

Plan = list[tuple[str, int, int]]  # units by name, with their inputs and outputs
LETTERS = "opqrtuvw"  # names of a layer's outputs: o1, o2, then p1, p2, ...


@dataclass(frozen=True)
class Line:
    """One line of working: a name, the unit that wrote it, and the expression in terms of earlier lines."""

    name: str
    by: str
    expression: Any

    def __str__(self) -> str:
        return f"{self.name} = {self.expression}  ({self.by})"


class Network(Unit):
    """A unit that writes its formula in lines."""

    gold = {}

    @abc.abstractmethod
    def lines(self, x: Symbols, w: Spelled) -> list[Line]:
        """The working, for rounded weights; the last lines are the outputs."""

    def expressions(self, x: Symbols, w: Spelled) -> Formulas:
        known: dict[Any, Any] = {}
        for line in self.lines(x, w):
            known[sympy.Symbol(line.name)] = line.expression.xreplace(known)
        return list(known.values())[-self.out_features :]

    def working(self, symbols: Symbols | None = None) -> list[Line]:
        """What each step computes and which unit computes it, once the weights are rounded."""
        from nalm.units.spelling import letters, numbers

        if self.runs:
            raise NALMError("A population has a working per run: take nalm.member(population, 0).")
        x = letters(self.in_features) if symbols is None else list(symbols)
        return self.lines(x, {n: numbers(v) for n, v in self.rounded().items()})

    def text(self, symbols: Symbols) -> str:
        """The working on one line, as ``nalm.formulas.parse.parse`` reads it: s1 = a + b; c*s1."""
        if self.out_features > 1:
            return ", ".join(map(str, self.formulas(symbols)))
        lines = self.working(symbols)
        return "; ".join([*(f"{x.name} = {x.expression}" for x in lines[:-1]), str(lines[-1].expression)])


def needed(lines: Sequence[Line], outputs: int) -> list[Line]:
    """The last lines, and of the others those that they use."""
    kept, wanted = [], {sympy.Symbol(line.name) for line in lines[-outputs:]}
    for line in reversed(lines):
        if sympy.Symbol(line.name) in wanted:
            kept.append(line)
            wanted |= line.expression.free_symbols
    return kept[::-1]


class Composite(Network):
    """A network with units as ``parts``: parameters, penalties and weights are theirs, under dotted names.

    A subclass says which units it has (``plan``), which parameters of its own (``start``) and what they mean (``own``).
    """

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
        made = [unit(n)(i, o, generator=generator, device=device, dtype=dtype) for n, i, o in self.plan()]
        self.parts = nn.ModuleList(made)
        if not self.start():  # the first parameter is then a part's
            self._plain_ndim = made[0]._plain_ndim
        self.grids = {**self.own_grids, **self._dotted(part.grids for part in self.inside())}

    @abc.abstractmethod
    def plan(self) -> Plan:
        """The units inside."""

    def start(self) -> dict[str, Start]:
        return {}

    def own(self) -> Weights:
        """Effective weights of this network's own parameters."""
        return {}

    def inside(self) -> list[Unit]:
        """The parts, with their type."""
        groups = [child for child in self.children() if isinstance(child, nn.ModuleList)]
        return [part for group in groups for part in group if isinstance(part, Unit)]

    @staticmethod
    def _dotted(parts: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
        return {f"parts.{k}.{name}": value for k, part in enumerate(parts) for name, value in part.items()}

    @staticmethod
    def of(k: int, weights: Mapping[str, Any]) -> dict[str, Any]:
        """The weights of one part, under its own names."""
        prefix = f"parts.{k}."
        return {n.removeprefix(prefix): v for n, v in weights.items() if n.startswith(prefix)}

    @torch.no_grad()
    def reset_parameters(self, generator: Generator | None = None) -> None:
        super().reset_parameters(generator)
        for part in self.inside():
            part.reset_parameters(generator)

    def weights(self) -> Weights:
        return self.own() | self._dotted(part.weights() for part in self.inside())

    @torch.no_grad()
    def rounded(self) -> Weights:
        own = {n: w for n, w in super().rounded().items() if not n.startswith("parts.")}
        return own | self._dotted(part.rounded() for part in self.inside())

    @torch.no_grad()
    def assign_(self, weights: Mapping[str, Tensor]) -> Self:
        for k, part in enumerate(self.inside()):
            if mine := self.of(k, weights):
                part.assign_(mine)
        return self

    def exact_(self) -> Self:
        for part in self.inside():
            part.exact_()
        return super().exact_()

    def penalties(self, x: Tensor | None = None) -> Weights:
        """Each named penalty summed over the parts that have it; those that look at inputs are left out."""
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
