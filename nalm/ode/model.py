"""A sparse system during the search: terms that equations share, their rates, and the slopes of the terms.

.. math:: \\dot x_j = \\sum_k c_{jk} \\prod_i x_i^{p_{ki}} \\, / \\, (K_k + x_{b_k})

A term is a product of powers, as in a power unit, divided by the denominator of a saturating rate where it has one; an
equation is a weighted sum, as in a NAU. Variables and time are scaled to about 1.
"""

from dataclasses import dataclass, replace

import numpy as np

from nalm.discover.fit.description_length import FREE, NICE, SYMBOL
from nalm.discover.law.expression import Array

EXPONENTS = 0.01, 4.0  # bounds of fitted exponents
TINY = 1e-6  # smallest scaled variable of which a fractional power is taken


@dataclass(frozen=True)
class Term:
    """A product of powers, one exponent per variable; with ``below`` it is divided by K + that variable.

    >>> Term((0.5, 1.0)), Term((1.0, 0.0), below=0, half=0.3)
    (Term(powers=(0.5, 1.0), below=None, half=0.0), Term(powers=(1.0, 0.0), below=0, half=0.3))
    """

    powers: tuple[float, ...]
    below: int | None = None
    half: float = 0.0  # K: the value at which the rate is half of its largest

    @property
    def shape(self) -> tuple[tuple[int, ...], int | None]:
        """The variables that it multiplies and the one that saturates: the term without its numbers."""
        return tuple(i for i, p in enumerate(self.powers) if p), self.below


@dataclass(frozen=True)
class Entry:
    """One term in one equation, and its rate: a factor times one of the model's rates."""

    equation: int
    term: int
    rate: int
    factor: float = 1.0


@dataclass(frozen=True)
class Model:
    """Terms, the equations that contain them, and their rates; exponents in ``settled`` are not fitted."""

    terms: tuple[Term, ...]
    entries: tuple[Entry, ...]
    rates: tuple[float, ...]
    settled: frozenset[tuple[int, int]] = frozenset()  # (term, variable)

    @property
    def moving(self) -> list[tuple[int, int]]:
        """The exponents that are fitted, as (term, variable)."""
        return [
            (k, i)
            for k, t in enumerate(self.terms)
            for i, p in enumerate(t.powers)
            if p and (k, i) not in self.settled
        ]

    @property
    def saturating(self) -> list[int]:
        """The terms with a denominator."""
        return [k for k, t in enumerate(self.terms) if t.below is not None]

    def numbers(self) -> Array:
        """Return the numbers that are fitted: rates, moving exponents, logarithms of K."""
        exponents = [self.terms[k].powers[i] for k, i in self.moving]
        halves = [float(np.log(self.terms[k].half)) for k in self.saturating]
        return np.array([*self.rates, *exponents, *halves])

    def renumbered(self, values: Array) -> "Model":
        """Return the same structure with other numbers."""
        rest = iter(values[len(self.rates) :].tolist())
        powers = [list(t.powers) for t in self.terms]
        for k, i in self.moving:
            powers[k][i] = float(np.clip(next(rest), *EXPONENTS))
        halves = {k: float(np.exp(np.clip(next(rest), -12, 12))) for k in self.saturating}
        terms = (
            Term(tuple(p), t.below, halves.get(k, 0.0))
            for k, (t, p) in enumerate(zip(self.terms, powers, strict=True))
        )
        return replace(self, terms=tuple(terms), rates=tuple(values[: len(self.rates)].tolist()))

    def matrix(self) -> Array:
        """Return the coefficients, (equations, terms)."""
        c = np.zeros((len(self.terms[0].powers), len(self.terms)))
        for e in self.entries:
            c[e.equation, e.term] += e.factor * self.rates[e.rate]
        return c

    def fix_exponent(self, k: int, i: int, power: float) -> "Model":
        """Fix the exponent of variable i in term k; with 0 the variable leaves the term."""
        t = self.terms[k]
        powers = tuple(power if n == i else p for n, p in enumerate(t.powers))
        terms = tuple(replace(t, powers=powers) if n == k else u for n, u in enumerate(self.terms))
        return replace(self, terms=terms, settled=self.settled | {(k, i)})

    def drop_entry(self, dropped: int) -> "Model":
        """Remove one entry, and the term and rate that only it used."""
        return built(self, [e for n, e in enumerate(self.entries) if n != dropped])

    def remove_saturation(self, k: int, *, large: bool) -> "Model":
        """Replace a saturating term by its limit for a large K, or for a small K: one power of x less."""
        t = self.terms[k]
        lower = Term(tuple(p - (i == t.below) for i, p in enumerate(t.powers)))
        plain, size = (replace(t, below=None, half=0.0), t.half + 1) if large else (lower, 1.0)
        terms = tuple(plain if n == k else u for n, u in enumerate(self.terms))
        scaled = {e.rate for e in self.entries if e.term == k}
        rates = tuple(r / size if n in scaled else r for n, r in enumerate(self.rates))
        return replace(self, terms=terms, rates=rates)

    def tie_rates(self, first: int, second: int, factor: float) -> "Model":
        """Make the rate of the second entry a multiple of that of the first."""
        rate = self.entries[first].rate
        entries = list(self.entries)
        entries[second] = replace(entries[second], rate=rate, factor=factor * entries[first].factor)
        return built(self, entries)

    def merged(self) -> "Model":
        """Join terms that have become equal."""
        firsts = [next(n for n, u in enumerate(self.terms) if u == t) for t in self.terms]
        if firsts == list(range(len(firsts))):
            return self
        model = built(self, [replace(e, term=firsts[e.term]) for e in self.entries])
        seen: set[tuple[int, int]] = set()
        for n, e in enumerate(model.entries):
            if (e.equation, e.term) in seen:
                return model.drop_entry(n).merged()  # the next fit corrects the rate
            seen.add((e.equation, e.term))
        return model

    @property
    def price(self) -> float:
        """The price of its numbers and symbols, in units of log n."""
        total = FREE * len(self.rates) + NICE * (len(self.entries) - len(self.rates))
        for k, t in enumerate(self.terms):
            for i, p in enumerate(t.powers):
                if p:
                    nice = (k, i) in self.settled
                    total += SYMBOL + (0.0 if nice and p == 1 else NICE if nice else FREE)
            total += (FREE + 2 * SYMBOL) * (t.below is not None)
        return total + SYMBOL * len(self.entries)

    @property
    def pattern(self) -> tuple[tuple[object, ...], ...]:
        """The shapes of the terms of every equation: the structure without its numbers."""
        return tuple(
            tuple(sorted((self.terms[e.term].shape for e in self.entries if e.equation == j), key=str))
            for j in range(1 + max((e.equation for e in self.entries), default=-1))
        )


