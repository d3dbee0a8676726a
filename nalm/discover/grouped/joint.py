"""One model on several groups of rows: which parameters all groups share, and which each group has of its own."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray
from scipy import optimize

from nalm.discover.law.expression import Array

SHARP = 1e-15  # of steps and of the sum of squares, when a fit ends
LARGE = 1e150  # stands for a residual without a value
COARSE = 1e-7  # the same of a trial
STEP = 1e-6  # of a number: half the distance between two values of a slope
STEPS, TRIED = 200, 25  # evaluations of a fit, and of a trial
Shared = frozenset[int]  # places of the parameters that are shared


class OneGroup(Protocol):
    """A law on the rows of one group, as a function of its parameters."""

    @property
    def count(self) -> int:
        """The number of parameters."""
        ...

    def residual(self, p: Array) -> Array:
        """Return what the law leaves of each row, over the size of the noise."""
        ...

    def slopes(self, p: Array) -> Array:
        """Return the slopes of the law, over the size of the noise, (rows, parameters)."""
        ...

    def taken(self, pick: NDArray[np.int_]) -> Self:
        """Return the law on some of the rows."""
        ...

    def __len__(self) -> int:
        """Return the number of rows."""
        ...


@dataclass(frozen=True)
class JointFit:
    """A fit of all groups: which parameters are shared, a row of parameters per group, and its score."""

    shared: Shared
    table: Array  # (groups, parameters)
    score: float  # -2 log likelihood and the price of the numbers: the smallest is best
    square: float  # the mean square of the residual


class Joint:
    """The models of all groups with some parameters in common.

    The noise has one size in all groups, unless it is given: then the residuals are in units of it. ``offset`` is what
    the likelihood of y adds to that of the residuals.
    """

    def __init__(self, models: Sequence[OneGroup], offset: float = 0.0, given: bool = False):
        self.models, self.offset, self.given = models, offset, given
        self.count = models[0].count

    def places(self, shared: Iterable[int]) -> tuple[NDArray[np.int_], int]:
        """Return the place of each parameter of each group in the vector of all numbers, and their number."""
        common = set(shared)
        places, last = np.zeros((len(self.models), self.count), int), 0
        for i in range(self.count):
            places[:, i] = last if i in common else last + np.arange(len(self.models))
            last += 1 if i in common else len(self.models)
        return places, last

    def residual(self, p: Array, places: Any) -> Array:
        """Return the residuals of all groups."""
        parts = [m.residual(p[place]) for m, place in zip(self.models, places, strict=True)]
        return np.clip(np.nan_to_num(np.concatenate(parts), nan=LARGE), -LARGE, LARGE)

    def slopes(self, p: Array, places: Any) -> Array:
        """Return the slopes of all groups in all numbers."""
        parts = [
            np.nan_to_num(m.slopes(p[place]), nan=0.0, posinf=0.0, neginf=0.0)
            for m, place in zip(self.models, places, strict=True)
        ]
        found, row = np.zeros((sum(map(len, parts)), len(p))), 0
        for part, place in zip(parts, places, strict=True):
            found[row : row + len(part), place] = part
            row += len(part)
        return found

    def fit(self, shared: Shared, start: Array, sharp: bool = True) -> JointFit:
        """Fit all numbers from a row of starts per group; a shared one starts from their median."""
        near = SHARP if sharp else COARSE
        places, count = self.places(shared)
        p = np.zeros(count)
        for i in range(self.count):
            p[places[:, i]] = np.median(start[:, i]) if i in shared else start[:, i]
        with np.errstate(all="ignore"):
            rows = len(self.residual(p, places))
            if not count or rows <= count:
                r = self.residual(p, places)
                return JointFit(shared, p[places], self.score(r, count), float(np.mean(r**2)))
            found = optimize.least_squares(
                lambda q: -self.residual(q, places),
                p,
                jac=lambda q: self.slopes(q, places),
                method="lm",
                x_scale="jac",
                xtol=near,
                ftol=near,
                gtol=near,
                max_nfev=STEPS if sharp else TRIED,
            )
            r = np.asarray(found.fun)
            return JointFit(shared, found.x[places], self.score(r, count), float(np.mean(r**2)))

    def score(self, r: Array, count: int) -> float:
        """Return -2 log likelihood + k log n + 2 k (k + 1)/(n - k - 1); k counts numbers and the size of the noise."""
        n, k = len(r), count + (not self.given)
        square = float(np.mean(r**2))
        if n - k - 1 <= 0 or not square < LARGE:
            return np.inf
        misfit = n * (square - 1) if self.given else n * float(np.log(square + 1e-300))
        return misfit + self.offset + k * float(np.log(n)) + 2 * k * (k + 1) / (n - k - 1)

    def told_apart(self, start: Array) -> JointFit:
        """Choose which parameters are shared: one after another becomes shared, or own, as long as the score falls.

        At first all are own or, if the rows are too few for that, shared.
        """
        everything = frozenset(range(self.count))
        first = self.fit(frozenset(), start, sharp=False)
        if not np.isfinite(first.score):
            first = self.fit(everything, start, sharp=False)
        best = self._improved(first, everything)
        return self.fit(best.shared, best.table)

    def _improved(self, best: JointFit, everything: Shared) -> JointFit:
        while True:
            trials = [self.fit(best.shared ^ {i}, best.table, sharp=False) for i in sorted(everything)]
            better = min(trials, key=lambda f: f.score, default=best)
            if not better.score < best.score:
                return best
            best = better

    def redrawn(self, fit: JointFit, draws: int, seed: int) -> Array:
        """Draw the rows of each group again, with repetition, and return all numbers of each fit, (draws, numbers)."""
        rng = np.random.default_rng(seed)
        found = []
        for _ in range(draws):
            models = [m.taken(np.sort(rng.integers(len(m), size=len(m)))) for m in self.models]
            again = Joint(models, self.offset, self.given).fit(fit.shared, fit.table)
            found.append(self.vector(again))
        return np.array(found)

    def vector(self, fit: JointFit) -> Array:
        """Return all numbers of a fit, each once."""
        places, count = self.places(fit.shared)
        p = np.zeros(count)
        p[places] = fit.table
        return p

    def spread(self, fit: JointFit, scatter: float) -> tuple[Array, NDArray[np.int_]]:
        """Return a root of the covariance of all numbers, (numbers, directions), and the place of each parameter."""
        places, _ = self.places(fit.shared)
        return scatter * unit_spread(self.slopes(self.vector(fit), places)), places


def slopes_of(residual: Callable[[Array], Array], p: Array) -> Array:
    """Return the slopes of a law from its residuals, whose weights may change with its numbers."""
    columns = []
    for i in range(len(p)):
        ends = [p.copy(), p.copy()]
        step = STEP * (abs(p[i]) or 1.0)
        ends[0][i] += step
        ends[1][i] -= step
        columns.append((residual(ends[1]) - residual(ends[0])) / (2 * step))
    return np.stack(columns, 1)


def unit_spread(slopes: Array) -> Array:
    """Return a root of the covariance of the parameters for noise of size 1, (parameters, directions)."""
    size = np.sqrt((slopes**2).sum(0))
    size = np.where(size > 0, size, 1.0)
    _, singular, right = np.linalg.svd(slopes / size, full_matrices=False)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.nan_to_num((right.T / singular) / size[:, None], nan=np.inf)
