"""Selection of terms: the integral form of the equations, and the best few terms of a library for each of them.

.. math:: x_j(t_{i+1}) - x_j(t_i) = \\sum_k c_{jk} \\int_{t_i}^{t_{i+1}} m_k(x(\\tau)) d\\tau

The samples are not differentiated. The path between them is a spline, smoothed where they are noisy; rows whose path
is uncertain, and neighbouring rows that share a noisy sample, are weighted by their covariance.
"""

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from nalm.discover.fit.description_length import FREE, SYMBOL
from nalm.discover.law.expression import Array
from nalm.ode.library import whole
from nalm.ode.model import TINY, Entry, Model, Term, value
from nalm.ode.path import WEIGHTS, Path
from nalm.ode.shooting import Samples, descended

LARGEST, BEAM, KEPT = 4, 100, 6  # terms of an equation, sets followed, sets kept of each size
NEAR = 0.04  # difference of exponents that count as equal
FLOOR = 1e-10  # of a share: what the spline leaves of a perfect fit


@dataclass(frozen=True)
class Choice:
    """Terms for one equation, their coefficients, and the share of the whitened changes that they leave."""

    terms: tuple[Term, ...]
    coefficients: tuple[float, ...]
    misfit: float


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

    def sets(self, j: int, columns: Array, seeds: Sequence[tuple[int, ...]] = ()) -> list[tuple[int, ...]]:
        """Return the best sets of up to four columns for equation j, some of each size; ``seeds`` are extended too."""
        a, y = self.white[j] @ columns, self.changes[j]
        norm = np.sqrt(np.square(a).sum(0))
        ok = (norm > 0) & np.isfinite(norm)
        a = np.where(ok, a / np.where(ok, norm, 1.0), 0.0)
        found: list[tuple[int, ...]] = []
        sets: list[tuple[int, ...]] = [()]
        for size in range(1, min(LARGEST, len(y) - 2) + 1):
            left_over: dict[tuple[int, ...], float] = {}
            for chosen in {*sets, *(s for s in seeds if len(s) == size - 1)}:
                self.check()
                left, r = _projected(a, y, chosen)
                lengths = np.square(left).sum(0)
                new = lengths > 1e-10
                share = np.where(new, (left.T @ r) ** 2 / np.where(new, lengths, 1.0), 0.0)
                for k in np.argsort(-share)[: len(share) if size == 1 else 10]:
                    key = tuple(sorted((*chosen, int(k))))
                    if len(set(key)) == size:
                        left_over[key] = float(r @ r - share[k])
            sets = sorted(left_over, key=lambda s: left_over[s])[: None if size == 1 else BEAM]
            found += sets[:KEPT]
        return found

    def solved(self, j: int, terms: tuple[Term, ...]) -> Choice:
        """Solve for the coefficients of some terms in equation j."""
        a, y = self.white[j] @ self.columns(terms), self.changes[j]
        c = np.linalg.lstsq(a, y, rcond=None)[0]
        return Choice(terms, tuple(c.tolist()), float(np.square(y - a @ c).sum()) / (float(y @ y) or 1.0))

    def fitted(self, j: int, terms: tuple[Term, ...]) -> Choice:
        """Fit coefficients, exponents and K of some terms in equation j."""
        y, c = self.changes[j], np.array(self.solved(j, terms).coefficients)
        entries = tuple(Entry(0, k, k) for k in range(len(terms)))
        model = Model(terms, entries, tuple(c.tolist()), _whole(terms))

        def residual(p: Array) -> tuple[Array, Array]:
            self.check()
            now = model.renumbered(p)
            return self._residual(j, now, y)

        fit = model.renumbered(descended(residual, model.numbers(), 15))
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
        for k in model.saturating:
            t = model.terms[k]
            less = -t.half / (t.half + self.between[..., t.below])
            slopes.append(model.rates[k] * (values[k] * less).sum(1))
        with np.errstate(all="ignore"):
            return self.white[j] @ r - y, self.white[j] @ np.stack(slopes, 1)


def _whole(terms: Sequence[Term]) -> frozenset[tuple[int, int]]:
    """Return the exponents that are not fitted: those of saturating terms."""
    return frozenset((k, i) for k, t in enumerate(terms) for i in range(len(t.powers)) if t.below is not None)


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
    covariance = (path.noise[j] * samples.spread[j]) ** 2 * difference @ difference.T + np.diag(doubt**2)
    return np.linalg.inv(np.linalg.cholesky(covariance)) * np.sqrt(weight)


