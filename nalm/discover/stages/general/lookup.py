"""Look-up of targets in the pool: numbers that do not change when what is solved in closed form is added.

A target t is w B + u.x + b for an expression B of the pool, with any weights, only if the products of t and of B with
two vectors that are orthogonal to 1 and all x have the same ratio. So one number per target finds B among all.
"""

from dataclasses import dataclass

import numpy as np

from nalm.discover.law.expression import Array, Mask
from nalm.discover.stages.general.pool import Places

NEAR = 1e-7  # of two ratios that may be equal
FLAT = 1e-10  # share of its size that a target must keep beside the base
Hits = list[tuple[int, int]]  # index of the target; of the expression, -1 if the base alone is enough


def probes(base: Array, count: int = 3) -> Array:
    """Return vectors (count, rows) that are orthogonal to the columns of a base (rows, columns)."""
    size = np.sqrt((base**2).sum(0))
    basis, triangle = np.linalg.qr(base / np.where(size > 0, size, 1.0))
    basis = basis[:, np.abs(np.diag(triangle)) > 1e-10]
    vectors = np.random.default_rng(1).standard_normal((len(base), count))
    vectors -= basis @ (basis.T @ vectors)
    vectors -= basis @ (basis.T @ vectors)
    return np.asarray(np.linalg.qr(vectors)[0].T)


@dataclass
class Index:
    """The sorted ratios of the expressions of the pool that differ beside one base."""

    vectors: Array
    ratios: Array
    others: Array
    places: Places

    @classmethod
    def of(cls, values: Array, base: Array) -> "Index":
        """Build the index of all expressions (expressions, rows)."""
        vectors = probes(base)
        ratios, others, flat = _ratios(values, vectors)
        kept = np.flatnonzero(~flat & np.isfinite(ratios) & np.isfinite(others))
        marks = ratios[kept].astype(np.float32) + 1j * others[kept].astype(np.float32)
        kept = kept[np.unique(marks, return_index=True)[1]]  # of equal ones the simplest, which comes first
        order = kept[np.argsort(ratios[kept])]
        return cls(vectors, ratios[order], others[order], order)

    def find(self, targets: Array) -> Hits:
        """Return the targets (targets, rows) that an expression explains together with the base."""
        ratios, others, flat = _ratios(targets, self.vectors)
        hits = [(int(i), -1) for i in np.flatnonzero(flat)]
        if not len(self.ratios):
            return hits
        at = np.searchsorted(self.ratios, np.nan_to_num(ratios))
        for shift in (-1, 0):
            place = np.clip(at + shift, 0, len(self.ratios) - 1)
            equal = _equal(self.ratios[place], ratios) & _equal(self.others[place], others) & ~flat
            hits += [(int(i), int(self.places[place[i]])) for i in np.flatnonzero(equal)]
        return hits


def _equal(a: Array, b: Array) -> Mask:
    with np.errstate(all="ignore"):
        return np.asarray(np.abs(a - b) <= NEAR * (np.abs(a) + np.abs(b)))


def _ratios(values: Array, vectors: Array) -> tuple[Array, Array, Mask]:
    """Return two ratios of each row of values, and whether nothing of it is left beside the base."""
    with np.errstate(all="ignore"):
        a, b, c = (values @ v for v in vectors)
        size = np.sqrt((values**2).sum(1))
        flat = np.abs(a) + np.abs(b) + np.abs(c) < FLAT * size
        return a / c, b / c, np.asarray(flat & np.isfinite(size))


def explained(target: Array, columns: Array, values: Array) -> list[tuple[int, bool]]:
    """Return the expressions B with t (v.x + c) = u.x + b + w B, or t (v.x + c + w B) = u.x + b (then True).

    ``columns`` are the inputs (rows, inputs), ``values`` the pool (expressions, rows).
    """
    base = np.column_stack([np.ones(len(target)), columns, target[:, None] * columns])
    vectors = probes(base)
    if len(base) < base.shape[1] + 4:
        return []
    wanted, second, flat = _ratios(target[None], vectors)
    if flat[0]:
        return [(-1, False)]
    found = []
    for below in (False, True):
        seen = vectors * target if below else vectors
        with np.errstate(all="ignore"):
            a, b, c = (values @ v for v in seen)
            ratios, others = a / c, b / c
        equal = _equal(ratios, wanted) & _equal(others, second)
        found += [(int(i), below) for i in np.flatnonzero(equal)]
    return found


def paired(target: Array, columns: Array, values: Array, keep: int = 3) -> list[tuple[int, int]]:
    """Return pairs of expressions with t = u.x + b + w B + w' B', from one Gram matrix."""
    base = np.column_stack([np.ones(len(target)), columns])
    basis, _ = np.linalg.qr(base / np.sqrt((base**2).mean(0)))
    with np.errstate(all="ignore"):
        left = values - (values @ basis) @ basis.T
        norm = np.sqrt((left**2).sum(1))
        live = np.flatnonzero(norm > 1e-7 * np.sqrt((values**2).sum(1)))
    rest = target - basis @ (basis.T @ target)
    total = float(rest @ rest)
    if not total > 0 or not np.isfinite(total) or len(live) < 2:
        return []
    unit = left[live] / norm[live, None]
    against = unit @ rest
    gram = unit @ unit.T
    with np.errstate(all="ignore"):
        below = 1 - gram**2
        gain = (against[:, None] ** 2 - 2 * gram * np.outer(against, against) + against**2) / below
    gain[below < 1e-9] = 0.0
    best = np.argpartition(-gain.ravel(), min(2 * keep, gain.size - 1))[: 2 * keep]
    one, two = np.unravel_index(best, gain.shape)
    return [
        (int(live[i]), int(live[j]))
        for i, j in zip(one, two, strict=True)
        if i < j and 1 - gain[i, j] / total < 1e-10
    ]
