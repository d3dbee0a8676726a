"""Networks that write their formula in lines: each line has a name and may use the lines before it."""

import abc
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import sympy

from nalm.errors import NALMError
from nalm.units import Unit
from nalm.units.base import Formulas, Spelled, Symbols

LETTERS = "opqrtuvw"  # names of a layer's outputs: o1, o2, then p1, p2, ...


@dataclass(frozen=True)
class Line:
    """One line: its name, the unit that computes it, and the expression in terms of earlier lines."""

    name: str
    by: str
    expression: Any

    def __str__(self) -> str:
        return f"{self.name} = {self.expression}  ({self.by})"


class LineNetwork(Unit):
    """A unit that writes its formula in lines."""

    gold = {}

    @abc.abstractmethod
    def lines(self, x: Symbols, w: Spelled) -> list[Line]:
        """Return the lines for rounded weights; the last ones are the outputs."""

    def expressions(self, x: Symbols, w: Spelled) -> Formulas:
        known: dict[Any, Any] = {}
        for line in self.lines(x, w):
            known[sympy.Symbol(line.name)] = line.expression.xreplace(known)
        return list(known.values())[-self.out_features :]

    def working(self, symbols: Symbols | None = None) -> list[Line]:
        """Return what each step computes with rounded weights, and which unit computes it."""
        from nalm.units.spelling import letters, numbers

        if self.runs:
            raise NALMError("Each run of a population has its own lines: take nalm.member(population, 0).")
        x = letters(self.in_features) if symbols is None else list(symbols)
        return self.lines(x, {n: numbers(v) for n, v in self.rounded().items()})

    def text(self, symbols: Symbols) -> str:
        """Return all lines as one text that ``nalm.formulas.parse.parse`` reads: s1 = a + b; c*s1."""
        if self.out_features > 1:
            return ", ".join(map(str, self.formulas(symbols)))
        lines = self.working(symbols)
        return "; ".join([*(f"{x.name} = {x.expression}" for x in lines[:-1]), str(lines[-1].expression)])


def needed(lines: Sequence[Line], outputs: int) -> list[Line]:
    """Return the last lines and all lines that they use."""
    kept, wanted = [], {sympy.Symbol(line.name) for line in lines[-outputs:]}
    for line in reversed(lines):
        if sympy.Symbol(line.name) in wanted:
            kept.append(line)
            wanted |= line.expression.free_symbols
    return kept[::-1]
