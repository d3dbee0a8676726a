"""One form, several data sets: which parameters all groups share, and which each group has of its own."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nalm.discover.form.fit import fit_form, weights
from nalm.discover.form.model import FormModel
from nalm.discover.form.text import Form, read_form
from nalm.discover.grouped.joint import Joint, OneGroup, slopes_of
from nalm.discover.law.expression import Array
from nalm.discover.selection.bootstrap import intervals
from nalm.discover.selection.intervals import FittedNumber, quantile, rows_left
from nalm.discover.selection.rows import NoiseKind, Observations
from nalm.errors import NALMError


@dataclass(frozen=True)
class GroupFit:
    """The parameters that all groups share, and those of each group, with standard errors and 95% intervals."""

    form: Form
    shared: dict[str, FittedNumber]
    own: dict[Any, dict[str, FittedNumber]]  # by group
    scatter: float  # standard deviation of what is left, over all groups
    score: float  # n log(mean square) and the price of the numbers: the smallest is best
    left: int  # rows beyond the numbers
    spreads: dict[Any, Array] = field(repr=False)  # by group: a root of the covariance of its parameters

    def values(self, group: Any) -> dict[str, float]:
        """Return all parameters of one group."""
        numbers: Mapping[str, FittedNumber] = {**self.shared, **self.own[group]}
        return {name: numbers[name].value for name in self.form.parameters}


@dataclass(frozen=True)
class WithColumnErrors:
    """A form on the rows of one group whose columns have errors: weights change with its parameters."""

    form: Form
    rows: Observations

    @property
    def count(self) -> int:
        """The number of parameters."""
        return len(self.form.parameters)

    def __len__(self) -> int:
        return len(self.rows)

    def taken(self, pick: NDArray[np.int_]) -> "WithColumnErrors":
        """Return the form on some of the rows."""
        return replace(self, rows=self.rows.taken(pick))

    def residual(self, p: Array) -> Array:
        """Return what the form leaves, over the errors of y and what it makes of those of the columns."""
        node = self.form.node(dict(zip(self.form.parameters, p.tolist(), strict=True)))
        return self.rows.effective(node).residual(node)

    def slopes(self, p: Array) -> Array:
        """Return the slopes of the form, over the same errors."""
        return slopes_of(self.residual, p)


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

    >>> x = np.tile(np.linspace(1, 4, 8), 2)[:, None]
    >>> which = np.repeat(["old", "new"], 8)
    >>> y = np.where(which == "old", 2.0, 5.0) * np.exp(-0.5 * x[:, 0]) + 0.01 * np.sin(9 * x[:, 0])
    >>> found = fit_groups("a*exp(-k*x)", x, y, ["x"], which)
    >>> sorted(found.shared), {g: round(p["a"].value, 1) for g, p in found.own.items()}
    (['k'], {'old': 2.0, 'new': 5.0})
    """
    rows = Observations(x, y, NoiseKind.ADDITIVE, np.ones(len(y)))
    return fit_rows_of_groups(text, rows, names, groups, shared=shared, seed=seed)


def fit_rows_of_groups(
    text: str,
    rows: Observations,
    names: Sequence[str],
    groups: Sequence[Any],
    *,
    shared: Sequence[str] | None = None,
    seed: int = 0,
    bootstrap: int = 0,
) -> GroupFit:
    """Fit a form to groups of rows with their errors.

    The groups are first fitted one by one. Then one parameter after the other becomes a shared one, or an own one
    again, all others being fitted again, as long as the score of ``Joint`` falls. With a ``bootstrap`` the rows of each
    group are drawn again so often for the intervals.
    """
    form, labels = read_form(text, names), np.asarray(groups)
    if labels.shape != rows.y.shape:
        raise NALMError(f"groups needs one label for each of {len(rows)} rows, got the shape {labels.shape}.")
    if unknown := [n for n in shared or () if n not in form.parameters]:
        raise NALMError(f"The form has no parameter {unknown[0]}. Known: {', '.join(form.parameters)}.")
    kinds = list(dict.fromkeys(labels.tolist()))
    parts = [rows.taken(labels == g) for g in kinds]
    if small := [g for g, part in zip(kinds, parts, strict=True) if len(part) <= len(form.parameters)]:
        rows_of = int((labels == small[0]).sum())
        raise NALMError(
            f"Group {small[0]} has too few rows, {rows_of}, to fit {len(form.parameters)} parameters: add some, or "
            "leave the group out."
        )
    given = rows.noise == NoiseKind.GIVEN
    alone = [
        fit_form(text, part.x, part.y, names, error=part.error, absolute=given, seed=seed).values
        for part in parts
    ]
    start = np.array([[values[n] for n in form.parameters] for values in alone])
    joint = Joint([_model(form, part) for part in parts], given=given)
    if shared is None:
        best = joint.told_apart(start)
    else:
        best = joint.fit(frozenset(form.parameters.index(n) for n in shared), start)
    count = joint.places(best.shared)[1]
    left = max(len(rows) - count, 1)
    scatter = 1.0 if joint.given else float(np.sqrt(best.square * len(rows) / left))
    root, places = joint.spread(best, scatter)
    errors, wide = np.sqrt((root**2).sum(1)), quantile(rows_left(rows, count))
    draws = joint.redrawn(best, bootstrap, seed) if bootstrap else None

    def number(group: int, i: int) -> FittedNumber:
        v, e, name = float(best.table[group, i]), float(errors[places[group, i]]), form.parameters[i]
        if draws is None:
            return FittedNumber(v, e, v - wide * e, v + wide * e, name)
        (again,) = intervals(np.array([v]), list(draws[:, places[group, i], None]), bootstrap)
        return replace(again, name=name)

    common = {form.parameters[i]: number(0, i) for i in sorted(best.shared)}
    own = {
        g: {n: number(j, i) for i, n in enumerate(form.parameters) if i not in best.shared}
        for j, g in enumerate(kinds)
    }
    spreads = {g: root[places[j]] for j, g in enumerate(kinds)}
    return GroupFit(form, common, own, scatter, best.score, left, spreads)


def _model(form: Form, rows: Observations) -> OneGroup:
    if rows.x_error is not None and not form.of_logarithm:
        return WithColumnErrors(form, rows)
    target = np.log(rows.y) if form.of_logarithm else rows.y
    weight = weights(form, rows.y, rows.error, rows.noise == NoiseKind.GIVEN)
    return FormModel(form, rows.x, target, weight)
