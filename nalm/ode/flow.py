"""Integration of many short stretches of a trajectory at once, with slopes in the start and in all numbers.

Dormand and Prince's method of order 8 works on all stretches in one array, each with its own step size; a stretch
that has arrived is removed.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.integrate import DOP853

from nalm.discover.law.expression import Array
from nalm.ode.factors import TINY, Factor, raised, steepness
from nalm.ode.model import Model, Term, value

STAGES = DOP853.n_stages
MOST_STEPS = 40  # of one stretch; one that needs more is stiff or diverges
SOON, PART = 12, 0.15  # a stretch is given up if so many steps cover no more than this part


@dataclass(frozen=True)
class Flow:
    """The ends of stretches, and their slopes in the start (n, d, d) and in the numbers (n, d, p)."""

    end: Array
    start_slopes: Array
    number_slopes: Array
    arrived: bool


def flow(
    model: Model,
    start: Array,
    duration: Array,
    *,
    extra: tuple[Term, ...] = (),
    sensitive: bool = True,
    tolerance: float = 1e-8,
    check: Callable[[], None] = lambda: None,
) -> Flow:
    """Integrate a model from the starts (n, d) for the durations (n,).

    The slopes in the numbers are those of ``model.numbers()``, and then of the rates that ``extra`` terms, absent from
    the model, would have in each equation: (term, equation), equation first.
    """
    n, d = start.shape
    width = len(model.numbers()) + len(extra) * d if sensitive else 0
    wide = d + width if sensitive else 0
    y = np.zeros((n, d, 1 + wide))
    y[:, :, 0] = start
    if sensitive:
        y[:, :, 1 : 1 + d] = np.eye(d)
    rates = _rates(model, extra, d) if sensitive else _plain(model)
    final = y.copy()
    at, left, h = np.arange(n), duration.copy(), duration / 4
    k = np.empty((STAGES + 1, *y.shape))
    with np.errstate(all="ignore"):
        k[0] = rates(y)
        for count in range(MOST_STEPS):
            check()
            h = np.minimum(h, left)
            step = h[:, None, None]
            for s in range(1, STAGES):
                k[s] = rates(y + step * np.tensordot(DOP853.A[s, :s], k[:s], 1))
            new = y + step * np.tensordot(DOP853.B, k[:STAGES], 1)
            k[STAGES] = rates(new)
            error = _error(k, y, new, h, tolerance)
            good = error < 1
            factor = np.clip(0.9 * np.where(error > 0, error, 1e-10) ** -0.125, 0.2, 6.0)
            factor = np.where(np.isfinite(error), factor, 0.1)
            y = np.where(good[:, None, None], new, y)
            left = np.where(good, left - h, left)
            k[0] = np.where(good[:, None, None], k[STAGES], k[0])
            h = h * np.where(good, factor, np.minimum(factor, 0.5))  # at a kink errors hardly fall
            there = left <= 1e-13 * duration[at]
            if there.any():
                final[at[there]] = y[there]
                on = ~there
                at, y, left, h, k = at[on], y[on], left[on], h[on], k[:, on]
            slow = count == SOON and bool((left > (1 - PART) * duration[at]).any())
            if slow or not len(at) or not (h > 1e-8 * duration[at]).all():
                break
    arrived = not len(at) and bool(np.isfinite(final).all())
    return Flow(final[:, :, 0], final[:, :, 1 : 1 + d], final[:, :, 1 + d :], arrived)


def _error(k: Array, y: Array, new: Array, h: Array, tolerance: float) -> Array:
    """Return the method's own error estimate over the tolerance; three digits of the slopes are enough."""
    scale = tolerance * (1e-2 + np.maximum(np.abs(y), np.abs(new)))
    slopes = 1e-3 * np.abs(new[:, :, 1:]).max((1, 2), initial=1.0)
    scale[:, :, 1:] = slopes[:, None, None]
    first, second = (np.tensordot(e, k, 1) / scale for e in (DOP853.E5, DOP853.E3))
    size = np.square(first).max((1, 2))
    both = size + 0.01 * np.square(second).max((1, 2))
    out = np.abs(h) * size / np.sqrt(np.where(both > 0, both, 1.0))
    return np.where(np.isfinite(new).all((1, 2)), out, np.inf)


