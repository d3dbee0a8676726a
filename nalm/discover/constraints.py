"""Conditions on the form of a law: columns it must or must not have, its exponents, its functions."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Self

from nalm.discover.law.expression import Function, Node, Power, numbers, parts, renumbered, roles, used
from nalm.discover.law.functions import FUNCTIONS
from nalm.discover.law.tidy import tidied
from nalm.errors import NALMError, unknown

EXPONENTS = {"any": 0.0, "half": 0.5, "integer": 1.0}  # the step between exponents
NEAR = 1e-9  # of an exponent from a step, which is rounding


@dataclass(frozen=True)
class Constraints:
    """Conditions on a law, by indices of columns; the default admits every law."""

    contains: frozenset[int] = frozenset()
    without: frozenset[int] = frozenset()
    step: float = 0.0  # between exponents; 0: any exponent
    functions: frozenset[str] | None = None  # the only ones allowed; None: all
    names: tuple[str, ...] = field(default=(), compare=False, repr=False)  # of all columns, for sentences

    @classmethod
    def of(
        cls,
        names: Sequence[str],
        contains: Sequence[str] = (),
        without: Sequence[str] = (),
        exponents: str = "any",
        functions: Sequence[str] | None = None,
    ) -> Self:
        """Check conditions that are given by name.

        >>> Constraints.of(["a", "b"], contains=["b"], exponents="half")
        Constraints(contains=frozenset({1}), without=frozenset(), step=0.5, functions=None)
        """
        for columns in (contains, without):
            if isinstance(columns, str):
                raise NALMError(f"Name columns in a list, as in [{columns!r}], not as one text.")
            for name in columns:
                if name not in names:
                    raise unknown("column", str(name), names)
        if both := [n for n in contains if n in without]:
            raise NALMError(f"Column {both[0]} is wanted and forbidden: name it once.")
        if exponents not in EXPONENTS:
            raise unknown("kind of exponents", str(exponents), EXPONENTS)
        if isinstance(functions, str):
            raise NALMError(f"Name functions in a list, as in [{functions!r}], not as one text.")
        for name in functions or ():
            if name not in FUNCTIONS:
                raise unknown("function", str(name), FUNCTIONS)
        places = {name: i for i, name in enumerate(names)}
        return cls(
            frozenset(places[n] for n in contains),
            frozenset(places[n] for n in without),
            EXPONENTS[exponents],
            None if functions is None else frozenset(functions),
            tuple(names),
        )

    def __bool__(self) -> bool:
        return self != Constraints()

    def allows(self, node: Node) -> bool:
        """Return whether a law meets the conditions."""
        if not self:
            return True
        columns = used(node)
        if not self.contains <= columns or columns & self.without:
            return False
        if self.functions is not None and not functions_of(node) <= self.functions:
            return False
        return not self.step or all(abs(p - self._nearest(p)) < NEAR for p in exponents_of(node))

    def shaped(self, node: Node) -> Node:
        """Round the exponents of a candidate to those that are allowed."""
        if not self.step:
            return node
        pairs = zip(numbers(node), roles(node), strict=True)
        return tidied(renumbered(node, [self._nearest(v) if role == "exponent" else v for v, role in pairs]))

    def _nearest(self, exponent: float) -> float:
        return round(exponent / self.step) * self.step if abs(exponent) < 1e6 else exponent

    def without_function_stages(self) -> bool:
        """Return whether no function is allowed."""
        return self.functions is not None and not self.functions


def exponents_of(node: Node, outer: float = 1.0) -> list[float]:
    """Return the exponents in a law; a power of a power has their product, as in the root of a root.

    >>> from nalm.discover.law.expression import Input
    >>> root = Power((Input(0),), (0.5,))
    >>> exponents_of(Power((root,), (0.5,), 3.0))
    [0.5, 0.25]
    """
    if not isinstance(node, Power):
        return [p for part in parts(node) for p in exponents_of(part)]
    own = [outer * p for p in node.exponents]
    return own + [q for part, p in zip(node.factors, own, strict=True) for q in exponents_of(part, p)]


def functions_of(node: Node) -> frozenset[str]:
    """Return the names of the functions in a law."""
    own = frozenset([node.name]) if isinstance(node, Function) else frozenset()
    return own.union(*(functions_of(p) for p in parts(node)))
