"""The search for a system: structures from the integral form, fitted by shooting, shortened, with restarts.

A restart draws weights of the samples (exponential weights, a bootstrap) and searches a part of the library. Its
result is fitted once more to all samples with equal weights; the shortest description of all restarts wins.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from nalm.discover.law.expression import Array
from nalm.discover.problem import TimeUpError
from nalm.ode.combination import combined
from nalm.ode.dense import pruned_polynomial
from nalm.ode.families import Space, families, polynomials
from nalm.ode.library import library
from nalm.ode.model import Model, Term
from nalm.ode.noise import kind_left
from nalm.ode.path import Path, splined
from nalm.ode.refine import FLOOR, Fitter
from nalm.ode.selection import Integrals, proposed
from nalm.ode.shooting import Samples, Shot, shoot

PROPOSALS, FEWER = 8, 4  # structures that are fitted, in the first restart and in the others
SOON = 2  # of those of the first library, before other families are looked at
LONGER = 20  # steps of a fit with numbers inside functions
NOISY = 1.2  # times the noise: what is left of samples that are explained
LEAST = 1e-4  # smallest initial state of variables that are never negative, over their largest value


@dataclass
class Clock:
    """Raises TimeUpError when it is called after the deadline."""

    deadline: float

    def __call__(self) -> None:
        """Check the time."""
        if time.monotonic() > self.deadline:
            raise TimeUpError


@dataclass
class SystemSearch:
    """State of one search: the samples, the library, the result of each restart and the best fit."""

    samples: Samples
    path: Path
    scales: Array
    signed: np.ndarray
    check: Callable[[], None]
    terms: list[Term] = field(default_factory=list)
    special: bool = False  # the terms are those of a family, not of the first library
    found: list[Shot | None] = field(default_factory=list)  # by restart; None where time was up
    best: Shot | None = None

    @property
    def fitter(self) -> Fitter:
        """The fitter of all samples with equal weights."""
        return Fitter(self.samples, self.nodes, self.scales, tuple(self.terms), self.check)

    def keep(self, shot: Shot | None) -> None:
        """Keep a fit if it is the best so far."""
        if shot is not None and (
            self.best is None or self.fitter.length(shot) < self.fitter.length(self.best)
        ):
            self.best = shot

    @property
    def nodes(self) -> Array:
        """Initial states: smoothed samples, above zero where a variable is never negative."""
        return np.where(self.signed, self.path.nodes, np.maximum(self.path.nodes, LEAST))


def prepared(samples: Samples, scales: Array, check: Callable[[], None]) -> SystemSearch:
    """Prepare the path between the samples and the library; signs that noise explains do not count."""
    path = splined(samples)
    noise = path.noise.size
    samples = replace(
        samples,
        tolerance=float(np.clip(1e-3 * np.median(noise), 1e-9, 1e-4)),
        relative=path.noise.weights(path.nodes),
    )
    signed = samples.x.min(0) < -np.maximum(4 * noise * samples.spread, 1e-9)
    return SystemSearch(samples, path, scales, signed, check, library(signed))


def searched(search: SystemSearch, restarts: int, seed: int) -> None:
    """Run the restarts and keep the best fit; stop early when time is up.

    The best fit is extended after the first restart too, before the others can use up the time.
    """
    extended = None
    try:
        search.best = _rough(search)
        for k in range(restarts):
            found = _restart(search, k, seed)
            if not k and reweighted(search, found):
                found = _restart(search, 0, seed)
            search.found.append(found)
            search.keep(found)
            if k in (0, restarts - 1) and search.best is not extended:
                _extend(search)
                extended = search.best
    except TimeUpError:
        search.found += [None] * (restarts - len(search.found))


def reweighted(search: SystemSearch, first: Shot) -> bool:
    """Weight the samples by the noise that the first fit leaves, if that is of another kind, and begin anew."""
    noise = search.path.noise
    if not first.joined or (kind := kind_left(search.samples, first.states, noise)) == noise.power:
        return False
    search.path = splined(search.samples, kind)
    search.samples = replace(search.samples, relative=search.path.noise.weights(search.path.nodes))
    search.terms, search.special = library(search.signed), False
    search.best = _rough(search)
    return True


def _extend(search: SystemSearch) -> None:
    """Exchange and add terms of the best fit as long as that makes it shorter."""
    for _ in range(3):
        before = search.best
        assert before is not None  # the rough one at least
        if before.error < FLOOR:
            break
        search.keep(search.fitter.extended(before))
        if search.best is before:
            break


def _rough(search: SystemSearch) -> Shot:
    """Return the best set of plain terms, unfitted: the result if there is no time at all."""
    form = Integrals(search.path, search.samples, lambda: None)
    d = search.samples.x.shape[1]
    plain = tuple(
        t for t in search.terms if not t.factors and sum(t.powers) <= 1 and set(t.powers) <= {0.0, 1.0}
    )
    ((_, model),) = combined([[form.solved(j, plain)] for j in range(d)], len(search.samples.inner), 1)
    slopes = np.zeros((*search.samples.x.shape, len(search.samples.first) * d + len(model.numbers())))
    return Shot(model, search.nodes, np.inf, slopes, False)


def _restart(search: SystemSearch, k: int, seed: int) -> Shot:
    """Search with the weights and the library of restart k, then fit to all samples."""
    if not k:
        tried, local = _first_libraries(search), search.fitter
    else:
        rng, terms = np.random.default_rng([1, seed, k]), search.terms
        kept = rng.random(len(terms)) > 0.15
        terms = [t for t, keep in zip(terms, kept, strict=True) if keep or t.plain()]
        samples = weighted(search.samples, k, seed)
        local = Fitter(samples, search.nodes, search.scales, tuple(terms), search.check)
        models = _proposals(search, local, FEWER, lonely=search.special)
        tried = _tried(search, local, models, LONGER if search.special else 8)
    tried.sort(key=local.length)
    best = min((local.shortened(s) for s in tried[:2]), key=local.length)
    return search.fitter.shortened(shoot(best.model, best.states, search.samples, search.check))


def _proposals(
    search: SystemSearch, fitter: Fitter, most: int, *, lonely: bool = False
) -> list[tuple[float, Model]]:
    return proposed(
        search.path, fitter.samples, fitter.terms, search.signed, search.check, most, lonely=lonely
    )


def _tried(
    search: SystemSearch, fitter: Fitter, models: Sequence[tuple[float, Model]], steps: int = 8
) -> list[Shot]:
    """Fit models by shooting until one explains the samples."""
    tried: list[Shot] = []
    for _, model in models:
        tried.append(fitter.fit(model, steps=steps))
        if fitter.samples is search.samples:  # with equal weights: the best so far, should time run out
            search.keep(tried[-1])
        if tried[-1].error < FLOOR:
            break
    return tried


def _first_libraries(search: SystemSearch) -> list[Shot]:
    """Try the first library; if it does not explain the samples plainly, also the families that promise more.

    The library of the best fit is that of the other restarts.
    """
    first = _proposals(search, search.fitter, PROPOSALS)
    tried = _tried(search, search.fitter, first[:SOON])
    best = min(tried, key=lambda s: s.error)
    if best.error < FLOOR and best.model.clean():
        return tried
    tried += _dense(search)
    if tried[-1].error < FLOOR and tried[-1].model.clean():
        return tried
    if best.joined and FLOOR < best.error < NOISY * search.path.noise.mean_square:
        return tried + _tried(search, search.fitter, first[SOON:])
    first_terms = search.terms
    libraries = {id(model): first_terms for _, model in first}
    models = first[SOON:FEWER]
    for terms in families(search.signed, search.scales):
        fitter = replace(search.fitter, terms=tuple(terms))
        more = [m for m in _proposals(search, fitter, FEWER, lonely=True) if m[0] < first[0][0]]
        libraries |= {id(model): terms for _, model in more}
        models += more
    if len(models) == FEWER - SOON:
        models = first[SOON:]
    for cost, model in sorted(models, key=lambda m: m[0])[:PROPOSALS]:
        shortest = min(map(search.fitter.length, tried))
        (shot,) = _tried(search, search.fitter, [(cost, model)], LONGER)
        tried.append(shot)
        if search.fitter.length(shot) < shortest:
            search.terms, search.special = libraries[id(model)], libraries[id(model)] is not first_terms
        if shot.error < FLOOR:
            break
    return tried


def _dense(search: SystemSearch) -> list[Shot]:
    """Fit all monomials of a low degree between the samples, and shoot with those that are needed."""
    d = search.samples.x.shape[1]
    if not 1 < d < 5:
        return []
    terms = tuple(polynomials(Space(search.signed, search.scales), 3 if d == 2 else 2))
    form = Integrals(search.path, search.samples, search.check)
    start = np.array([form.solved(j, terms).coefficients for j in range(d)])
    model = pruned_polynomial(terms, start, search.samples, search.check)
    if model is None:
        return []
    shot = shoot(model, search.samples.x, search.samples, search.check)
    search.keep(shot)
    return [shot]


def weighted(samples: Samples, k: int, seed: int) -> Samples:
    """Return the samples with the weights of restart k; those of restart 0 are equal."""
    if k == 0:
        return samples
    weight = np.random.default_rng([0, seed, k]).exponential(size=len(samples.t))
    return replace(samples, weight=weight / weight.mean())


def refitted(search: SystemSearch, model: Model, states: Array, k: int, seed: int) -> Model:
    """Fit the numbers of a structure to the samples with the weights of restart k."""
    return shoot(model, states, weighted(search.samples, k, seed), search.check, 6).model