class _Terms:
    """Terms of a model on many states at once; powers and factors that terms share are computed once."""

    def __init__(self, terms: tuple[Term, ...], d: int):
        self.terms = terms
        self.powers = [[(i, p) for i, p in enumerate(t.powers) if p] for t in terms]
        self.factors = list(dict.fromkeys(f for t in terms for f in t.factors))
        self.places = [(k, i) for k, t in enumerate(terms) for i in range(d) if i in t.variables]

    def values(self, x: Array) -> tuple[list[Array], dict[object, Array]]:
        """Return every term (n,), and the powers and factors that they consist of."""
        made: dict[object, Array] = {f: raised(x[:, f[0]], f[1]) for fs in self.powers for f in fs}
        made |= {f: f.value(x) for f in self.factors}
        keys = zip(self.terms, self.powers, strict=True)
        return [_product([made[f] for f in (*fs, *t.factors)], x) for t, fs in keys], made

    def rest(self, k: int, left_out: object, made: dict[object, Array]) -> list[Array]:
        """Return the powers and factors of a term but one."""
        return [made[f] for f in (*self.powers[k], *self.terms[k].factors) if f != left_out]

    def slopes(self, x: Array, made: dict[object, Array]) -> list[Array]:
        """Return the derivatives of terms in variables, in the order of ``places``."""
        steep: dict[tuple[Factor, int], Array] = {
            (f, i): f.slope(i, x) for f in self.factors for i in f.variables
        }
        out = []
        for k, i in self.places:
            p, slope = self.terms[k].powers[i], np.zeros(len(x))
            if p:
                rest = self.rest(k, (i, p), made)
                slope = _product([*rest, steepness(x[:, i], p)] if p != 1 else rest, x)
            for f in self.terms[k].factors:
                if i in f.variables:
                    slope = slope + _product([*self.rest(k, f, made), steep[f, i]], x)
            out.append(slope)
        return out


def _product(factors: list[Array], x: Array) -> Array:
    if not factors:
        return np.ones(len(x))
    out = factors[0]
    for f in factors[1:]:
        out = out * f
    return out


def _plain(model: Model) -> Callable[[Array], Array]:
    c, terms = model.matrix(), _Terms(model.terms, len(model.terms[0].powers))

    def rates(y: Array) -> Array:
        values, _ = terms.values(y[:, :, 0])
        return (np.stack(values, -1) @ c.T)[:, :, None]

    return rates


def _rates(model: Model, extra: tuple[Term, ...], d: int) -> Callable[[Array], Array]:
    """Return the right-hand side of the states and of all their slopes."""
    c, made = model.matrix(), _Terms(model.terms, d)
    exponents, inner, n_rates = model.moving, model.inner_places(), len(model.rates)
    own = len(model.numbers())
    shared = np.zeros((n_rates, d, len(model.terms)))
    for e in model.entries:
        shared[e.rate, e.equation, e.term] += e.factor
    spread = shared.transpose(2, 1, 0).reshape(len(model.terms), d * n_rates)

    def rates(y: Array) -> Array:
        x = y[:, :, 0]
        values, parts = made.values(x)
        terms = np.stack(values, -1)  # (n, terms)
        jacobian = np.zeros((len(x), d, d))
        for (k, i), s in zip(made.places, made.slopes(x, parts), strict=True):
            jacobian[:, :, i] += s[:, None] * c[:, k]
        out = np.empty_like(y)
        out[:, :, 0] = terms @ c.T
        np.matmul(jacobian, y[:, :, 1:], out=out[:, :, 1:])
        forced = out[:, :, 1 + d :]
        forced[:, :, :n_rates] += (terms @ spread).reshape(len(x), d, n_rates)
        logs = {i: np.log(np.maximum(x[:, i], TINY)) for _, i in exponents}
        for place, (k, i) in enumerate(exponents, n_rates):
            forced[:, :, place] += (terms[:, k] * logs[i])[:, None] * c[:, k]
        for k, m, first, _ in inner:
            f = model.terms[k].factors[m]
            rest = _product(made.rest(k, f, parts), x)
            for place, steep in enumerate(f.number_slopes(x), first):
                forced[:, :, place] += (rest * steep)[:, None] * c[:, k]
        if extra:
            columns = np.stack([value(t, x) for t in extra], -1)
            for j in range(d):
                forced[:, j, own + j * len(extra) : own + (j + 1) * len(extra)] += columns
        return out

    return rates
