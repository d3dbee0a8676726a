"""The fitter of one search: it fits models, shortens them by the moves of ``moves.py``, and extends them.

The shortest description of the data wins, as under noise in :mod:`nalm.discover.fit.description_length`: the misfit of
the whole trajectory plus a price per number and symbol. Tied rates, where a term leaves one equation and enters
another, cost less than two rates, so conservation is preferred where the data admit it.
"""

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from nalm.discover.law.expression import Array
from nalm.ode.model import Entry, Model, Term
from nalm.ode.moves import (
    covariance_root,
    dropped_entries,
    fixed_arguments,
    fixed_exponents,
    merged_terms,
    removed_saturations,
    straightened,
    tied_rates,
)
from nalm.ode.shooting import Samples, Shot, condensed, gaps, matched, shoot

FLOOR = 1e-14  # of the mean square over the spread: what computed data may leave
CARRIED_OUT = 5  # of the moves foreseen
HOPELESS = 200.0  # nats: moves that are foreseen to cost more are not tried


@dataclass(frozen=True)
class Fitter:
    """Fits and shortens models: holds the samples, the initial states, the scales of the variables and the clock."""

    samples: Samples
    nodes: Array
    scales: Array  # of the variables: their own units over the scaled ones
    terms: tuple[Term, ...]  # the library
    check: Callable[[], None]

    @property
    def count(self) -> int:
        """The number of observed values."""
        return self.samples.x.size

    def length(self, shot: Shot) -> float:
        """Return the description length in nats."""
        return float(self.count * np.log(shot.error + FLOOR)) + self.priced(shot.model)

    def priced(self, model: Model) -> float:
        """Return the price of a model in nats: that of its numbers and symbols, and that of AICc for few samples.

        First states and the size of the noise are numbers, too.
        """
        k = len(model.numbers()) + len(self.samples.first) * self.samples.x.shape[1] + 1
        few = 2 * k * (k + 1) / max(self.count - k - 1, 1)
        return float(np.log(self.count) * model.price + few)

    def fit(self, model: Model, nodes: Array | None = None, steps: int = 15) -> Shot:
        """Fit by shooting from given states; if that fails, match the numbers first and start from the samples."""
        shot = shoot(model, self.nodes if nodes is None else nodes, self.samples, self.check, steps)
        if not shot.joined:
            model = matched(model, self.nodes, self.samples, self.check, 5)
            again = shoot(model, self.nodes, self.samples, self.check, steps)
            shot = min(shot, again, key=lambda s: s.error)
        return shot

    def shortened(self, shot: Shot) -> Shot:
        """Make moves as long as one of them shortens the description."""
        for _ in range(30):
            for model in self._simpler(shot):
                found = shoot(model, shot.states, self.samples, self.check, 8)
                if self.length(found) < self.length(shot):
                    shot = found
                    break
            else:
                break
        return shot

    def extended(self, shot: Shot, most: int = 4) -> Shot:
        """Merge similar terms, add a term or exchange one, as the slopes suggest; shorten the result again."""
        best = shot
        for model in (*merged_terms(shot.model), *self._richer(shot, most)):
            found = self.fit(model, shot.states, 10)
            if self.length(found) < self.length(shot) + 20:  # a nice number or two may still be saved
                found = self.shortened(found)
            best = min(best, found, key=self.length)
        return best

    def errors(self, shot: Shot, least: float = 1e-20) -> Array:
        """Return standard errors of the numbers from the slopes, to first order, for an error of ``least`` or more."""
        return np.asarray(np.sqrt(np.square(self.root(shot, least)).sum(1)))

    def root(self, shot: Shot, least: float = 1e-20) -> Array:
        """Return a matrix that times its transpose is the covariance of the numbers."""
        lead = len(self.samples.first) * self.samples.x.shape[1]
        flat = (self.samples.scale[:, :, None] * shot.slopes).reshape(self.count, -1)
        return covariance_root(flat, max(shot.error, least))[lead:]

    def _simpler(self, shot: Shot) -> Iterator[Model]:
        """Yield models with one number or entry less, the ones that the standard errors favour first."""
        model, errors = shot.model, np.maximum(self.errors(shot, FLOOR), 1e-12)
        moves = itertools.chain(
            dropped_entries(model, errors),
            fixed_exponents(model, errors),
            removed_saturations(model, errors),
            fixed_arguments(model, errors, self.scales),
            straightened(model, shot.states) if shot.error > FLOOR else (),
            tied_rates(model, errors, self.scales),
        )
        simpler = [(far, m.merged()) for far, m in moves if m.entries]
        foreseen = [(self._foreseen(far, m, model), k) for k, (far, m) in enumerate(simpler)]
        yield from (simpler[k][1] for cost, k in sorted(foreseen)[:CARRIED_OUT] if cost < HOPELESS)

    def _foreseen(self, far: float, simpler: Model, model: Model) -> float:
        """Estimate the change of the description length from how many standard errors a move is away."""
        saved = self.priced(model) - self.priced(simpler)
        return self.count * float(np.log1p(far**2 / self.count)) - saved

    def _richer(self, shot: Shot, most: int) -> list[Model]:
        """Return models with a term more, or one in place of another, the ones that explain most first."""
        model = shot.model
        f, gap = gaps(model, shot.states, self.samples, self.check, self.terms)
        if not f.arrived:
            return []
        states, slopes = condensed(shot.states, f, gap, self.samples)
        slopes = (self.samples.scale[:, :, None] * slopes).reshape(self.count, -1)
        residual = (self.samples.scale * (self.samples.x - states)).ravel()
        found: list[tuple[float, Model]] = []
        for dropped in (None, *range(len(model.entries))):
            self.check()
            found += self._additions(model, dropped, slopes, residual, 2 * most)
        order = sorted(range(len(found)), key=lambda k: (found[k][0], k))
        out: dict[object, Model] = {}
        for m in (found[k][1] for k in order):
            if m.pattern != model.pattern and len(out) < most:
                out.setdefault(m.pattern, m)
        return list(out.values())

    def _additions(
        self, model: Model, dropped: int | None, slopes: Array, residual: Array, most: int
    ) -> Iterator[tuple[float, Model]]:
        """Yield the terms that explain most of the residual, one entry of the model dropped or none.

        The first columns of ``slopes`` are those of the first states and of the model's numbers, the others those
        of the rates that the terms of the library would have in every equation.
        """
        lead = len(self.samples.first) * self.samples.x.shape[1]
        own = lead + len(model.numbers())
        rest = model if dropped is None else model.drop_entry(dropped)
        if not rest.entries:
            return
        kept = _kept_columns(model, rest, dropped, lead)
        q = np.linalg.qr(_unit(slopes[:, :own][:, kept]))[0]
        extra = _unit(slopes[:, own:])
        left, rough = extra - q @ (q.T @ extra), residual - q @ (q.T @ residual)
        if dropped is not None:  # another term must now explain what the dropped entry explained
            rate = model.entries[dropped].rate
            away = slopes[:, lead + rate] * model.rates[rate]
            rough = rough + away - q @ (q.T @ away)
        size = np.square(left).sum(0)
        ok = size > 1e-8
        misfit = np.where(ok, rough @ rough - (left.T @ rough) ** 2 / np.where(ok, size, 1.0), np.inf)
        for index in np.argsort(misfit)[:most]:
            j, k = divmod(int(index), len(self.terms))
            more = _with(rest, j, self.terms[k])
            if more is not None:
                value = self.count * np.log(max(misfit[index], 0.0) / self.count + FLOOR)
                yield float(value + self.priced(more)), more


