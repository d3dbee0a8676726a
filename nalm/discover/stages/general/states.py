"""Remainders of a general search: what is left of y after some operations with expressions of the pool were undone."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from nalm.discover.law.expression import Array, Node, Power, Sum, evaluate

OPERATIONS = ("divide", "multiply", "subtract", "add")  # applied to the target; the law gets their inverses
SHAPES = (1.0, -1.0, 2.0)  # powers of the target
STARTS = (1.0, -1.0, 2.0, 0.5, -2.0)  # powers of y


def applied(operation: str, t: Any, a: Any) -> Any:
    """Apply an operation to targets and expressions of the pool, as arrays that broadcast."""
    match operation:
        case "divide":
            return t / a
        case "multiply":
            return t * a
        case "subtract":
            return t - a
        case _:
            return t + a


def undone(operation: str, inner: Node, a: Node) -> Node:
    """Return the law of t, given the law of what the operation makes of it."""
    match operation:
        case "divide":
            return Power((inner, a), (1.0, 1.0))
        case "multiply":
            return Power((inner, a), (1.0, -1.0))
        case "subtract":
            return Sum((inner, a), (1.0, 1.0))
        case _:
            return Sum((inner, a), (1.0, -1.0))


@dataclass(frozen=True)
class Step:
    """One step: an operation with an expression of the pool, then a power."""

    operation: str
    place: int  # of the expression in the pool; -1: none
    power: float


@dataclass(frozen=True)
class Remainder:
    """A target on a few rows, and the steps that led from y to it."""

    target: Array
    steps: tuple[Step, ...]

    def after(self, step: Step, target: Array) -> "Remainder":
        """Return the state after one step more."""
        return Remainder(target, (*self.steps, step))


def reached(steps: tuple[Step, ...], y: Array, x: Array, nodes: dict[int, Node]) -> Array:
    """Repeat the steps on other rows."""
    t = y
    with np.errstate(all="ignore"):
        for step in steps:
            if step.place >= 0:
                t = applied(step.operation, t, evaluate(nodes[step.place], x))
            t = t**step.power
    return t


def returned(steps: tuple[Step, ...], y: Array, x: Array, nodes: dict[int, Node], inner: Node) -> Node | None:
    """Return the law of y, given that of the last target; None if a root would have both signs."""
    before = [y]
    with np.errstate(all="ignore"):
        for step in steps:
            t = before[-1]
            if step.place >= 0:
                t = applied(step.operation, t, evaluate(nodes[step.place], x))
            before.append(t)
            before.append(t**step.power)
    law = inner
    for k in reversed(range(len(steps))):
        step, raised = steps[k], before[2 * k + 1]
        if step.power != 1:
            negative = bool((raised < 0).any())
            if abs(step.power) == 2 and negative and (raised > 0).any():
                return None
            law = Power((law,), (1 / step.power,), -1.0 if negative and abs(step.power) == 2 else 1.0)
        if step.place >= 0:
            law = undone(step.operation, law, nodes[step.place])
    return law
