"""The rule that a law has the dimension of y, applied to the candidates of a search."""

import contextlib
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from nalm.discover.dimensions.homogeneous import homogeneous, refitted, trimmed
from nalm.discover.fit.least_squares import UNSOLVABLE
from nalm.discover.fit.snap import movable
from nalm.discover.law.expression import Node, numbers, renumbered, roles
from nalm.discover.law.tidy import tidied
from nalm.discover.problem import Problem


@dataclass(frozen=True)
class DimensionRule:
    """Tests candidates for the dimension of y and repairs them; without units it admits everything unchanged.

    Conditions of the user on the form of the law are tested, too.
    """

    problem: Problem

    def allows(self, node: Node) -> bool:
        """Return whether an expression has the dimension of y and the form that is asked for."""
        dimensions = self.problem.dimensions
        if not self.problem.constraints.allows(node):
            return False
        return dimensions is None or homogeneous(node, dimensions[0]) == dimensions[1]

    def trim(self, node: Node) -> Node | None:
        """Change an expression to the dimension of y; return None if that is impossible."""
        if self.problem.dimensions is None:
            return node
        if not np.isfinite(numbers(node)).all():
            return None
        found = trimmed(node, *self.problem.dimensions, self.problem.x, self.problem.constants)
        return None if found is None or not self.allows(found := tidied(found)) else found

    def refit(self, node: Node, settled: Callable[[float, str], bool] = lambda v, role: False) -> Node:
        """Fit the numbers that are not settled to y, and keep every dimension."""
        p = self.problem
        if p.dimensions is not None:
            loose = [not settled(v, role) for v, role in zip(numbers(node), roles(node), strict=True)]
            free = movable(node, p.x) & np.array(loose, bool)
            with contextlib.suppress(*UNSOLVABLE):
                return refitted(node, p.dimensions[0], p.x, p.y, free, p.check)
        return node

    @staticmethod
    def skeleton(node: Node) -> Node:
        """Set all numbers but the exponents to 1, so that equal structures compare equal."""
        kept = zip(numbers(node), roles(node), strict=True)
        return renumbered(node, [v if role == "exponent" else 1.0 for v, role in kept])
