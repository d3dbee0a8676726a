"""Views: a problem with other columns or another target, on which a stage works as on any table."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from nalm.discover.dimensions.homogeneous import homogeneous
from nalm.discover.dimensions.units import NONE
from nalm.discover.law.expression import Array, Function, Node, Power, evaluate, substituted
from nalm.discover.problem import Problem

Propose = Callable[[Problem], Iterator[Node]]


@dataclass(frozen=True)
class Outer:
    """A function t of y to search a law of, and the way back: y as an expression of that law."""

    name: str
    value: Callable[[Array], Array]
    allowed: Callable[[Array], bool]  # whether y is what the way back makes of t(y)
    back: Callable[[Node], Node]


def _function(name: str) -> Callable[[Node], Node]:
    return lambda law: Function(name, law)


def _within(low: float, high: float) -> Callable[[Array], bool]:
    return lambda y: bool(low <= y.min() and y.max() <= high)


TARGETS: dict[str, Outer] = {
    t.name: t
    for t in (
        Outer("y", lambda y: y, lambda y: True, lambda law: law),
        Outer("log", np.log, lambda y: bool((y > 0).all()), _function("exp")),
        Outer("exp", np.exp, _within(-200, 200), _function("log")),
        Outer("sin", np.sin, _within(-np.pi / 2, np.pi / 2), _function("asin")),
        Outer("cos", np.cos, _within(0, np.pi), _function("acos")),
        Outer("tan", np.tan, _within(-np.pi / 2, np.pi / 2), _function("atan")),
        Outer("atanh", np.arctanh, lambda y: bool((np.abs(y) < 1).all()), _function("tanh")),
        Outer("1/y", lambda y: 1 / y, lambda y: bool((y != 0).all()), lambda law: Power((law,), (-1.0,))),
        Outer("y^2", np.square, lambda y: bool((y > 0).all()), lambda law: Power((law,), (0.5,))),
    )
}


def seen(problem: Problem, columns: Sequence[Node], target: str = "y") -> Problem | None:
    """Return the problem with these columns and this target, or None where they have no value or no dimension."""
    way = TARGETS[target]
    both = np.concatenate([problem.y, problem.held_y])
    if not way.allowed(both):
        return None
    dimensions = None
    if problem.dimensions is not None:
        dims = [homogeneous(c, problem.dimensions[0]) for c in columns]
        known = [d for d in dims if d is not None]
        if len(known) < len(dims) or (target != "y" and problem.dimensions[1] != NONE):
            return None
        dimensions = known, problem.dimensions[1]
    x, held = (np.stack([evaluate(c, rows) for c in columns], 1) for rows in (problem.x, problem.held_x))
    y, held_y = way.value(problem.y), way.value(problem.held_y)
    if not all(np.isfinite(values).all() for values in (x, held, y, held_y)):
        return None
    places = [i for i in range(len(columns)) if np.ptp(x[:, i]) > 0]
    return replace(
        problem,
        x=x,
        y=y,
        held_x=held,
        held_y=held_y,
        columns=places,
        dimensions=dimensions,
        constants=(),
    )


def through(problem: Problem, stage: Propose, columns: Sequence[Node], target: str = "y") -> Iterator[Node]:
    """Yield what a stage proposes for such a view, as candidates for the problem itself."""
    view = seen(problem, columns, target)
    if view is not None:
        for candidate in stage(view):
            yield TARGETS[target].back(substituted(candidate, columns))
