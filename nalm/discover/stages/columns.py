"""Scratch columns: inputs, and what one operation makes of two columns, with the expression of each."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from nalm.discover.law.expression import Array, Input, Mask, Node, Power, Sum
from nalm.discover.law.tidy import tidied

# operation -> the expression it makes of two
PAIRS: dict[str, Callable[[Node, Node], Node]] = {
    "add": lambda a, b: Sum((a, b), (1.0, 1.0)),
    "subtract": lambda a, b: Sum((a, b), (1.0, -1.0)),
    "multiply": lambda a, b: Power((a, b), (1.0, 1.0)),
    "divide": lambda a, b: Power((a, b), (1.0, -1.0)),
    "into": lambda a, b: Power((a, b), (-1.0, 1.0)),
    "reciprocal": lambda a, b: Power((a, b), (-1.0, -1.0)),
    "squares": lambda a, b: Sum((Power((a,), (2.0,)), Power((b,), (2.0,))), (1.0, 1.0)),
}


@dataclass
class Columns:
    """Values (rows, columns) and one expression per column, each different on the data."""

    values: Array
    nodes: list[Node]

    @classmethod
    def inputs(cls, x: Array, kept: list[int]) -> "Columns":
        """Return the inputs as columns."""
        return cls(x[:, kept], [Input(i) for i in kept])

    def single(self) -> "Columns":
        """Return squares and reciprocals of all columns, and roots of positive ones."""
        nodes: list[Node] = []
        for i, node in enumerate(self.nodes):
            positive = bool((self.values[:, i] > 0).all())
            nodes += [Power((node,), (p,)) for p in (2.0, -1.0, *([0.5] if positive else []))]
        powers = [2.0, -1.0, 0.5]
        with np.errstate(all="ignore"):
            values = [
                self.values[:, i] ** p
                for i in range(len(self.nodes))
                for p in (powers if (self.values[:, i] > 0).all() else powers[:2])
            ]
        return Columns(np.stack(values, 1), nodes).distinct()

    def paired(self, other: "Columns | None" = None) -> "Columns":
        """Apply every operation to every pair of these columns, or of these with others."""
        if other is None:
            left, right = np.triu_indices(len(self.nodes), 1)
            other = self
        else:
            left, right = (g.ravel() for g in np.indices((len(self.nodes), len(other.nodes))))
        a, b = self.values[:, left], other.values[:, right]
        with np.errstate(all="ignore"):
            # differences are positive where they can be, and so have roots
            below: Mask = np.all(a <= b, axis=0)
            difference = np.where(below, b - a, a - b)
            values = np.concatenate([a + b, difference, a * b, a / b, b / a, 1 / (a * b), a * a + b * b], 1)
        keep = _first_of_each(values)
        makers, count = list(PAIRS.values()), max(len(left), 1)
        nodes = []
        for k in keep:
            one, two = self.nodes[left[k % count]], other.nodes[right[k % count]]
            turned = makers[k // count] is PAIRS["subtract"] and below[k % count]
            nodes.append(makers[k // count](two, one) if turned else makers[k // count](one, two))
        return Columns(values[:, keep], nodes)

    def distinct(self) -> "Columns":
        """Drop columns that repeat an earlier one or are not finite on some row."""
        return self.at(_first_of_each(self.values))

    def at(self, places: list[int]) -> "Columns":
        """Return some of the columns, by index."""
        return Columns(self.values[:, places], [self.nodes[i] for i in places])

    def joined(self, other: "Columns") -> "Columns":
        """Append the other columns."""
        return Columns(np.concatenate([self.values, other.values], 1), self.nodes + other.nodes).distinct()

    def node(self, place: int) -> Node:
        """Return the expression of a column, in its shortest form."""
        return tidied(self.nodes[place])


def _first_of_each(values: Array) -> list[int]:
    """Return the first of equal columns, by a hash of their values, without constant columns and those not finite."""
    finite = np.isfinite(values).all(0)
    with np.errstate(all="ignore"):
        size = np.sqrt((values**2).mean(0))
        mark = np.cos(np.arange(1, len(values) + 1) * 1.7) @ (values / size)
        varied = (values.max(0) - values.min(0)) > 1e-9 * size
    seen: set[tuple[float, float]] = set()
    kept: list[int] = []
    for i in np.flatnonzero(finite & varied & (size > 1e-150) & (size < 1e150)):
        key = float(f"{abs(mark[i]):.9e}"), float(f"{size[i]:.9e}")
        if key not in seen:
            seen.add(key)
            kept.append(int(i))
    return kept
