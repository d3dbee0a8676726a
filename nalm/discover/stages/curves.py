"""Curves of one column that recur in measurements: saturation, growth, peaks, and sums of decays and peaks."""

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from nalm.discover.fit.least_squares import UNSOLVABLE, refined
from nalm.discover.law.expression import (
    Array,
    Function,
    Input,
    Node,
    Power,
    Sum,
    evaluate,
    numbers,
    roles,
    substituted,
)
from nalm.discover.problem import Problem
from nalm.discover.stages.weights import even

FEWEST = 4  # rows
FEWEST_OF_SUM = 20  # rows for each part of a sum of decays and peaks
PARTS = 3  # of such a sum
STARTS = 3  # grid points from which the numbers of a curve are refined
STEPS = 60
LARGEST = 300.0  # an exponent, of a factor
RATES = tuple(s * d for d in (0.3, 0.7, 1.5, 3.0, 6.0, 12.0, 25.0) for s in (1, -1))  # over the range
STEEP = (1.0, 2.0, 4.0, 8.0, 16.0)
PLACES = tuple(np.linspace(-0.25, 1.25, 13).tolist())  # of a step, in the range
PEAKS = tuple((m, s) for m in np.linspace(0, 1, 21).tolist() for s in (0.05, 0.1, 0.2, 0.4))  # place, width

Grid = tuple[tuple[float, float], ...]


@dataclass(frozen=True)
class CurveFamily:
    """A function of one column with two numbers inside, times a number, perhaps beside another one."""

    grid: Grid  # the two numbers, for a column from 0 to 1
    part: Callable[[float, float, float, float], Node]  # of the lowest value, the range and the two numbers
    beside: bool = False
    of_logarithm: bool = False


def _exponential(low: float, wide: float, a: float, b: float) -> Node:
    return Function("exp", Sum((Input(0),), (a / wide,)))


def _rise(low: float, wide: float, a: float, b: float) -> Node:
    return Sum((_exponential(low, wide, a, b),), (-1.0,), 1.0)


def _growth(low: float, wide: float, a: float, b: float) -> Node:
    """Build the expression 1/(1 + exp(-a x - b)), with a number that can be fitted in place of b."""
    with np.errstate(over="ignore"):
        size = float(np.exp(np.clip(a * low / wide - b, -LARGEST, LARGEST)))
    return Power((Sum((_exponential(low, wide, -a, b),), (size,), 1.0),), (-1.0,))


def _peak(low: float, wide: float, a: float, b: float) -> Node:
    off = Power((Sum((Input(0),), (1.0,), -(low + a * wide)),), (2.0,))
    return Function("exp", Sum((off,), (-1 / (b * wide) ** 2,)))


def _out_of_logarithm(law: Node) -> Node:
    """Return exp(law), with the bias of the law as a factor."""
    if isinstance(law, Sum) and abs(law.bias) < LARGEST:
        law, factor = Sum(law.terms, law.weights), float(np.exp(law.bias))
        return Power((Function("exp", law),), (1.0,), factor)
    return Function("exp", law)


DECAYS: Grid = tuple((rate, 0.0) for rate in RATES)
STEPS_UP: Grid = tuple((s * a, -s * a * c) for a in STEEP for c in PLACES for s in (1, -1))
CURVES = (
    CurveFamily(DECAYS, _exponential, beside=True),  # c + d*exp(k*x)
    CurveFamily(DECAYS, _rise),  # c*(1 - exp(k*x))
    CurveFamily(STEPS_UP, _growth),  # c/(1 + d*exp(k*x))
    CurveFamily(STEPS_UP, _growth, beside=True),
    CurveFamily(DECAYS, _exponential, beside=True, of_logarithm=True),  # c*exp(d*exp(k*x))
    CurveFamily(PEAKS, _peak),  # c*exp(-(x - m)**2/s**2)
    CurveFamily(PEAKS, _peak, beside=True),
)
SUMMED = (CurveFamily(DECAYS, _exponential), CurveFamily(PEAKS, _peak))


def curves(problem: Problem) -> Iterator[Node]:
    """Propose curves with two to four numbers, where noise is admitted and one column is the only one.

    The numbers inside come from a grid, those that enter linearly are solved for, and all are refined together.
    Sums of up to three exponentials and peaks are built part by part, each the one that explains most of the rest.
    """
    if problem.noise == 0 or len(problem.columns) != 1 or len(problem.y) < FEWEST:
        return
    rows = _Rows(problem.x[:, problem.columns], problem.y, problem)
    for curve in CURVES:
        with contextlib.suppress(*UNSOLVABLE):
            yield from map(rows.named, rows.fits(curve))
    with contextlib.suppress(*UNSOLVABLE):
        yield from map(rows.named, rows.sums())


