"""Columns with a few whole numbers, which may be codes: a law with enough terms of such a column fits anything."""

import numpy as np

from nalm.discover.law.expression import Input, Node, parts, used
from nalm.discover.problem import Problem

FEWEST, MOST = (
    3,
    5,
)  # distinct whole numbers of a column that may hold codes; two are a condition that holds or not


def interpolated(node: Node, problem: Problem) -> tuple[int, int] | None:
    """Return a column of codes whose values the law can interpolate, and how many they are; None if there is none.

    A polynomial or a quotient with a column at n - 1 places passes through any values at n levels of it, whatever the
    levels mean.
    """
    for i in sorted(used(node)):
        column = np.concatenate([problem.x[:, i], problem.held_x[:, i]])
        levels = np.unique(column)
        whole = bool((levels == np.round(levels)).all())
        if FEWEST <= len(levels) <= MOST and whole and occurrences(node, i) >= len(levels) - 1:
            return i, len(levels)
    return None


def occurrences(node: Node, index: int) -> int:
    """Count the places at which a law has a column."""
    if isinstance(node, Input):
        return int(node.index == index)
    return sum(occurrences(part, index) for part in parts(node))
