"""The pool of a general search: expressions from the bottom up, each made of two others, evaluated in batches."""

from collections.abc import Callable, Iterator
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from nalm.discover.law.expression import Array, Input, Mask, Node, Power, Sum
from nalm.discover.law.tidy import tidied

Places = NDArray[np.intp]
ONE = -1  # stands for the number 1 among the inputs
JOINS: tuple[Callable[[Node, Node], Node], ...] = (
    lambda a, b: Sum((a, b), (1.0, 1.0)),
    lambda a, b: Sum((a, b), (1.0, -1.0)),
    lambda a, b: Power((a, b), (1.0, 1.0)),
    lambda a, b: Power((a, b), (1.0, -1.0)),
    lambda a, b: Power((b, a), (1.0, -1.0)),
    lambda a, b: Power((a,), (2.0,)),
    lambda a, b: Power((a,), (0.5,)),
)
PAIRED, SQUARE, ROOT = 5, 5, 6  # joins of two expressions come first
STEEPEST = 1e5  # largest size over the median: steeper expressions have a pole in the data
BLOCK = 20_000  # expressions that are made at once


class Pool:
    """Expressions by the number of their operations, no two in proportion to each other on the rows."""

    def __init__(self, x: Array, columns: list[int]):
        leaves = np.concatenate([x[:, columns].T, np.ones((1, len(x)))])
        self.values: Array = leaves
        self.inputs = [*columns, ONE]
        none = np.zeros(len(leaves), np.intp)
        self.joins, self.left, self.right = none - 1, none, none
        self.ends = [len(leaves)]  # of the expressions with 0, 1, ... operations
        mixed = np.random.default_rng(0).standard_normal((3, len(x)))
        self._marks = mixed
        self._seen: set[int] = set(_hashed(leaves, mixed).tolist())

    def __len__(self) -> int:
        return len(self.values)

    def level(self, operations: int) -> Places:
        """Return the indices of the expressions with so many operations."""
        start = self.ends[operations - 1] if operations else 0
        return np.arange(start, self.ends[operations])

    def grow(self, most: int, check: Callable[[], None]) -> bool:
        """Add the expressions with one operation more, up to ``most`` in all; return whether all of them fit."""
        level = len(self.ends)
        values, made = [self.values], [(self.joins, self.left, self.right)]
        count, whole = len(self), True
        for joins, left, right in self._pairs(level):
            check()
            new = _joined(self.values, joins, left, right)
            fresh = self._fresh(new)
            values.append(new[fresh])
            made.append((np.full(len(fresh), joins), left[fresh], right[fresh]))
            count += len(fresh)
            if count > most:
                whole = False
                break
        self.values = np.concatenate(values)
        self.joins, self.left, self.right = (np.concatenate(part) for part in zip(*made, strict=True))
        self.ends.append(len(self.values))
        return whole

    def _pairs(self, level: int) -> Iterator[tuple[int, Places, Places]]:
        """Yield the joins that give so many operations, in blocks: each with the two sides."""
        before = self.level(level - 1)
        for join in (SQUARE, ROOT):
            yield join, before, before
        for one in range(level):
            other = level - 1 - one
            if one < other:
                continue
            a, b = self.level(one), self.level(other)
            step = max(1, BLOCK // max(len(b), 1))
            for start in range(0, len(a), step):
                left, right = (g.ravel() for g in np.meshgrid(a[start : start + step], b, indexing="ij"))
                if one == other:
                    left, right = left[left < right], right[left < right]
                for join in range(PAIRED):
                    yield join, left, right

    def _fresh(self, values: Array) -> Places:
        """Return the first of the new expressions with each hash, without those that have a pole or are constant."""
        size = np.abs(values)
        with np.errstate(all="ignore"):
            middle = np.median(size, 1)
            fine: Mask = np.isfinite(values).all(1) & (size.max(1) < STEEPEST * middle) & (middle > 1e-100)
            fine &= np.ptp(values, 1) > 1e-9 * size.max(1)
        places = np.flatnonzero(fine)
        hashes, first = np.unique(_hashed(values[places], self._marks), return_index=True)
        new = [i for h, i in zip(hashes.tolist(), first.tolist(), strict=True) if h not in self._seen]
        self._seen.update(hashes.tolist())
        return np.sort(places[np.array(new, np.intp)])

    def hashed(self, values: Array) -> NDArray[np.int64]:
        """Hash targets on the rows of the pool; those in proportion to each other have the same hash."""
        return _hashed(values, self._marks)

    def node(self, place: int) -> Node:
        """Return the expression at an index."""
        return tidied(self._node(int(place)))

    @lru_cache(maxsize=100_000)  # noqa: B019
    def _node(self, place: int) -> Node:
        join = int(self.joins[place])
        if join < 0:
            return Sum((), (), 1.0) if self.inputs[place] == ONE else Input(self.inputs[place])
        return JOINS[join](self._node(int(self.left[place])), self._node(int(self.right[place])))


def _joined(values: Array, join: int, left: Places, right: Places) -> Array:
    a, b = values[left], values[right]
    with np.errstate(all="ignore"):
        match join:
            case 0:
                return a + b
            case 1:
                return a - b
            case 2:
                return a * b
            case 3:
                return a / b
            case 4:
                return b / a
            case 5:
                return a * a
            case _:
                return np.sqrt(a)


def _hashed(values: Array, marks: Array) -> NDArray[np.int64]:
    """Hash expressions so that those in proportion to each other have the same hash, up to rounding."""
    with np.errstate(all="ignore"):
        a, b, c = (values @ m for m in marks)
        first, power = np.frexp(a / c)
        second, _ = np.frexp(b / c)
    whole = np.rint(np.nan_to_num(first) * 2**30).astype(np.int64) * 4096 + power
    return np.asarray(whole * 1_000_003 + np.rint(np.nan_to_num(second) * 2**30).astype(np.int64))
