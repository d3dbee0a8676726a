"""Known systems as data: two epidemics, predators and prey, an enzyme, growth, and an oscillating reaction."""

from dataclasses import dataclass

import numpy as np

from nalm.discover.law import Law
from nalm.discover.law.expression import Array, Input, Node, Power, Sum, powered, weighted
from nalm.ode.system import System
from nalm.tasks.epidemic import NAMES, POINTS, SPAN, START, FractionalSIR


@dataclass(frozen=True)
class Part:
    """A term of an equation: rate, exponents, and the variable and constant of its denominator K + x, if any."""

    rate: float
    powers: tuple[float, ...]
    below: int | None = None
    half: float = 0.0


@dataclass(frozen=True)
class Known:
    """A system with known equations, the initial state of its trajectory, and other initial states for the test."""

    name: str
    names: tuple[str, ...]
    parts: tuple[tuple[Part, ...], ...]  # of every equation
    start: tuple[float, ...]
    span: float
    samples: int
    tests: tuple[tuple[float, ...], ...]

    @property
    def system(self) -> System:
        """Return the equations as a system."""
        return System(tuple(Law(_node(row), self.names) for row in self.parts))

    def trajectory(
        self, noise: float = 0.0, seed: int = 0, start: tuple[float, ...] | None = None
    ) -> tuple[Array, Array]:
        """Simulate times and states; noise is a share of the spread of each variable."""
        t = np.linspace(0.0, self.span, self.samples)
        x = self.system.simulate(t, start or self.start, rtol=1e-11)
        rng = np.random.default_rng([seed, len(self.name)])
        return t, x + noise * x.std(0) * rng.standard_normal(x.shape)


def _node(row: tuple[Part, ...]) -> Node:
    nodes: list[Node] = []
    for part in row:
        factors: list[Node] = [Input(i) for i in range(len(part.powers))]
        powers = list(part.powers)
        if part.below is not None:
            factors.append(Sum((Input(part.below),), (1.0,), part.half))
            powers.append(-1.0)
        nodes.append(powered(factors, powers))
    plain = [(n, p.rate) for n, p in zip(nodes, row, strict=True) if any(p.powers)]
    bias = sum(p.rate for p in row if not any(p.powers))
    return weighted([n for n, _ in plain], [r for _, r in plain], bias)


def parts(law: Law) -> list[Part]:
    """Return the terms of a law that is a sum of products.

    >>> parts(Law(Sum((Input(0), Power((Input(0), Input(1)), (0.5, 1.0))), (2.0, -3.0), 1.0), ("x", "y")))
    [Part(rate=2.0, powers=(1.0, 0.0), below=None, half=0.0), Part(rate=-3.0, powers=(0.5, 1.0), below=None, half=0.0),
     Part(rate=1.0, powers=(0.0, 0.0), below=None, half=0.0)]
    """
    root, d = law.expression, len(law.names)
    whole = root if isinstance(root, Sum) else Sum((root,), (1.0,))
    found = [_part(node, weight, d) for node, weight in zip(whole.terms, whole.weights, strict=True)]
    return found + ([Part(whole.bias, (0.0,) * d)] if whole.bias else [])


def _part(node: Node, weight: float, d: int) -> Part:
    power = node if isinstance(node, Power) else Power((node,), (1.0,))
    exponents, below, half = [0.0] * d, None, 0.0
    for factor, p in zip(power.factors, power.exponents, strict=True):
        if isinstance(factor, Input):
            exponents[factor.index] += p
        elif (
            isinstance(factor, Sum)
            and p == -1
            and len(factor.terms) == 1
            and isinstance(factor.terms[0], Input)
        ):
            below, half = factor.terms[0].index, factor.bias
    return Part(weight * power.coefficient, tuple(exponents), below, half)


_FSIR = FractionalSIR()
_INFECTED = (_FSIR.kappa, _FSIR.gamma, 0.0)
KNOWN = (
    Known(
        "fractional SIR",
        NAMES,
        (
            (Part(-_FSIR.beta, _INFECTED), Part(_FSIR.eta, (0.0, 0.0, 1.0))),
            (Part(_FSIR.beta, _INFECTED), Part(-_FSIR.alpha, (0.0, 1.0, 0.0))),
            (Part(_FSIR.alpha, (0.0, 1.0, 0.0)), Part(-_FSIR.eta, (0.0, 0.0, 1.0))),
        ),
        START,
        SPAN,
        POINTS,
        ((90.0, 5.0, 5.0), (50.0, 1.0, 49.0), (150.0, 0.1, 0.0)),
    ),
    Known(
        "classic SIR",
        NAMES,
        (
            (Part(-0.003, (1.0, 1.0, 0.0)),),
            (Part(0.003, (1.0, 1.0, 0.0)), Part(-0.1, (0.0, 1.0, 0.0))),
            (Part(0.1, (0.0, 1.0, 0.0)),),
        ),
        (100.0, 1.0, 0.0),
        100.0,
        50,
        ((90.0, 5.0, 5.0), (60.0, 1.0, 39.0), (150.0, 0.5, 0.0)),
    ),
    Known(
        "Lotka-Volterra",
        ("x", "y"),
        (
            (Part(1.1, (1.0, 0.0)), Part(-0.4, (1.0, 1.0))),
            (Part(0.1, (1.0, 1.0)), Part(-0.4, (0.0, 1.0))),
        ),
        (10.0, 5.0),
        40.0,
        100,
        ((5.0, 2.0), (12.0, 6.0), (4.0, 4.0)),
    ),
    Known(
        "Michaelis-Menten",
        ("s", "p"),
        ((Part(-1.2, (1.0, 0.0), 0, 0.5),), (Part(1.2, (1.0, 0.0), 0, 0.5),)),
        (3.0, 0.0),
        6.0,
        40,
        ((1.0, 0.0), (5.0, 1.0), (0.3, 0.2)),
    ),
    Known(
        "logistic growth",
        ("x",),
        ((Part(0.8, (1.0,)), Part(-0.016, (2.0,))),),
        (1.0,),
        15.0,
        40,
        ((5.0,), (80.0,), (0.1,)),
    ),
    Known(
        "Brusselator",
        ("x", "y"),
        (
            (Part(-4.0, (1.0, 0.0)), Part(1.0, (2.0, 1.0)), Part(1.0, (0.0, 0.0))),
            (Part(3.0, (1.0, 0.0)), Part(-1.0, (2.0, 1.0))),
        ),
        (1.0, 1.0),
        20.0,
        120,
        ((2.0, 2.0), (0.5, 4.0), (1.5, 1.0)),
    ),
)
