"""The search for a system: structures from the integral form, fitted by shooting, shortened, with restarts.

A restart draws weights of the samples (exponential weights, a bootstrap) and searches a part of the library. Its
result is fitted once more to all samples with equal weights; the shortest description of all restarts wins.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from nalm.discover.law.expression import Array
from nalm.discover.problem import TimeUpError
from nalm.ode.library import library
from nalm.ode.model import Model, Term
from nalm.ode.path import Path, splined
from nalm.ode.refine import FLOOR, Fitter
from nalm.ode.selection import Integrals, combined, proposed
from nalm.ode.shooting import Samples, Shot, shoot

PROPOSALS, FEWER = 8, 4  # structures that are fitted, in the first restart and in the others
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
    samples = replace(samples, tolerance=float(np.clip(1e-3 * np.median(path.noise), 1e-9, 1e-4)))
    low = samples.x.min(0)
    signed = low < -np.maximum(4 * path.noise * samples.spread, 1e-9)
    return SystemSearch(samples, path, scales, signed, check, library(signed))


def searched(search: SystemSearch, restarts: int, seed: int) -> None:
    """Run the restarts and keep the best fit; stop early when time is up.

    The best fit is extended after the first restart too, before the others can use up the time.
    """
    extended = None
    try:
        search.best = _rough(search)
        for k in range(restarts):
            search.found.append(_restart(search, k, seed))
            search.keep(search.found[-1])
            if k in (0, restarts - 1) and search.best is not extended:
                _extend(search)
                extended = search.best
    except TimeUpError:
        search.found += [None] * (restarts - len(search.found))


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
        t for t in search.terms if t.below is None and sum(t.powers) <= 1 and set(t.powers) <= {0.0, 1.0}
    )
    (model,) = combined([[form.solved(j, plain)] for j in range(d)], len(search.samples.inner), 1)
    slopes = np.zeros((*search.samples.x.shape, len(search.samples.first) * d + len(model.numbers())))
    return Shot(model, search.nodes, np.inf, slopes, False)


def _restart(search: SystemSearch, k: int, seed: int) -> Shot:
    """Search with the weights and the library of restart k, then fit to all samples."""
    samples, terms = weighted(search.samples, k, seed), search.terms
    if k:
        rng = np.random.default_rng([1, seed, k])
        kept = rng.random(len(terms)) > 0.15
        terms = [t for t, keep in zip(terms, kept, strict=True) if keep or set(t.powers) <= {0.0, 1.0}]
    local = Fitter(samples, search.nodes, search.scales, tuple(terms), search.check)
    tried: list[Shot] = []
    for model in proposed(
        search.path, samples, terms, search.signed, search.check, FEWER if k else PROPOSALS
    ):
        tried.append(local.fit(model, steps=8))
        if not k:  # with equal weights: the best so far, should time run out
            search.keep(tried[-1])
        if tried[-1].error < FLOOR:
            break
    tried.sort(key=local.length)
    best = min((local.shortened(s) for s in tried[:2]), key=local.length)
    return search.fitter.shortened(shoot(best.model, best.states, search.samples, search.check))


def weighted(samples: Samples, k: int, seed: int) -> Samples:
    """Return the samples with the weights of restart k; those of restart 0 are equal."""
    if k == 0:
        return samples
    weight = np.random.default_rng([0, seed, k]).exponential(size=len(samples.t))
    return replace(samples, weight=weight / weight.mean())


def refitted(search: SystemSearch, model: Model, states: Array, k: int, seed: int) -> Model:
    """Fit the numbers of a structure to the samples with the weights of restart k."""
    return shoot(model, states, weighted(search.samples, k, seed), search.check, 6).model
