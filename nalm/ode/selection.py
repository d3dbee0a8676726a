"""Selection of terms: the integral form of the equations, and the best few terms of a library for each of them.

.. math:: x_j(t_{i+1}) - x_j(t_i) = \\sum_k c_{jk} \\int_{t_i}^{t_{i+1}} m_k(x(\\tau)) d\\tau

The samples are not differentiated. The path between them is a spline, smoothed where they are noisy; rows whose path
is uncertain, and neighbouring rows that share a noisy sample, are weighted by their covariance.
"""

import itertools
from collections.abc import Callable, Sequence

import numpy as np

from nalm.discover.law.expression import Array
from nalm.ode.combination import Choice, combined, given, length, nice
from nalm.ode.factors import TINY
from nalm.ode.library import whole
from nalm.ode.model import Entry, Model, Term, inner_slopes, value
from nalm.ode.path import WEIGHTS, Path
from nalm.ode.shooting import Samples, descended

LARGEST, BEAM, KEPT = 4, 100, 6  # terms of an equation, sets followed, sets kept of each size


class Integrals:
    """The integral form along a path: terms integrated over every interval, whitened for each equation."""

    def __init__(self, path: Path, samples: Samples, check: Callable[[], None]):
        inner = samples.inner
        self.check, self.between = check, path.between
        self.weights = (np.diff(samples.t)[inner] / 2)[:, None] * WEIGHTS
        changes = samples.x[inner + 1] - samples.x[inner]
        self.white = [_whitening(j, path, samples) for j in range(samples.x.shape[1])]
        self.changes = [w @ changes[:, j] for j, w in enumerate(self.white)]

    def columns(self, terms: Sequence[Term]) -> Array:
        """Return the integrals of terms, (intervals, terms)."""
        return np.stack([(self.weights * value(t, self.between)).sum(1) for t in terms], 1)

    def sets(
        self,
        j: int,
        columns: Array,
        seeds: Sequence[tuple[int, ...]] = (),
        lonely: np.ndarray | None = None,
    ) -> list[tuple[int, ...]]:
        """Return the best sets of up to four columns for equation j, some of each size; ``seeds`` are extended too."""
        y = self.changes[j]
        largest = min(LARGEST, len(y) - 2)
        return best_sets(self.white[j] @ columns, y, largest, BEAM, self.check, seeds, lonely=lonely)

    def solved(self, j: int, terms: tuple[Term, ...]) -> Choice:
        """Solve for the coefficients of some terms in equation j."""
        a, y = self.white[j] @ self.columns(terms), self.changes[j]
        c = np.linalg.lstsq(a, y, rcond=None)[0]
        return Choice(terms, tuple(c.tolist()), float(np.square(y - a @ c).sum()) / (float(y @ y) or 1.0))

    def fitted(self, j: int, terms: tuple[Term, ...], steps: int = 15) -> Choice:
        """Fit coefficients, exponents and K of some terms in equation j."""
        y, c = self.changes[j], np.array(self.solved(j, terms).coefficients)
        entries = tuple(Entry(0, k, k) for k in range(len(terms)))
        model = Model(terms, entries, tuple(c.tolist()), _whole(terms))

        def residual(p: Array) -> tuple[Array, Array]:
            self.check()
            now = model.renumbered(p)
            return self._residual(j, now, y)

        fit = model.renumbered(descended(residual, model.numbers(), steps))
        r, _ = self._residual(j, fit, y)
        return Choice(fit.terms, fit.rates, float(r @ r) / (float(y @ y) or 1.0))

    def _residual(self, j: int, model: Model, y: Array) -> tuple[Array, Array]:
        """Return the residual of a model of one equation, and its slopes in the numbers."""
        values = [self.weights * value(t, self.between) for t in model.terms]
        slopes = [v.sum(1) for v in values]
        r = sum((c * v for c, v in zip(model.rates, slopes, strict=True)), np.zeros(len(self.weights)))
        for k, i in model.moving:
            logs = np.log(np.maximum(self.between[..., i], TINY))
            slopes.append(model.rates[k] * (values[k] * logs).sum(1))
        for k, m in model.inner:
            for steep in inner_slopes(model.terms[k], m, self.between):
                slopes.append(model.rates[k] * (self.weights * steep).sum(1))
        with np.errstate(all="ignore"):
            return self.white[j] @ r - y, self.white[j] @ np.stack(slopes, 1)


def best_sets(
    columns: Array,
    y: Array,
    largest: int,
    beam: int,
    check: Callable[[], None],
    seeds: Sequence[tuple[int, ...]] = (),
    least: float = 1e-10,
    lonely: np.ndarray | None = None,
) -> list[tuple[int, ...]]:
    """Return the sets of columns that leave least of y, a few of each size, by a beam search.

    A column of which others leave less than the share ``least`` is not added to them. A set has at most one of the
    ``lonely`` columns.
    """
    norm = np.sqrt(np.square(columns).sum(0))
    ok = (norm > 0) & np.isfinite(norm)
    a = np.where(ok, columns / np.where(ok, norm, 1.0), 0.0)
    found: list[tuple[int, ...]] = []
    sets: list[tuple[int, ...]] = [()]
    for size in range(1, largest + 1):
        left_over: dict[tuple[int, ...], float] = {}
        for chosen in {*sets, *(s for s in seeds if len(s) == size - 1)}:
            check()
            left, r = _projected(a, y, chosen)
            lengths = np.square(left).sum(0)
            new = lengths > least
            if lonely is not None and lonely[list(chosen)].any():
                new &= ~lonely
            share = np.where(new, (left.T @ r) ** 2 / np.where(new, lengths, 1.0), 0.0)
            for k in np.argsort(-share)[: len(share) if size == 1 else 10]:
                key = tuple(sorted((*chosen, int(k))))
                if len(set(key)) == size:
                    left_over[key] = float(r @ r - share[k])
        sets = sorted(left_over, key=lambda s: left_over[s])[: None if size == 1 else beam]
        found += sets[:KEPT]
    return found


