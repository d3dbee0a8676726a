"""Fit of a known form: parameters that enter linearly are solved for, the others start from many random points."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import sympy
from scipy import optimize
from scipy.special import stdtrit

from nalm.discover.form.calculation import Calculation, without_overflow
from nalm.discover.form.text import Form, read_form, symbol
from nalm.discover.grouped.joint import SHARP, unit_spread
from nalm.discover.law.expression import Array
from nalm.discover.selection.intervals import LEVEL, FittedNumber
from nalm.errors import NALMError

DRAWN, REFINED = 400, 12  # random starts for each nonlinear parameter; how many of them are refined,
AGAIN, REFINED_AGAIN = 150, 6  # the same around the best fit so far,
PATIENCE = 2  # until that stays the best so many times
WIDE = 2.0  # decades up and down, of starts
POLISHED = 20  # steps of Gauss-Newton at the end


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

    ``error`` is the size of the noise on each row, in proportion or, if ``absolute``, itself. ``start`` names values
    to begin from; without them random ones are tried, as many as the form needs.

    >>> x = np.linspace(1, 4, 7)[:, None]
    >>> found = fit_form("a*x**p", x, 3 * x[:, 0] ** 1.5, ["x"])
    >>> {name: round(c.value, 9) for name, c in found.constants.items()}
    {'a': 3.0, 'p': 1.5}
    """
    form = read_form(text, names)
    if form.of_logarithm and not (y > 0).all():
        raise NALMError(f"log(y) needs y above 0, got {y.min():.6g}: give the form of y itself.")
    target = np.log(y) if form.of_logarithm else y
    weight = np.ones(len(y)) if error is None else 1 / error
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
                best, least = self.nearest(self.screened(self.drawn(rng, DRAWN), REFINED))
                unchanged = 0
                while unchanged < PATIENCE and np.isfinite(least):
                    trials = self.drawn(rng, AGAIN)
                    kept = rng.random(trials.shape) < 1 - 1 / max(len(self.bent), 2)
                    trials = np.where(kept, best[self.bent], trials)
                    other, total = self.nearest(self.screened(trials, REFINED_AGAIN))
                    unchanged = 0 if total < (1 - 1e-6) * least else unchanged + 1
                    best, least = (other, total) if total < least else (best, least)
            best = self.positive(best, least)
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

    def screened(self, starts: Array, few: int) -> list[Array]:
        """Return the starts with the smallest sums of squares."""
        costs = [float(np.sum(np.square(self.projected(s)))) for s in starts]
        return [starts[i] for i in np.argsort(costs)[:few]]

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
