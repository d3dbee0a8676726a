"""One form, several data sets: which parameters all groups share, and which each group has of its own."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from nalm.discover.form.fit import fit_form
from nalm.discover.form.model import FormModel
from nalm.discover.form.text import Form, read_form
from nalm.discover.grouped.joint import Joint
from nalm.discover.law.expression import Array
from nalm.discover.selection.intervals import FittedNumber, quantile
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

    The groups are first fitted one by one. Then one parameter after the other becomes a shared one, or an own one
    again, all others being fitted again, as long as the score of ``Joint`` falls.

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
    joint = Joint(models)
    if shared is None:
        best = joint.told_apart(start)
    else:
        best = joint.fit(frozenset(form.parameters.index(n) for n in shared), start)
    left = max(len(y) - joint.places(best.shared)[1], 1)
    scatter = float(np.sqrt(best.square * len(y) / left))
    root, places = joint.spread(best, scatter)
    errors, wide = np.sqrt((root**2).sum(1)), quantile(left)

    def number(group: int, i: int) -> FittedNumber:
        v, e = float(best.table[group, i]), float(errors[places[group, i]])
        return FittedNumber(v, e, v - wide * e, v + wide * e, form.parameters[i])

    common = {form.parameters[i]: number(0, i) for i in sorted(best.shared)}
    own = {
        g: {n: number(j, i) for i, n in enumerate(form.parameters) if i not in best.shared}
        for j, g in enumerate(kinds)
    }
    spreads = {g: root[places[j]] for j, g in enumerate(kinds)}
    return GroupFit(form, common, own, scatter, best.score, left, spreads)