def _whole(terms: Sequence[Term]) -> frozenset[tuple[int, int]]:
    """Return the exponents that are not fitted: negative ones, and those of terms with further factors."""
    return frozenset((k, i) for k, t in enumerate(terms) for i, p in enumerate(t.powers) if given(t, p))


def _projected(a: Array, y: Array, chosen: tuple[int, ...]) -> tuple[Array, Array]:
    """Remove from the library and the changes what the chosen terms explain."""
    if not chosen:
        return a, y
    q = np.linalg.qr(a[:, chosen])[0]
    return a - q @ (q.T @ a), y - q @ (q.T @ y)


def _whitening(j: int, path: Path, samples: Samples) -> Array:
    """Return the inverse root of the covariance of an equation's rows: shared samples and uncertain paths."""
    inner, n = samples.inner, len(samples.t)
    difference = np.zeros((len(inner), n))
    difference[np.arange(len(inner)), inner + 1], difference[np.arange(len(inner)), inner] = 1.0, -1.0
    weight = samples.weight[inner]
    size = np.abs(np.diff(samples.x, axis=0)[inner])
    relative = (path.unsure / samples.spread).max(1)
    doubt = relative * (size[:, j] + 0.1 * size.max(1)) + 1e-7 * samples.spread[j]
    noisy = difference * path.noise.relative(path.nodes)[:, j] if path.noise.uneven else difference
    covariance = (path.noise.size[j] * samples.spread[j]) ** 2 * noisy @ noisy.T + np.diag(doubt**2)
    return np.linalg.inv(np.linalg.cholesky(covariance)) * np.sqrt(weight)


def proposed(
    path: Path,
    samples: Samples,
    terms: Sequence[Term],
    signed: np.ndarray,
    check: Callable[[], None],
    most: int,
    *,
    lonely: bool = False,
) -> list[tuple[float, Model]]:
    """Return the best structures by the integral form, cheapest first, with their description lengths.

    Sets are searched in the whole library and among integer exponents. The terms of each equation's best sets, with
    their fitted exponents, are then offered to all equations, because a term that leaves one variable often enters
    another. Exponents of the ``signed`` variables are integers. With ``lonely`` a set has at most one term with fitted
    numbers in its factors: a few of them look like anything.
    """
    form, d = Integrals(path, samples, check), samples.x.shape[1]
    columns = form.columns(terms)
    finite = np.flatnonzero(np.isfinite(columns).all(0))
    terms, columns = [terms[int(k)] for k in finite], columns[:, finite]
    plain = whole(terms)
    alone = np.array([any(f.numbers() for f in t.factors) for t in terms]) if lonely else None
    options: list[list[Choice]] = []
    for j in range(d):
        few = [] if lonely else [tuple(plain[k] for k in s) for s in form.sets(j, columns[:, plain])]
        chosen = [tuple(terms[k] for k in s) for s in sorted({*form.sets(j, columns, (), alone), *few})]
        options.append(
            [form.solved(j, c) for c in chosen] + [form.fitted(j, c, 40 if lonely else 15) for c in chosen]
        )
    if d == 1:
        return [(c, _integer_exponents(m, signed)) for c, m in combined(options, len(samples.inner), most)]
    best = [sorted(o, key=lambda c: length(c, len(samples.inner)))[:2] for o in options]
    rounded = {Term(tuple(map(nice, t.powers)), t.factors) for b in best for c in b for t in c.terms}
    shared = [*terms, *sorted(rounded - set(terms), key=str)]
    offered = [k for k, t in enumerate(shared) if t in rounded]
    columns = form.columns(shared)
    for j in range(d):
        few = [tuple(offered[k] for k in s) for s in form.sets(j, columns[:, offered])]
        seeds = [s for n in (1, 2) for s in itertools.combinations(offered, n)]
        if alone is not None:
            alone = np.array([any(f.numbers() for f in t.factors) for t in shared])
        for s in sorted({*form.sets(j, columns, seeds, alone), *few}):
            options[j].append(form.solved(j, tuple(shared[k] for k in s)))
    return [(c, _integer_exponents(m, signed)) for c, m in combined(options, len(samples.inner), most)]


def _integer_exponents(model: Model, signed: np.ndarray) -> Model:
    """Fix the exponents of variables that take both signs at integers."""
    for k, t in enumerate(model.terms):
        for i, p in enumerate(t.powers):
            if p > 0 and signed[i]:
                model = model.fix_exponent(k, i, float(max(1, round(p))))
    return model.merged()
