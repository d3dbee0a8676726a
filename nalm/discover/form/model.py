"""A form on rows: parameters that enter linearly are solved for, the others start from many random points."""

import copy
from collections.abc import Callable, Mapping, Sequence
from typing import Self

import numpy as np
import sympy
from numpy.typing import NDArray
from scipy import optimize

from nalm.discover.form.calculation import Calculation, without_overflow
from nalm.discover.form.text import Form, exchangeable, symbol
from nalm.discover.grouped.joint import SHARP
from nalm.discover.law.expression import Array
from nalm.errors import NALMError

DRAWN, REFINED = 400, 12  # random starts for each nonlinear parameter; how many of them are refined,
AGAIN, REFINED_AGAIN = 150, 6  # the same around the best fit so far,
PATIENCE = 3  # until that stays the best so many times
WIDE = 2.0  # decades up and down, of starts
COPIED = 4  # starts of a term near another one of the same form,
NEAR = 0.3  # and how far away they are, as a share of its parameters
POLISHED = 20  # steps of Gauss-Newton at the end


class FormModel:
    """A form on rows: residuals and slopes as functions of its parameters."""

    def __init__(self, form: Form, x: Array, target: Array, weight: Array):
        self.x, self.target, self.weight = x, target, weight
        parameters = [symbol(n) for n in form.parameters]
        columns = [symbol(n) for n in form.columns]
        expression = without_overflow(form.expression)
        slopes = [sympy.diff(expression, p) for p in parameters]
        self._calculation = Calculation([expression, *slopes], [*columns, *parameters])
        self.linear: list[int] = []
        for i, slope in enumerate(slopes):
            taken = {parameters[i], *(parameters[j] for j in self.linear)}
            if not slope.free_symbols & taken:
                self.linear.append(i)
        self.bent = [i for i in range(len(parameters)) if i not in self.linear]
        self.count, self.names = len(parameters), form.parameters
        self.alike = exchangeable(form)

    def __len__(self) -> int:
        return len(self.target)

    def taken(self, pick: NDArray[np.int_]) -> Self:
        """Return the form on some of the rows."""
        found = copy.copy(self)
        found.x, found.target, found.weight = self.x[pick], self.target[pick], self.weight[pick]
        return found

    def values(self, p: Array) -> Array:
        """Return the value and the slopes, (1 + parameters, rows), times the weight of each row."""
        with np.errstate(all="ignore"):
            parts = self._calculation.run([*self.x.T, *p])
            return np.stack([self.weight * (np.zeros(len(self.x)) + part) for part in parts])

    def residual(self, p: Array) -> Array:
        """Return the weighted residual."""
        return np.asarray(self.weight * self.target - self.values(p)[0])

    def slopes(self, p: Array) -> Array:
        """Return the weighted slopes of the law, (rows, parameters)."""
        return np.asarray(self.values(p)[1:].T)

    def completed(self, bent: Array) -> tuple[Array, Array]:
        """Solve for the linear parameters; return all parameters and the residual."""
        p = np.zeros(self.count)
        p[self.bent] = bent
        now = self.values(p)
        rest = self.weight * self.target - now[0]
        if not self.linear:
            return p, rest
        basis = now[1:][self.linear].T
        if not np.isfinite(basis).all() or not np.isfinite(rest).all():
            return p, np.full(len(rest), np.inf)
        size = np.sqrt((basis**2).sum(0))
        size = np.where((size > 0) & np.isfinite(size), size, 1.0)
        w = np.linalg.lstsq(basis / size, rest, rcond=1e-12)[0]
        p[self.linear] = w / size
        return p, rest - (basis / size) @ w

    def projected(self, bent: Array) -> Array:
        """Return the residual with the linear parameters solved for; large numbers where there is no value."""
        return np.nan_to_num(self.completed(bent)[1], nan=1e150, posinf=1e150, neginf=-1e150)

    def solved(self, start: Mapping[str, float] | None, rng: np.random.Generator) -> Array:
        """Return the parameters of the least sum of squares."""
        if not self.bent:
            return self.polished(self.completed(np.empty(0))[0])
        with np.errstate(all="ignore"):
            best, least = np.zeros(self.count), np.inf
            if start is not None:
                best, least = self.nearest([np.array([float(start[self.names[i]]) for i in self.bent])])
            if not np.isfinite(least):  # no start, or one at which the form overflows
                best, least = self.nearest(self.screened(self.drawn(rng, DRAWN), REFINED, rng))
                unchanged = 0
                while unchanged < PATIENCE and np.isfinite(least):
                    trials = self.drawn(rng, AGAIN)
                    share = rng.choice([1 - 1 / max(len(self.bent), 2), 0.5], (len(trials), 1))
                    kept = rng.random(trials.shape) < share
                    trials = np.where(kept, best[self.bent], trials)
                    near = self.copied(best[self.bent], rng)
                    other, total = self.nearest([*self.screened(trials, REFINED_AGAIN, rng), *near])
                    unchanged = 0 if total < (1 - 1e-6) * least else unchanged + 1
                    best, least = (other, total) if total < least else (best, least)
            best = self.ordered(self.positive(best, least))
        if not np.isfinite(least):
            raise NALMError("The form has no value on the rows: give start values, or check the form.")
        return self.polished(best)

    def nearest(self, starts: Sequence[Array]) -> tuple[Array, float]:
        """Return the parameters of the least sum of squares near these starts, and that sum."""
        best, least = np.zeros(self.count), np.inf
        for bent in starts:
            p, r = self.completed(_least(self.projected, bent))
            if float(r @ r) < least:
                best, least = p, float(r @ r)
        return best, least

    def positive(self, p: Array, least: float) -> Array:
        """Make parameters positive whose sign does not matter, such as the width of a peak."""
        for i in self.bent:
            if p[i] < 0:
                q = p.copy()
                q[i] = -q[i]
                q, r = self.completed(q[self.bent])
                p = q if float(r @ r) <= least * (1 + 1e-9) else p
        return p

    def copied(self, bent: Array, rng: np.random.Generator) -> list[Array]:
        """Return starts in which two terms of the same form are near one of them: two peaks may overlap."""
        place = {i: n for n, i in enumerate(self.bent)}
        starts = []
        for terms in (terms for terms in self.alike for _ in range(COPIED)):
            start = bent.copy()
            one, other = rng.choice(len(terms), 2, replace=False)
            for i, j in zip(terms[one], terms[other], strict=True):
                if i in place and j in place:
                    start[[place[i], place[j]]] = bent[place[i]] * (1 + NEAR * rng.standard_normal(2))
            starts.append(start)
        return starts

    def ordered(self, p: Array) -> Array:
        """Sort terms of the same form by their first parameter that is not linear."""
        for terms in self.alike:
            first = next((k for k, i in enumerate(terms[0]) if i in self.bent), 0)
            order = sorted(terms, key=lambda term: float(p[term[first]]))
            p = p.copy()
            p[np.ravel(terms)] = p[np.ravel(order)]
        return p

    def screened(self, starts: Array, few: int, rng: np.random.Generator) -> list[Array]:
        """Return starts with small sums of squares: the best, and as many of the best tenth, which are less alike."""
        costs = [float(np.sum(np.square(self.projected(s)))) for s in starts]
        order = np.argsort(costs)[: max(len(starts) // 10, few)]
        others = rng.choice(order[few // 2 :], few - few // 2, replace=False)
        return [starts[i] for i in (*order[: few // 2], *others)]

    def drawn(self, rng: np.random.Generator, each: int) -> Array:
        """Draw starts: numbers, multiples and parts of a column's scale, and places in it."""
        size = np.abs(self.x).max(0)
        columns = rng.integers(self.x.shape[1], size=(each * len(self.bent), len(self.bent)))
        wide = 10 ** rng.uniform(-WIDE, WIDE, columns.shape)
        scale = np.where(size > 0, size, 1.0)[columns]
        low, high = self.x.min(0)[columns], self.x.max(0)[columns]
        kinds = rng.integers(4, size=columns.shape)
        options = [wide, wide * scale, wide / scale, rng.uniform(low, high)]
        signs = np.where((kinds < 3) & (rng.random(columns.shape) < 0.3), -1.0, 1.0)
        return np.asarray(signs * np.choose(kinds, options))

    def polished(self, p: Array) -> Array:
        """Take Gauss-Newton steps in all parameters as long as they help."""
        r = self.residual(p)
        for _ in range(POLISHED):
            slopes = self.slopes(p)
            if not np.isfinite(slopes).all():
                break
            size = np.sqrt((slopes**2).sum(0))
            size = np.where(size > 0, size, 1.0)
            step = np.linalg.lstsq(slopes / size, r, rcond=1e-15)[0] / size
            then = self.residual(p + step)
            if not float(then @ then) < float(r @ r):
                break
            p, r = p + step, then
        return p


def _least(residual: Callable[[Array], Array], start: Array) -> Array:
    try:
        found = optimize.least_squares(
            residual, start, method="lm", x_scale="jac", xtol=SHARP, ftol=SHARP, gtol=SHARP, max_nfev=300
        )
    except (ValueError, np.linalg.LinAlgError):
        return start
    return np.asarray(found.x)
