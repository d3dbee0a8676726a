"""The search: structures from the integral form, fitted by shooting, shortened, and tried again from other starts.

A restart weighs the samples at random (exponential weights, a bootstrap) and searches a part of the library. What
it finds is fitted once more to all samples with equal weights; the shortest description wins, whoever found it.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from nalm.discover.law.expression import Array
from nalm.discover.problem import TimeUpError
from nalm.ode.model import Model, Term
from nalm.ode.path import Path, splined
from nalm.ode.refine import FLOOR, Fitter
from nalm.ode.selection import Integrals, combined, library, proposed
from nalm.ode.shooting import Runs, Shot, shoot

PROPOSALS, FEWER = 8, 4  # structures that are fitted, at first and by a restart
LEAST = 1e-4  # where variables that are never negative begin, over their largest value


@dataclass
class Clock:
    """Raises TimeUpError when the time is over."""

    deadline: float

    def __call__(self) -> None:
        """Look at the time."""
        if time.monotonic() > self.deadline:
            raise TimeUpError


@dataclass
class Search:
    """Everything that was fitted, and what each restart found."""

    runs: Runs
    path: Path
    scales: Array
    signed: np.ndarray
    check: Callable[[], None]
    terms: list[Term] = field(default_factory=list)
    found: list[Shot | None] = field(default_factory=list)  # by restart; None where time was up
    best: Shot | None = None

    @property
    def fitter(self) -> Fitter:
        """Of all samples with equal weights."""
        return Fitter(self.runs, self.nodes, self.scales, tuple(self.terms), self.check)

    def keep(self, shot: Shot | None) -> None:
        """Remember a fit if nothing better is known."""
        if shot is not None and (
            self.best is None or self.fitter.length(shot) < self.fitter.length(self.best)
        ):
            self.best = shot

    @property
    def nodes(self) -> Array:
        """States to start from: smoothed samples, above zero where a variable is never negative."""
        return np.where(self.signed, self.path.nodes, np.maximum(self.path.nodes, LEAST))


def prepared(runs: Runs, scales: Array, check: Callable[[], None]) -> Search:
    """The path between the samples and the library of terms; noise alone gives no variable both signs."""
    path = splined(runs)
    runs = replace(runs, tolerance=float(np.clip(1e-3 * np.median(path.noise), 1e-9, 1e-4)))
    low = runs.x.min(0)
    signed = low < -np.maximum(4 * path.noise * runs.spread, 1e-9)
    return Search(runs, path, scales, signed, check, library(signed))


def searched(search: Search, restarts: int, seed: int) -> None:
    """Fill in what the restarts find, and the best of it; stops early, with what there is, when time is up.

    The best is extended after the first restart already, before the others can use up the time.
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


def _extend(search: Search) -> None:
    """Exchange and add terms of the best as long as that makes it shorter."""
    for _ in range(3):
        before = search.best
        assert before is not None  # the rough one at least
        if before.error < FLOOR:
            break
        search.keep(search.fitter.extended(before))
        if search.best is before:
            break


def _rough(search: Search) -> Shot:
    """The best set of plain terms, unfitted: something to say if there is no time at all."""
    form = Integrals(search.path, search.runs, lambda: None)
    d = search.runs.x.shape[1]
    plain = tuple(
        t for t in search.terms if t.below is None and sum(t.powers) <= 1 and set(t.powers) <= {0.0, 1.0}
    )
    (model,) = combined([[form.solved(j, plain)] for j in range(d)], len(search.runs.inner), 1)
    slopes = np.zeros((*search.runs.x.shape, len(search.runs.first) * d + len(model.numbers())))
    return Shot(model, search.nodes, np.inf, slopes, False)


def _restart(search: Search, k: int, seed: int) -> Shot:
    """Search with weights and a library of its own, then fit to all samples."""
    runs, terms = weighted(search.runs, k, seed), search.terms
    if k:
        rng = np.random.default_rng([1, seed, k])
        kept = rng.random(len(terms)) > 0.15
        terms = [t for t, keep in zip(terms, kept, strict=True) if keep or set(t.powers) <= {0.0, 1.0}]
    local = Fitter(runs, search.nodes, search.scales, tuple(terms), search.check)
    tried: list[Shot] = []
    for model in proposed(search.path, runs, terms, search.signed, search.check, FEWER if k else PROPOSALS):
        tried.append(local.fit(model, steps=8))
        if not k:  # with equal weights: the best so far, should time run out
            search.keep(tried[-1])
        if tried[-1].error < FLOOR:
            break
    tried.sort(key=local.length)
    best = min((local.shortened(s) for s in tried[:2]), key=local.length)
    return search.fitter.shortened(shoot(best.model, best.states, search.runs, search.check))


def weighted(runs: Runs, k: int, seed: int) -> Runs:
    """The samples as restart k sees them; restart 0 weighs them all alike."""
    if k == 0:
        return runs
    weight = np.random.default_rng([0, seed, k]).exponential(size=len(runs.t))
    return replace(runs, weight=weight / weight.mean())


def refitted(search: Search, model: Model, states: Array, k: int, seed: int) -> Model:
    """The numbers of a structure as restart k sees them."""
    return shoot(model, states, weighted(search.runs, k, seed), search.check, 6).model