def _kept_columns(model: Model, rest: Model, dropped: int | None, lead: int) -> np.ndarray:
    """Return which slopes (of first states and numbers) are still those of a model without one entry."""
    kept = np.ones(lead + len(model.numbers()), bool)
    if dropped is not None:
        lost = model.entries[dropped]
        kept[lead + lost.rate] = any(e.rate == lost.rate for e in rest.entries)
        gone = all(e.term != lost.term for e in rest.entries)
        inner = [(k, index) for k, _, first, end in model.inner_places() for index in range(first, end)]
        for k, index in [(k, n) for n, (k, _) in enumerate(model.moving, len(model.rates))] + inner:
            kept[lead + index] = not (gone and k == lost.term)
    return kept


def _close(a: Term, b: Term) -> bool:
    """Return whether two terms have one shape, and exponents that differ by less than 1."""
    far = max((abs(p - q) for p, q in zip(a.powers, b.powers, strict=True)), default=0.0)
    return a.shape == b.shape and far < 1


def _unit(a: Array) -> Array:
    norm = np.sqrt(np.square(a).sum(0))
    return np.nan_to_num(a / np.where((norm > 0) & np.isfinite(norm), norm, 1.0))


def _with(model: Model, j: int, term: Term) -> Model | None:
    """Add an entry with a rate near 0; return None if the equation has such a term already."""
    if any(e.equation == j and _close(model.terms[e.term], term) for e in model.entries):
        return None
    k = next((n for n, t in enumerate(model.terms) if t == term), len(model.terms))
    new = k == len(model.terms)
    settled = {(k, i) for i, p in enumerate(term.powers) if p and (float(2 * p).is_integer() or term.factors)}
    return Model(
        (*model.terms, term) if new else model.terms,
        (*model.entries, Entry(j, k, len(model.rates))),
        (*model.rates, 1e-6),
        model.settled | frozenset(settled if new else set()),
    )
