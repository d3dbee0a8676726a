"""Sixty nested algebraic formulas of 4 to 9 operations and 1 to 5 columns, drawn from a fixed seed.

The generator was written before the search that is measured on it, and it knows nothing about that search.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np

from nalm.discover.law import Law
from nalm.discover.law.expression import Array, Input, Node, Power, Sum, evaluate, used
from nalm.discover.law.tidy import tidied

SEED, COUNT = 20230, 60
OPERATIONS, COLUMNS = range(4, 10), range(1, 6)
DRAWN = {"add": 0.30, "subtract": 0.15, "multiply": 0.28, "divide": 0.15, "root": 0.06, "square": 0.06}
UNARY = ("root", "square")
CONSTANT = 0.15  # probability that a leaf is a number
RANGES = {(1.0, 5.0): 0.5, (0.2, 2.0): 0.25, (-3.0, 3.0): 0.25}
ROWS, STRETCHED = 500, 1.2  # of a table; factor of the ranges on which a law is judged
LEAST = 0.05  # smallest denominator over its median: there is no pole in the data
MATTERS = 0.01  # share of the spread of y that shuffling a column must change

Leaf = float | Node


@dataclass(frozen=True)
class Formula:
    """One formula with the ranges of its columns and the seed of its rows."""

    number: int
    operations: int
    node: Node
    ranges: tuple[tuple[float, float], ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(f"x{i + 1}" for i in range(len(self.ranges)))

    def __str__(self) -> str:
        return Law(self.node, self.names).python()

    def table(self) -> tuple[Array, Array]:
        """Return the rows to search on."""
        x = sample(np.random.default_rng([SEED, self.number, 1]), self.ranges, ROWS)
        return x, evaluate(self.node, x)

    def judged(self) -> tuple[Array, Array]:
        """Return rows of wider ranges on which a law is compared with the formula: those where it has a value."""
        wide = tuple(_stretched(*r) for r in self.ranges)
        x = sample(np.random.default_rng([SEED, self.number, 2]), wide, ROWS)
        with np.errstate(all="ignore"):
            y = evaluate(self.node, x)
        fine = np.isfinite(y) & (np.abs(y) < 1e6)
        return x[fine], y[fine]


def _stretched(low: float, high: float) -> tuple[float, float]:
    return (low / STRETCHED if low > 0 else low * STRETCHED), high * STRETCHED


def sample(rng: np.random.Generator, ranges: tuple[tuple[float, float], ...], rows: int) -> Array:
    """Draw rows uniformly from these ranges."""
    return np.stack([rng.uniform(low, high, rows) for low, high in ranges], 1)


@cache
def formulas() -> tuple[Formula, ...]:
    """Return the formulas: every number of operations equally often, every number of columns equally often."""
    return tuple(_drawn())


def _drawn() -> Iterator[Formula]:
    rng = np.random.default_rng(SEED)
    seen: set[str] = set()
    for number in range(COUNT):
        operations = OPERATIONS[number % len(OPERATIONS)]
        columns = COLUMNS[(number // len(OPERATIONS)) % len(COLUMNS)]
        while True:
            tree = _grown(rng, operations, columns)
            which = rng.choice(len(RANGES), columns, p=list(RANGES.values()))
            ranges = tuple(list(RANGES)[i] for i in which)
            if tree is None or isinstance(tree, float) or len(used(tree)) < columns or not _nested(tree):
                continue
            formula = Formula(number, operations, tree, ranges)
            text = str(Law(tree, formula.names))
            fair = _operations(tree, formula.names) >= operations and _usable(tree, ranges, rng)
            if fair and text not in seen:
                seen.add(text)
                yield formula
                break


def _grown(rng: np.random.Generator, operations: int, columns: int) -> Leaf | None:
    """Draw a tree with so many operations, or return None if one of them would have two equal sides."""
    if operations == 0:
        if rng.random() < CONSTANT:
            return float(rng.integers(1, 6)) if rng.random() < 0.5 else round(float(rng.uniform(0.5, 5)), 2)
        return Input(int(rng.integers(columns)))
    name = str(rng.choice(list(DRAWN), p=list(DRAWN.values())))
    if name in UNARY:
        inner = _grown(rng, operations - 1, columns)
        return None if inner is None else _applied(name, inner)
    left = int(rng.integers(operations))
    a, b = _grown(rng, left, columns), _grown(rng, operations - 1 - left, columns)
    return None if a is None or b is None or a == b else _joined(name, a, b)


def _applied(name: str, a: Leaf) -> Leaf:
    exponent = 0.5 if name == "root" else 2.0
    return float(a**exponent) if isinstance(a, float) else Power((a,), (exponent,))


def _joined(name: str, a: Leaf, b: Leaf) -> Leaf:
    """Apply an operation to two trees; two numbers become one."""
    if isinstance(a, float) and isinstance(b, float):
        return {"add": a + b, "subtract": a - b, "multiply": a * b, "divide": a / b if b else 0.0}[name]
    if name in ("add", "subtract"):
        sign = 1.0 if name == "add" else -1.0
        if isinstance(b, float):
            return Sum((a,), (1.0,), sign * b)  # type: ignore[arg-type]
        return Sum((b,), (sign,), a) if isinstance(a, float) else Sum((a, b), (1.0, sign))
    exponent = 1.0 if name == "multiply" else -1.0
    if isinstance(b, float):
        return Sum((a,), (b**exponent if b else 0.0,))  # type: ignore[arg-type]
    if isinstance(a, float):
        return Power((b,), (exponent,), a)
    return Power((a, b), (1.0, exponent))


def _nested(node: Node) -> bool:
    """Return whether there is a sum in a product in a sum, or a product in a sum in a product."""

    def depth(n: Node) -> int:
        inner = n.terms if isinstance(n, Sum) else n.factors if isinstance(n, Power) else ()
        return 0 if isinstance(n, Input) else 1 + max(map(depth, inner), default=0)

    return depth(tidied(node)) >= 3


def _operations(node: Node, names: tuple[str, ...]) -> int:
    """Count the operations that are left after SymPy has joined equal terms and factors."""
    return int(Law(node, names).sympy().count_ops())


def _usable(node: Node, ranges: tuple[tuple[float, float], ...], rng: np.random.Generator) -> bool:
    """Return whether a formula has moderate values, no pole on its ranges, and depends on every column."""
    x = sample(rng, ranges, 2000)
    with np.errstate(all="ignore"):
        y = evaluate(node, x)
        spread = float(np.std(y))
        if not np.isfinite(y).all() or not 1e-2 < spread < 1e5 or not all(_regular(node, x)):
            return False
        for i in range(len(ranges)):
            other = x.copy()
            other[:, i] = rng.permutation(x[:, i])
            changed = evaluate(node, other)
            if not np.isfinite(changed).all() or not np.std(changed - y) > MATTERS * spread:
                return False
    return True


def _regular(node: Node, x: Array) -> Iterator[bool]:
    """Yield for every denominator whether it stays away from zero."""
    for inner in node.terms if isinstance(node, Sum) else node.factors if isinstance(node, Power) else ():
        yield from _regular(inner, x)
    if isinstance(node, Power):
        for f, p in zip(node.factors, node.exponents, strict=True):
            if p < 0:
                size = np.abs(evaluate(f, x))
                yield bool(size.min() > LEAST * np.median(size))
