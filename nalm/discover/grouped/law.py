"""A law of several groups: its own constants are inputs, each group has a row of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from nalm.discover.law.expression import Array, Function, Input, Node, Power, Sum, numbers, parts, renumbered
from nalm.discover.law.names import shown
from nalm.discover.selection.intervals import FittedNumber, Uncertainty
from nalm.errors import NALMError, unknown


@dataclass(frozen=True, eq=False)
class Group:
    """One group of rows: its own constants, and its law with the uncertainty of its numbers."""

    own: tuple[FittedNumber, ...]
    node: Node
    uncertainty: Uncertainty


@dataclass(frozen=True, eq=False)
class Groups:
    """The groups of a law, by label; the last inputs of the law are their own constants, with these names."""

    names: tuple[str, ...]
    groups: dict[str, Group]

    @property
    def own(self) -> dict[str, dict[str, FittedNumber]]:
        """The own constants, by group and name."""
        return {label: dict(zip(self.names, group.own, strict=True)) for label, group in self.groups.items()}

    def columns(self, labels: Any, rows: int) -> Array:
        """Return the own constants of the group of each row, (rows, constants)."""
        known = [self.group(label).own for label in checked_labels(labels, rows)]
        return np.array([[c.value for c in own] for own in known]).reshape(rows, len(self.names))

    def interval(self, x: Array, labels: Any) -> Array:
        """Return the 95% interval of a new measurement on each row of x, (rows, 2)."""
        which = checked_labels(labels, len(x))
        found = np.empty((len(x), 2))
        for label in set(which):
            rows = np.array([w == label for w in which])
            group = self.group(label)
            found[rows] = group.uncertainty.interval(group.node, x[rows])
        return found

    def group(self, label: str) -> Group:
        """Return the group with this label."""
        if label not in self.groups:
            raise unknown("group", label, self.groups)
        return self.groups[label]


def checked_labels(labels: Any, rows: int) -> list[str]:
    """Return the label of each row as text."""
    if labels is None:
        raise NALMError("The law has numbers of groups: give the group of each row, by groups or --groups.")
    found = [str(label) for label in np.asarray(labels).tolist()] if np.ndim(labels) == 1 else []
    if len(found) != rows:
        raise NALMError(f"groups needs one label for each of {rows} rows, got the shape {np.shape(labels)}.")
    return found


def own_names(count: int, taken: Sequence[str]) -> tuple[str, ...]:
    """Return names for own constants that no column has: a, b, c, ...

    >>> own_names(2, ["a", "t"])
    ('b', 'c')
    """
    letters = (f"{letter}{k or ''}" for k in range(count + len(taken) + 1) for letter in "abcdfghkmnpqrsuvw")
    free = (name for name in letters if name not in taken)
    return tuple(next(free) for _ in range(count))


def with_inputs(node: Node, places: Mapping[int, int]) -> Node:
    """Return the law in which number i, in the order of ``numbers``, is the input places[i].

    >>> with_inputs(Power((Input(0),), (2.0,), 3.0), {1: 4})
    Power(factors=(Input(index=0), Input(index=4)), exponents=(2.0, 1.0), coefficient=1.0)
    """
    return _with_inputs(node, places, 0)[0]


def _with_inputs(node: Node, places: Mapping[int, int], first: int) -> tuple[Node, int]:
    """Return the law and the place of the number after its last one."""
    own = len(numbers(node)) - sum(len(numbers(p)) for p in parts(node))
    at, inner = first + own, list[Node]()
    for part in parts(node):
        part, at = _with_inputs(part, places, at)
        inner.append(part)
    match node:
        case Sum(_, weights, bias):
            terms, factors = list[Node](), list[float]()
            for k, (t, w) in enumerate(zip(inner, weights, strict=True), first):
                terms.append(Power((Input(places[k]), t), (1.0, 1.0)) if k in places else t)
                factors.append(1.0 if k in places else w)
            k = first + len(weights)
            if bias and k in places:
                terms, factors, bias = [*terms, Input(places[k])], [*factors, 1.0], 0.0
            return Sum(tuple(terms), tuple(factors), bias), at
        case Power(_, exponents, coefficient):
            raised, powers = list[Node](), list[float]()
            for k, (f, p) in enumerate(zip(inner, exponents, strict=True), first):
                own_power = Power((Input(places.get(k, 0)), Function("log", f)), (1.0, 1.0))
                raised.append(Function("exp", own_power) if k in places else f)
                powers.append(1.0 if k in places else p)
            k = first + len(exponents)
            if k in places:
                raised, powers, coefficient = [*raised, Input(places[k])], [*powers, 1.0], 1.0
            return Power(tuple(raised), tuple(powers), coefficient), at
        case Function(name, _):
            return Function(name, inner[0]), at
    return node, at


def with_numbers(node: Node, free: Any, values: Array) -> Node:
    """Return the law with other values of its free numbers; none of them is exactly 0, which would be no number."""
    whole = np.array(numbers(node))
    whole[free] = np.where(values == 0, np.finfo(float).tiny, values)
    return renumbered(node, whole)


def described(groups: Groups) -> list[str]:
    """Return a line for each group: its label and its own constants with their intervals."""
    return [f"{shown(label)}: {', '.join(map(str, g.own)) or 'none'}" for label, g in groups.groups.items()]
