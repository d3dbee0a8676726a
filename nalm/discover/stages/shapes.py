"""Columns of functions: what the functions of a law make of columns, of their products and of their differences."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from nalm.discover.law.expression import Array, Function, Input, Node, Power, Sum, evaluate
from nalm.discover.stages.columns import Columns


@dataclass(frozen=True)
class Shape:
    """A function of one argument as laws contain it, possibly beside a 1."""

    name: str
    node: Callable[[Node], Node]
    scales: tuple[float, ...] = (1.0,)  # of the argument


def _plain(name: str, *scales: float) -> Shape:
    return Shape(name, lambda u: Function(name, u), scales)


def _beside(name: str, weight: float, bias: float, *scales: float) -> Shape:
    return Shape(f"{name}, {bias:g}", lambda u: Sum((Function(name, u),), (weight,), bias), scales)


ANGLES = (1.0, 0.5, 2.0, np.pi, 2 * np.pi)
WAVES = (_plain("sin", *ANGLES), _plain("cos", *ANGLES), _beside("cos", -1.0, 1.0, *ANGLES))
CURVES = (
    _plain("exp", 1.0),
    _plain("log", 1.0),
    _beside("exp", 1.0, -1.0, 1.0, -1.0),
    _beside("exp", 1.0, 1.0, 1.0, -1.0),
    _beside("log", 1.0, 1.0, 1.0),
    _plain("tanh", 1.0, 0.5),
    _plain("cosh", 1.0),
    _plain("sinh", 1.0),
    _plain("atan", 1.0),
    _plain("asin", 1.0),
    _plain("acos", 1.0),
)


def products(inputs: Columns, most: int) -> Columns:
    """Return the inputs with all their products and quotients of two up to ``most`` columns."""
    nodes, values = list(inputs.nodes), [inputs.values]
    for count in range(2, most + 1):
        for places in combinations(range(len(inputs.nodes)), count):
            for signs in np.ndindex(*(2,) * (count - 1)):
                p = (1.0, *(1.0 - 2.0 * s for s in signs))
                nodes.append(Power(tuple(inputs.nodes[i] for i in places), p))
                with np.errstate(all="ignore"):
                    values.append(np.prod(inputs.values[:, places] ** np.array(p), 1)[:, None])
    return Columns(np.concatenate(values, 1), nodes).distinct()


def differences(inputs: Columns, pairs: Sequence[tuple[int, int]]) -> Columns:
    """Return the differences of these pairs of inputs, alone and times each of the others."""
    nodes: list[Node] = []
    for i, j in pairs:
        gap = Sum((inputs.nodes[i], inputs.nodes[j]), (1.0, -1.0))
        nodes.append(gap)
        nodes += [Power((gap, other), (1.0, 1.0)) for k, other in enumerate(inputs.nodes) if k not in (i, j)]
    left, right = [i for i, _ in pairs], [j for _, j in pairs]
    gaps = inputs.values[:, left] - inputs.values[:, right]
    values = [
        gaps[:, [m]] * (1.0 if k is None else inputs.values[:, [k]])
        for m, (i, j) in enumerate(pairs)
        for k in (None, *(k for k in range(len(inputs.nodes)) if k not in (i, j)))
    ]
    return Columns(np.concatenate(values, 1), nodes).distinct() if values else inputs.at([])


def applied(shapes: Sequence[Shape], arguments: Columns) -> Columns:
    """Return every shape of every argument, with each of the shape's scales; those without a value are left out."""
    nodes: list[Node] = []
    values: list[Array] = []
    with np.errstate(all="ignore"):
        for shape in shapes:
            for scale in shape.scales:
                u = scale * arguments.values
                values.append(evaluated(shape, u))
                nodes += [shape.node(n if scale == 1 else Sum((n,), (scale,))) for n in arguments.nodes]
    return Columns(np.concatenate(values, 1), nodes).distinct()


def evaluated(shape: Shape, u: Array) -> Array:
    """Evaluate a shape on every entry of a table."""
    return evaluate(shape.node(Input(0)), u.reshape(-1, 1)).reshape(u.shape)