def proposed(
    path: Path,
    samples: Samples,
    terms: Sequence[Term],
    signed: np.ndarray,
    check: Callable[[], None],
    most: int,
) -> list[Model]:
    """Return the best structures by the integral form, cheapest first.

    Sets are searched in the whole library and among integer exponents. The terms of each equation's best sets, with
    their fitted exponents, are then offered to all equations, because a term that leaves one variable often enters
    another. Exponents of the ``signed`` variables are integers.
    """
    form, d = Integrals(path, samples, check), samples.x.shape[1]
    columns, plain = form.columns(terms), whole(terms)
    options: list[list[Choice]] = []
    for j in range(d):
        few = [tuple(plain[k] for k in s) for s in form.sets(j, columns[:, plain])]
        chosen = [tuple(terms[k] for k in s) for s in sorted({*form.sets(j, columns), *few})]
        options.append([form.solved(j, c) for c in chosen] + [form.fitted(j, c) for c in chosen])
    if d == 1:
        return [_integer_exponents(m, signed) for m in combined(options, len(samples.inner), most)]
    best = [sorted(o, key=lambda c: _length(c, len(samples.inner)))[:2] for o in options]
    rounded = {Term(tuple(map(_nice, t.powers)), t.below, t.half) for b in best for c in b for t in c.terms}
    shared = [*terms, *sorted(rounded - set(terms), key=str)]
    offered = [k for k, t in enumerate(shared) if t in rounded]
    columns = form.columns(shared)
    for j in range(d):
        few = [tuple(offered[k] for k in s) for s in form.sets(j, columns[:, offered])]
        seeds = [s for n in (1, 2) for s in itertools.combinations(offered, n)]
        for s in sorted({*form.sets(j, columns, seeds), *few}):
            options[j].append(form.solved(j, tuple(shared[k] for k in s)))
    return [_integer_exponents(m, signed) for m in combined(options, len(samples.inner), most)]


def _integer_exponents(model: Model, signed: np.ndarray) -> Model:
    """Fix the exponents of variables that take both signs at integers."""
    for k, t in enumerate(model.terms):
        for i, p in enumerate(t.powers):
            if p and signed[i]:
                model = model.fix_exponent(k, i, float(max(1, round(p))))
    return model.merged()


def _length(choice: Choice, rows: int) -> float:
    """Return the description length of one equation."""
    return (
        rows * float(np.log(choice.misfit + FLOOR))
        + float(np.log(rows)) * _joined(Model((), (), ()), 0, choice).price
    )


def combined(options: Sequence[Sequence[Choice]], rows: int, most: int) -> list[Model]:
    """Combine sets of terms of all equations, cheapest first, each structure once; shared terms are paid once.

    A combination costs at least the rates that it adds; it is not built if even that lower bound is too high.
    """
    beam: list[tuple[float, float, Model]] = [(0.0, 0.0, Model((), (), ()))]
    each, width = float(np.log(rows)), 8 * most
    for j, choices in enumerate(options):
        misfits = [rows * float(np.log(c.misfit + FLOOR)) for c in choices]
        least = [m + each * (FREE + SYMBOL) * len(c.terms) for m, c in zip(misfits, choices, strict=True)]
        pairs = sorted((b[0] + least[c], n, c) for n, b in enumerate(beam) for c in range(len(choices)))
        wider: dict[object, tuple[float, float, Model]] = {}
        for bound, n, c in pairs:
            if len(wider) >= width and bound > sorted(w[0] for w in wider.values())[width - 1]:
                break
            joined = _joined(beam[n][2], j, choices[c])
            now = beam[n][1] + misfits[c]
            found = (now + each * joined.price, now, joined)
            key = (joined.pattern, len(joined.moving))
            if key not in wider or found[0] < wider[key][0]:
                wider[key] = found
        beam = sorted(wider.values(), key=lambda b: b[0])[:width]
    return [model for _, _, model in beam[:most]]


def _joined(model: Model, j: int, choice: Choice) -> Model:
    """Add the terms of one more equation; a term that is similar to an existing one becomes that one."""
    terms, settled, entries, rates = (
        list(model.terms),
        set(model.settled),
        list(model.entries),
        list(model.rates),
    )
    for t, c in zip(choice.terms, choice.coefficients, strict=True):
        near = [k for k, u in enumerate(terms) if _alike(t, u)]
        if not near:
            near = [len(terms)]
            terms.append(Term(tuple(_nice(p) for p in t.powers), t.below, t.half))
            settled |= {(near[0], i) for i, p in enumerate(t.powers) if _nice(p) != p or t.below is not None}
        entries.append(Entry(j, near[0], len(rates)))
        rates.append(c)
    return Model(tuple(terms), tuple(entries), tuple(rates), frozenset(settled))


def _nice(power: float) -> float:
    """Round an exponent to a multiple of a half if one is near."""
    return round(2 * power) / 2 if abs(power - round(2 * power) / 2) < NEAR and round(2 * power) else power


def _alike(a: Term, b: Term) -> bool:
    near = all(
        abs(p - q) < 3 * NEAR and (p == 0) == (q == 0) for p, q in zip(a.powers, b.powers, strict=True)
    )
    return near and a.below == b.below and (a.below is None or abs(np.log(a.half / b.half)) < 0.3)
