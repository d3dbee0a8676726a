"""From a fitted model to a shorter one: terms dropped, exchanged or added, exponents made nice, rates tied together.

The shortest description of the data wins, as under noise in :mod:`nalm.discover.fit.description_length`: the misfit of
the whole trajectory, and a price per number and symbol. That a term leaves one equation and enters another at the
same rate, so that something is conserved, is a hypothesis with a price of its own.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from nalm.discover.law.expression import Array
from nalm.ode.model import Entry, Model, Term, built
from nalm.ode.shooting import Runs, Shot, condensed, gaps, matched, shoot

FLOOR = 1e-14  # of the mean square over the spread: what computed data may leave
CLEARLY = 3.0  # standard errors
CARRIED_OUT = 5  # of the moves foreseen


@dataclass(frozen=True)
class Fitter:
    """What a search of structures needs: the data, states to start from, the scales of the variables, the clock."""

    runs: Runs
    nodes: Array
    scales: Array  # of the variables: their own units over the scaled ones
    terms: tuple[Term, ...]  # the library
    check: Callable[[], None]

    @property
    def count(self) -> int:
        """How many numbers are explained."""
        return self.runs.x.size

    def length(self, shot: Shot) -> float:
        """The description length in nats."""
        n = self.count
        return float(n * np.log(shot.error + FLOOR) + np.log(n) * shot.model.price)

    def fit(self, model: Model, nodes: Array | None = None, steps: int = 15) -> Shot:
        """Shoot from given states; from the samples, with numbers matched first, if that fails."""
        shot = shoot(model, self.nodes if nodes is None else nodes, self.runs, self.check, steps)
        if not shot.joined:
            model = matched(model, self.nodes, self.runs, self.check, 5)
            again = shoot(model, self.nodes, self.runs, self.check, steps)
            shot = min(shot, again, key=lambda s: s.error)
        return shot

    def shortened(self, shot: Shot) -> Shot:
        """Make the moves that shorten the description, until none does."""
        for _ in range(30):
            for model in self._simpler(shot):
                found = shoot(model, shot.states, self.runs, self.check, 8)
                if self.length(found) < self.length(shot):
                    shot = found
                    break
            else:
                break
        return shot

    def extended(self, shot: Shot, most: int = 4) -> Shot:
        """Make one of two terms that are alike, add one or exchange one as the slopes foresee; then shorten again."""
        best = shot
        for model in (*_likened(shot.model), *self._richer(shot, most)):
            found = self.fit(model, shot.states, 10)
            if self.length(found) < self.length(shot) + 20:  # a nice number or two may still be saved
                found = self.shortened(found)
            best = min(best, found, key=self.length)
        return best

    def errors(self, shot: Shot) -> Array:
        """Standard errors of the numbers, from the slopes."""
        lead = len(self.runs.first) * self.runs.x.shape[1]
        flat = (self.runs.scale[:, :, None] * shot.slopes).reshape(self.count, -1)
        norm = np.sqrt(np.square(flat).sum(0))
        norm = np.where((norm > 0) & np.isfinite(norm), norm, 1.0)
        _, s, right = np.linalg.svd(np.nan_to_num(flat / norm), full_matrices=False)
        inverse = 1 / np.maximum(s, 1e-10 * s[0] + 1e-300)
        noise = np.sqrt(max(shot.error, 1e-20) * self.count / max(self.count - flat.shape[1], 1))
        return (noise * np.sqrt(((right.T * inverse) ** 2).sum(1)) / norm)[lead:]

    def _simpler(self, shot: Shot) -> Iterator[Model]:
        """Models with one number or entry less, those first that the standard errors favour."""
        model, errors = shot.model, np.maximum(self.errors(shot), 1e-12)
        n, price = self.count, model.price
        foreseen: list[tuple[float, int, Model]] = []

        def offer(far: float, simpler: Model) -> None:
            if simpler.entries:
                simpler = simpler.merged()
                saved = float(np.log(n) * (price - simpler.price))
                foreseen.append((n * float(np.log1p(far**2 / n)) - saved, len(foreseen), simpler))

        rates = np.array(model.rates)
        for k, e in enumerate(model.entries):
            if sum(o.equation == e.equation for o in model.entries) > 1:
                shared = [o for o in model.entries if o.rate == e.rate]
                far = abs(rates[e.rate]) / errors[e.rate]
                offer(
                    far,
                    built(model, [o for o in model.entries if o not in shared])
                    if len(shared) > 1
                    else model.without(k),
                )
        together = model
        for place, (k, i) in enumerate(model.moving, len(rates)):
            p = model.terms[k].powers[i]
            for nice in {round(p), round(2 * p) / 2, 0.0}:
                offer(abs(p - nice) / errors[place], model.settle(k, i, float(nice)))
            if abs(p - round(2 * p) / 2) < CLEARLY * errors[place] and round(2 * p):
                together = together.settle(k, i, round(2 * p) / 2)
        if together != model:
            offer(0.0, together)
        for place, k in enumerate(model.saturating, len(rates) + len(model.moving)):
            t = model.terms[k]
            plain = replace(t, below=None, half=0.0)
            lower = tuple(p - (i == t.below) for i, p in enumerate(t.powers))
            big, small = (abs(np.log(t.half) - at) / errors[place] for at in (3.0, -5.0))
            for far, power, size in ((big, plain, t.half + 1), (small, Term(lower), 1.0)):
                terms = tuple(power if n == k else u for n, u in enumerate(model.terms))
                grown = {e.rate for e in model.entries if e.term == k}
                new = tuple(r / size if n in grown else r for n, r in enumerate(rates.tolist()))
                offer(far, replace(model, terms=terms, rates=new))
        ties = list(self._ties(model, errors))
        for first, second, factor, far in ties:
            offer(far, model.tied(first, second, factor))
        foreseen.sort(key=lambda f: f[:2])
        yield from (m for cost, _, m in foreseen[:CARRIED_OUT] if cost < 200)

    def _ties(self, model: Model, errors: Array) -> Iterator[tuple[int, int, float, float]]:
        """Pairs of entries of one term that could have the same rate, in the units of the data, up to a sign."""
        for a, e in enumerate(model.entries):
            for b, o in enumerate(model.entries):
                if a < b and e.term == o.term and e.rate != o.rate and e.equation != o.equation:
                    one = model.rates[e.rate] * e.factor * self.scales[e.equation]
                    two = model.rates[o.rate] * o.factor * self.scales[o.equation]
                    unsure = np.hypot(
                        errors[e.rate] * e.factor * self.scales[e.equation],
                        errors[o.rate] * o.factor * self.scales[o.equation],
                    )
                    sign = float(np.sign(one * two)) or 1.0
                    factor = sign * self.scales[e.equation] / self.scales[o.equation]
                    yield a, b, factor, abs(one - sign * two) / unsure

    def _richer(self, shot: Shot, most: int) -> list[Model]:
        """Models with a term more, or one in place of another, those first that explain most of what is left."""
        model, d = shot.model, self.runs.x.shape[1]
        lead = len(self.runs.first) * d
        f, gap = gaps(model, shot.states, self.runs, self.check, self.terms)
        if not f.arrived:
            return []
        states, slopes = condensed(shot.states, f, gap, self.runs)
        flat = (self.runs.scale[:, :, None] * slopes).reshape(self.count, -1)
        r = (self.runs.scale * (self.runs.x - states)).ravel()
        own = lead + len(model.numbers())
        found: list[tuple[float, int, Model]] = []
        for dropped in (None, *range(len(model.entries))):
            self.check()
            rest = model if dropped is None else model.without(dropped)
            kept = np.ones(own, bool)
            if dropped is not None:
                lost = model.entries[dropped]
                if sum(e.equation == lost.equation for e in model.entries) < 1 or not rest.entries:
                    continue
                kept[lead + lost.rate] = any(e.rate == lost.rate for e in rest.entries)
                gone = all(e.term != lost.term for e in rest.entries)
                for place, (k, _) in enumerate(model.moving, lead + len(model.rates)):
                    kept[place] = not (gone and k == lost.term)
            q = np.linalg.qr(_unit(flat[:, :own][:, kept]))[0]
            extra = _unit(flat[:, own:])
            left, rough = extra - q @ (q.T @ extra), r - q @ (q.T @ r)
            if dropped is not None:  # what the dropped entry did is now to be done by another
                away = flat[:, lead + lost.rate] * model.rates[lost.rate]
                rough = rough + away - q @ (q.T @ away)
            size = np.square(left).sum(0)
            ok = size > 1e-8
            misfit = np.where(ok, rough @ rough - (left.T @ rough) ** 2 / np.where(ok, size, 1.0), np.inf)
            for place in np.argsort(misfit)[: 2 * most]:
                j, k = divmod(int(place), len(self.terms))
                more = _with(rest, j, self.terms[k])
                if more is not None:
                    value = self.count * np.log(max(misfit[place], 0.0) / self.count + FLOOR)
                    found.append((float(value + np.log(self.count) * more.price), len(found), more))
        found.sort(key=lambda f: f[:2])
        seen, out = set[object](), list[Model]()
        for _, _, m in found:
            if m.pattern not in seen and m.pattern != model.pattern and len(out) < most:
                seen.add(m.pattern)
                out.append(m)
        return out


def _likened(model: Model) -> Iterator[Model]:
    """With two terms of one shape in different equations made one, its exponents in between and free again."""
    for a, t in enumerate(model.terms):
        for b, u in enumerate(model.terms[a + 1 :], a + 1):
            where = [{e.equation for e in model.entries if e.term == k} for k in (a, b)]
            if t.shape == u.shape and not where[0] & where[1]:
                powers = tuple((p + q) / 2 for p, q in zip(t.powers, u.powers, strict=True))
                one = replace(t, powers=powers, half=float(np.sqrt(t.half * u.half)))
                freed = {(a, i) for i, (p, q) in enumerate(zip(t.powers, u.powers, strict=True)) if p != q}
                entries = [replace(e, term=a) if e.term == b else e for e in model.entries]
                terms = tuple(one if k == a else v for k, v in enumerate(model.terms))
                yield built(replace(model, terms=terms, settled=model.settled - freed), entries)


def _unit(a: Array) -> Array:
    norm = np.sqrt(np.square(a).sum(0))
    return np.nan_to_num(a / np.where((norm > 0) & np.isfinite(norm), norm, 1.0))


def _with(model: Model, j: int, term: Term) -> Model | None:
    """With one more entry, of a rate that is still next to nothing; None if it is there."""
    if any(e.equation == j and model.terms[e.term].shape == term.shape for e in model.entries):
        return None
    k = next((n for n, t in enumerate(model.terms) if t == term), len(model.terms))
    new = k == len(model.terms)
    settled = {
        (k, i)
        for i, p in enumerate(term.powers)
        if p and (float(2 * p).is_integer() or term.below is not None)
    }
    return Model(
        (*model.terms, term) if new else model.terms,
        (*model.entries, Entry(j, k, len(model.rates))),
        (*model.rates, 1e-6),
        model.settled | frozenset(settled if new else set()),
    )
