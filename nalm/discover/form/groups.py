"""One form, several data sets: which parameters all groups share, and which each group has of its own."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import optimize, stats

from nalm.discover.form.fit import SHARP, FormModel, fit_form, unit_spread
from nalm.discover.form.text import read_form
from nalm.discover.law.expression import Array
from nalm.discover.selection.intervals import LEVEL, FittedNumber
from nalm.errors import NALMError


@dataclass(frozen=True)
class GroupFit:
    """The parameters that all groups share, and those of each group, with standard errors and 95% intervals."""

    shared: dict[str, FittedNumber]
    own: dict[Any, dict[str, FittedNumber]]  # by group
    scatter: float  # standard deviation of what is left, over all groups
    score: float  # n log(mean square) and the price of the numbers: the smallest is best

    def values(self, group: Any) -> dict[str, float]:
        """Return all parameters of one group."""
        numbers: Mapping[str, FittedNumber] = {**self.shared, **self.own[group]}
        return {name: number.value for name, number in numbers.items()}


def fit_groups(
    text: str,
    x: Array,
    y: Array,
    names: Sequence[str],
    groups: Sequence[Any],
    *,
    shared: Sequence[str] | None = None,
    seed: int = 0,
) -> GroupFit:
    """Fit a form to groups of rows; the evidence decides which parameters are shared, unless ``shared`` names them.

    The groups are first fitted one by one. Then one parameter after the other becomes a shared one, all others being
    fitted again, as long as the score falls: n log(mean square) + k log n + 2 k (k + 1)/(n - k - 1) with k numbers.

    >>> x = np.tile(np.linspace(1, 4, 8), 2)[:, None]
    >>> which = np.repeat(["old", "new"], 8)
    >>> y = np.where(which == "old", 2.0, 5.0) * np.exp(-0.5 * x[:, 0]) + 0.01 * np.sin(9 * x[:, 0])
    >>> found = fit_groups("a*exp(-k*x)", x, y, ["x"], which)
    >>> sorted(found.shared), {g: round(p["a"].value, 1) for g, p in found.own.items()}
    (['k'], {'old': 2.0, 'new': 5.0})
    """
    form, labels = read_form(text, names), np.asarray(groups)
    if labels.shape != y.shape:
        raise NALMError(f"groups needs one label for each of {len(y)} rows, got the shape {labels.shape}.")
    if unknown := [n for n in shared or () if n not in form.parameters]:
        raise NALMError(f"The form has no parameter {unknown[0]}. Known: {', '.join(form.parameters)}.")
    kinds = list(dict.fromkeys(labels.tolist()))
    rows = [np.flatnonzero(labels == g) for g in kinds]
    if small := [g for g, r in zip(kinds, rows, strict=True) if len(r) <= len(form.parameters)]:
        raise NALMError(f"Group {small[0]} has too few rows for {len(form.parameters)} parameters: add some.")
    target = np.log(y) if form.of_logarithm else y
    models = [FormModel(form, x[r], target[r], np.ones(len(r))) for r in rows]
    alone = [fit_form(text, x[r], y[r], names, seed=seed).values for r in rows]
    start = np.array([[values[n] for n in form.parameters] for values in alone])
    joint = _Joint(models, rows, len(y))
    if shared is not None:
        chosen = frozenset(form.parameters.index(n) for n in shared)
        best = joint.fit(chosen, start)
    else:
        chosen = frozenset[int]()
        best = joint.fit(chosen, start)
        while len(chosen) < len(form.parameters):
            trials = [chosen | {i} for i in range(len(form.parameters)) if i not in chosen]
            found = [joint.fit(trial, best[1]) for trial in trials]
            k = min(range(len(found)), key=lambda j: found[j][0])
            if not found[k][0] < best[0]:
                break
            chosen, best = trials[k], found[k]
    score, table = best
    return joint.described(chosen, table, score, form.parameters, kinds)


class _Joint:
    """The models of all groups with some parameters in common; a table of parameters has a row for each group."""

    def __init__(self, models: list[FormModel], rows: list[Any], n: int):
        self.models, self.rows, self.n = models, rows, n
        self.count = models[0].count

    def _places(self, shared: Iterable[int]) -> tuple[Any, int]:
        """Return the place of each parameter of each group in the vector of all numbers, and their number."""
        places, last = np.zeros((len(self.models), self.count), int), 0
        for i in range(self.count):
            common = i in set(shared)
            places[:, i] = last if common else last + np.arange(len(self.models))
            last += 1 if common else len(self.models)
        return places, last

    def _residual(self, p: Array, places: Any) -> Array:
        parts = [m.residual(p[place]) for m, place in zip(self.models, places, strict=True)]
        return np.nan_to_num(np.concatenate(parts), nan=1e150, posinf=1e150, neginf=-1e150)

    def _slopes(self, p: Array, places: Any) -> Array:
        found, row = np.zeros((self.n, len(p))), 0
        for m, place in zip(self.models, places, strict=True):
            slopes = np.nan_to_num(m.slopes(p[place]))
            found[row : row + len(slopes), place] = slopes
            row += len(slopes)
        return found

    def fit(self, shared: frozenset[int], start: Array) -> tuple[float, Array]:
        """Fit all numbers from a table of starts; return the score and the table."""
        places, count = self._places(shared)
        p = np.zeros(count)
        for i in range(self.count):
            middle = np.median(start[:, i])
            p[places[:, i]] = middle if i in shared else start[:, i]
        found = optimize.least_squares(
            lambda q: -self._residual(q, places),
            p,
            jac=lambda q: self._slopes(q, places),
            method="lm",
            x_scale="jac",
            xtol=SHARP,
            ftol=SHARP,
            gtol=SHARP,
        )
        square, k = 2 * float(found.cost) / self.n, count + 1
        if self.n - k - 1 <= 0:
            return np.inf, found.x[places]
        small = 2 * k * (k + 1) / (self.n - k - 1)
        return float(self.n * np.log(square + 1e-300) + k * np.log(self.n) + small), found.x[places]

    def described(
        self, shared: frozenset[int], table: Array, score: float, names: Sequence[str], kinds: Sequence[Any]
    ) -> GroupFit:
        """Return the numbers by name, with their intervals."""
        places, count = self._places(shared)
        p = np.zeros(count)
        p[places] = table
        r, left = self._residual(p, places), max(self.n - count, 1)
        scatter = float(np.sqrt(r @ r / left))
        errors = scatter * np.sqrt(np.square(unit_spread(self._slopes(p, places))).sum(1))
        wide = float(stats.t.ppf(0.5 + LEVEL / 2, left))

        def number(i: int, place: int) -> FittedNumber:
            v, e = float(p[place]), float(errors[place])
            return FittedNumber(v, e, v - wide * e, v + wide * e, names[i])

        common = {names[i]: number(i, places[0, i]) for i in sorted(shared)}
        own = {
            g: {names[i]: number(i, places[j, i]) for i in range(self.count) if i not in shared}
            for j, g in enumerate(kinds)
        }
        return GroupFit(common, own, scatter, score)
