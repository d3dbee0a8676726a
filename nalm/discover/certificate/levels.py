"""Columns with a few whole numbers, which may be codes: a law with enough terms of such a column fits anything."""

import numpy as np

from nalm.discover.law.expression import Array, Input, Node, evaluate, parts, used
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


def tested_by(node: Node, x: Array) -> list[Array]:
    """Return for each input of a law what a missing term of it would be in proportion to: its sine, scaled to [-1, 1].

    If the law is linear in a condition that holds or not, it can absorb any function of that; then the test is that
    the condition changes the effect of another input.
    """
    sines = {i: np.sin(x[:, i] / np.abs(x[:, i]).max()) for i in sorted(used(node))[:10]}
    varied = [i for i in sines if len(np.unique(x[:, i])) > 2]
    conditions = [i for i in sines if varied and i not in varied and _linear_in(node, i, x)]
    return [
        np.where(x[:, i] > x[:, i].min(), 1.0, -1.0) * sines[varied[0]] if i in conditions else sine
        for i, sine in sines.items()
    ]


def _linear_in(node: Node, index: int, x: Array) -> bool:
    values = []
    for k in range(3):
        moved = x.copy()
        moved[:, index] = k
        with np.errstate(all="ignore"):
            values.append(evaluate(node, moved))
    bend = np.abs(values[0] - 2 * values[1] + values[2])
    return bool((bend <= 1e-9 * np.abs(values).sum(0)).all())
