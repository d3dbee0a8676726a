"""Fit of a known form: its parameters with standard errors and intervals."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit

from nalm.discover.form.model import FormModel
from nalm.discover.form.text import Form, read_form
from nalm.discover.grouped.joint import unit_spread
from nalm.discover.law.expression import Array
from nalm.discover.selection.intervals import LEVEL, FittedNumber
from nalm.errors import NALMError


@dataclass(frozen=True)
class FormFit:
    """The fitted numbers of a form: by name, with the standard deviation of what is left."""

    form: Form
    constants: dict[str, FittedNumber]
    scatter: float  # standard deviation of the residual of y, of log y, or over the given errors
    rss: float
    spread: Array  # a root of the covariance of the parameters, (parameters, directions)

    @property
    def values(self) -> dict[str, float]:
        """The values of the parameters."""
        return {name: c.value for name, c in self.constants.items()}


def fit_form(
    text: str,
    x: Array,
    y: Array,
    names: Sequence[str],
    *,
    error: Array | None = None,
    absolute: bool = False,
    start: Mapping[str, float] | None = None,
    seed: int = 0,
) -> FormFit:
    """Fit the parameters of a form by least squares, and return them with standard errors and 95% intervals.

    ``error`` is the size of the noise on each row, in proportion or, if ``absolute``, the standard error of y: of a
    form of log(y) the noise is then that over y. ``start`` names values to begin from; without them random ones are
    tried, as many as the form needs.

    >>> x = np.linspace(1, 4, 7)[:, None]
    >>> found = fit_form("a*x**p", x, 3 * x[:, 0] ** 1.5, ["x"])
    >>> {name: round(c.value, 9) for name, c in found.constants.items()}
    {'a': 3.0, 'p': 1.5}
    """
    form = read_form(text, names)
    if form.of_logarithm and not (y > 0).all():
        raise NALMError(f"log(y) needs y above 0, got {y.min():.6g}: give the form of y itself.")
    target = np.log(y) if form.of_logarithm else y
    weight = np.ones(len(y)) if error is None else weights(form, y, error, absolute)
    if len(y) < len(form.parameters):
        raise NALMError(f"{len(form.parameters)} parameters need at least as many rows, got {len(y)}.")
    if missing := [n for n in form.parameters if start is not None and n not in start]:
        raise NALMError(f"The start has no value of {missing[0]}: give one for each parameter, or no start.")
    model = FormModel(form, x, target, weight)
    p = model.solved(start, np.random.default_rng(seed))
    r, slopes = model.residual(p), model.slopes(p)
    if not (np.isfinite(r).all() and np.isfinite(slopes).all()):
        raise NALMError(
            "The form has no value or no slope on some rows: give start values, or check the form."
        )
    rss, left = float(r @ r), len(y) - len(p)
    scatter = 1.0 if absolute else float(np.sqrt(rss / left)) if left else np.inf
    root = scatter * unit_spread(slopes)
    with np.errstate(over="ignore"):
        spread = np.sqrt((root**2).sum(1))
    wide = float(stdtrit(np.inf if absolute else max(left, 1), 0.5 + LEVEL / 2))
    constants = {
        name: FittedNumber(float(v), float(e), float(v - wide * e), float(v + wide * e))
        for name, v, e in zip(form.parameters, p, spread, strict=True)
    }
    return FormFit(form, constants, float(np.sqrt(rss / max(left, 1))), rss, root)


def weights(form: Form, y: Array, error: Array, absolute: bool) -> Array:
    """Return one over the size of the noise on each row, of y or, in a form of log(y), of its logarithm."""
    return np.asarray((y if form.of_logarithm and absolute else 1.0) / error)