@dataclass(frozen=True)
class _Rows:
    """The rows of one column, on which curves are fitted."""

    x: Array
    y: Array
    problem: Problem

    @property
    def weight(self) -> Array:
        return np.ones(len(self.y)) if self.problem.error is None else self.problem.relative

    def named(self, node: Node) -> Node:
        """Return a curve as a law of the table's column."""
        return substituted(node, [Input(self.problem.columns[0])])

    def fits(self, curve: CurveFamily) -> Iterator[Node]:
        """Yield the best curve of a family."""
        target, weight = self.y, self.weight
        if curve.of_logarithm:
            if not (self.y > 0).all():
                return
            target, weight = np.log(self.y), weight * even(self.y, 0)
        starts = self.starts(curve, target, weight, [np.ones(len(target))] if curve.beside else [])
        best: tuple[float, Node] | None = None
        for part, w in starts:
            bias = float(w[-1]) if curve.beside else 0.0
            law: Node = Sum((part,), (float(w[0]),), bias)
            if isinstance(part, Power | Sum) and not curve.beside:
                law = Power((part,), (1.0,), float(w[0]))
            node, left = self.settled(law, target, weight)
            if best is None or left < best[0]:
                best = left, node
        if best is not None:
            yield _out_of_logarithm(best[1]) if curve.of_logarithm else best[1]

    def sums(self) -> Iterator[Node]:
        """Yield sums of exponentials and peaks, each with a part more than the one before."""
        law: Node | None = None
        parts: list[tuple[Node, float]] = []
        for count in range(2, PARTS + 1):
            if len(self.y) < FEWEST_OF_SUM * count:
                return
            found: list[tuple[float, Node]] = []
            tried = [parts] if parts else [[(part, float(w[0]))] for part, w in self.first()]
            for before in tried:
                value = sum(c * evaluate(p, self.x) for p, c in before)
                for curve in SUMMED:
                    for part, w in self.starts(curve, self.y - value, self.weight, []):
                        found.append(self.summed([*before, (part, float(w[0]))]))
            if not found:
                return
            _, law = min(found, key=lambda f: f[0])
            assert isinstance(law, Sum)
            parts = list(zip(law.terms, law.weights, strict=True))
            yield law
            yield from self.exchanged(parts)

    def exchanged(self, parts: list[tuple[Node, float]]) -> Iterator[Node]:
        """Yield the best sum with an exponential in place of one part: the flank of a wide peak is like one."""
        found: list[tuple[float, Node]] = []
        for j in range(len(parts)):
            others = parts[:j] + parts[j + 1 :]
            rest = self.y - sum(c * evaluate(p, self.x) for p, c in others)
            for part, w in self.starts(SUMMED[0], rest, self.weight, [])[:1]:
                found.append(self.summed([*others, (part, float(w[0]))]))
        if found:
            yield min(found, key=lambda f: f[0])[1]

    def summed(self, parts: list[tuple[Node, float]]) -> tuple[float, Node]:
        """Refine a sum of parts; return what it leaves, and the sum."""
        law = Sum(tuple(p for p, _ in parts), tuple(c for _, c in parts))
        node, left = self.settled(law, self.y, self.weight)
        return left, node

    def first(self) -> Iterator[tuple[Node, Array]]:
        """Yield the first parts to try: the best exponentials and peaks."""
        for curve in SUMMED:
            yield from self.starts(curve, self.y, self.weight, [])

    def starts(
        self, curve: CurveFamily, target: Array, weight: Array, beside: list[Array]
    ) -> list[tuple[Node, Array]]:
        """Return the curves of the grid that leave least, with the weights that are solved for."""
        low, wide = float(self.x.min()), float(np.ptp(self.x))
        found: list[tuple[float, int, Node, Array]] = []
        for n, (a, b) in enumerate(curve.grid):
            self.problem.check()
            node = curve.part(low, wide, a, b)
            values = np.stack([evaluate(node, self.x), *beside], 1) * weight[:, None]
            if not np.isfinite(values).all() or not np.abs(values).max() > 0:
                continue
            w = np.asarray(np.linalg.lstsq(values, weight * target, rcond=1e-12)[0], np.float64)
            found.append((float(np.sum((weight * target - values @ w) ** 2)), n, node, w))
        return [(node, w) for _, _, node, w in sorted(found, key=lambda f: f[:2])[:STARTS]]

    def settled(self, law: Node, target: Array, weight: Array) -> tuple[Node, float]:
        """Refine every number of a curve but exponents and ones; return it and what it leaves."""
        pairs = zip(numbers(law), roles(law), strict=True)
        free = np.array([role != "exponent" and abs(value) != 1 for value, role in pairs], bool)
        node, _ = refined(law, self.x, target, weight, free=free, steps=STEPS, check=self.problem.check)
        left = float(np.sum((weight * (target - evaluate(node, self.x))) ** 2))
        return node, left if np.isfinite(left) else np.inf