def built(model: Model, entries: list[Entry]) -> Model:
    """Build a model of some of the entries, with the terms and rates that they use."""
    terms = sorted({e.term for e in entries})
    rates = sorted({e.rate for e in entries})
    return Model(
        tuple(model.terms[k] for k in terms),
        tuple(replace(e, term=terms.index(e.term), rate=rates.index(e.rate)) for e in entries),
        tuple(model.rates[r] for r in rates),
        frozenset((terms.index(k), i) for k, i in model.settled if k in terms),
    )


def raised(x: Array, power: float) -> Array:
    """Return x**power; a fractional power of a negative number is that of a tiny one."""
    if power == 1:
        return x
    if power == 2:
        return x * x
    if power > 0 and power % 1 == 0:
        return x ** int(power)
    if power == 0.5:
        return np.sqrt(np.maximum(x, TINY))
    return np.maximum(x, TINY) ** power


def steepness(x: Array, power: float) -> Array:
    """Return the derivative of x**power; 0 where a fractional power is that of a tiny number."""
    slope = power * raised(x, power - 1)
    return slope if power % 1 == 0 else np.where(x > TINY, slope, 0.0)


def value(term: Term, x: Array) -> Array:
    """Evaluate a term on states (..., variables)."""
    product = np.ones(x.shape[:-1])
    for i, p in enumerate(term.powers):
        if p:
            product = product * raised(x[..., i], p)
    return product if term.below is None else product / (term.half + x[..., term.below])


def slope(term: Term, i: int, x: Array) -> Array:
    """Return the derivative of a term in one variable."""
    p = term.powers[i]
    if not p and term.below != i:
        return np.zeros(x.shape[:-1])
    rest = replace(term, powers=tuple(q if n != i else 0.0 for n, q in enumerate(term.powers)))
    out = value(rest, x) * (steepness(x[..., i], p) if p not in (0.0, 1.0) else p)
    if term.below == i:
        out = out - value(term, x) / (term.half + x[..., i])
    return out
