"""How well a law is known, as plain JSON values: intervals of numbers, covariances, own constants of groups."""

import math
from typing import Any

import numpy as np

from nalm.discover.grouped.law import Group, Groups
from nalm.discover.law.expression import numbers
from nalm.discover.law.json import node_of, number, plain_node
from nalm.discover.selection.intervals import FittedNumber, Uncertainty
from nalm.discover.selection.rows import NoiseKind
from nalm.errors import NALMError
from nalm.operating_system import json_number


def plain_constant(c: FittedNumber) -> list[Any]:
    """Convert a fitted number to plain values."""
    return [*map(json_number, (c.value, c.error, c.low, c.high)), c.name]


def constant_of(value: Any) -> FittedNumber:
    """Read what ``plain_constant`` wrote."""
    match value:
        case [middle, error, low, high, str(name)]:
            least = -math.inf if low is None else number(low)
            return FittedNumber(number(middle), or_infinite(error), least, or_infinite(high), name)
    raise NALMError(f"this is no constant: {str(value)[:80]!r}.")


def plain_uncertainty(known: Uncertainty | None) -> dict[str, Any] | None:
    """Convert the uncertainty of a law to plain values."""
    if known is None:
        return None
    spread = [[json_number(v) for v in row] for row in known.spread]
    scatter, left = json_number(known.scatter), json_number(known.left)
    floor = {"floor": json_number(known.floor)} if known.noise == NoiseKind.BOTH else {}
    return {"noise": known.noise.value, "scatter": scatter, "left": left, "spread": spread, **floor}


def uncertainty_of(value: Any, count: int) -> Uncertainty | None:
    """Read what ``plain_uncertainty`` wrote, of a law with so many numbers; older files have none."""
    match value:
        case None:
            return None
        case {"noise": str(noise), "scatter": scatter, "left": left, "spread": list(rows)} if (
            noise in list(NoiseKind) and len(rows) == count and all(isinstance(r, list) for r in rows)
        ):
            if len({len(r) for r in rows}) <= 1:
                spread = np.array([[or_infinite(v) for v in r] for r in rows]).reshape(
                    count, -1 if count else 0
                )
                floor = number(value.get("floor", 0.0))
                return Uncertainty(spread, NoiseKind(noise), or_infinite(scatter), or_infinite(left), floor)
    raise NALMError(f"this is no uncertainty: {str(value)[:80]!r}.")


def plain_groups(groups: Groups | None) -> dict[str, Any] | None:
    """Convert the groups of a law to plain values."""
    if groups is None:
        return None
    parts = {
        label: {
            "own": list(map(plain_constant, g.own)),
            "expression": plain_node(g.node),
            "uncertainty": plain_uncertainty(g.uncertainty),
        }
        for label, g in groups.groups.items()
    }
    return {"names": list(groups.names), "groups": parts}


def groups_of(value: Any, inputs: int) -> Groups | None:
    """Read what ``plain_groups`` wrote, of a law with so many inputs; older files have none."""
    match value:
        case None:
            return None
        case {"names": list(names), "groups": dict(parts)} if len(names) <= inputs:
            found = {
                str(label): _group(part, inputs - len(names), len(names)) for label, part in parts.items()
            }
            return Groups(tuple(map(str, names)), found)
    raise NALMError(f"these are no groups: {str(value)[:80]!r}.")


def _group(value: Any, inputs: int, own: int) -> Group:
    match value:
        case {"own": list(constants), "expression": expression, "uncertainty": dict(known)} if (
            len(constants) == own
        ):
            node = node_of(expression, inputs)
            sure = uncertainty_of(known, len(numbers(node)))
            assert sure is not None  # a dict is never read as None
            return Group(tuple(map(constant_of, constants)), node, sure)
    raise NALMError(f"this is no group: {str(value)[:80]!r}.")


def or_infinite(value: Any) -> float:
    """Read a number; null is infinite."""
    return math.inf if value is None else number(value)
