"""A sparse system during the search: terms that equations share, their rates, and the slopes of the terms.

.. math:: \\dot x_j = \\sum_k c_{jk} \\prod_i x_i^{p_{ki}} \\prod_m f_{km}(x)

A term is a product of powers, as in a power unit, times further factors where it has them: the denominator of a
saturating rate, or a function; an equation is a weighted sum, as in a NAU. Variables and time are scaled to about 1.
"""

from dataclasses import dataclass, replace

import numpy as np

from nalm.discover.fit.description_length import FREE, NICE, SYMBOL
from nalm.discover.law.expression import Array
from nalm.ode.factors import Factor, Saturation, raised, steepness

EXPONENTS = 0.01, 6.0  # bounds of fitted exponents
CLEAN = 0.05  # distance of twice an exponent from an integer


@dataclass(frozen=True)
class Term:
    """A product of powers, one exponent per variable, and of further factors.

    >>> Term((0.5, 1.0)), Term((1.0, 0.0), (Saturation(0, half=0.3),))
    (Term(powers=(0.5, 1.0), factors=()),
     Term(powers=(1.0, 0.0), factors=(Saturation(variable=0, half=0.3, order=1.0),)))
    """

    powers: tuple[float, ...]
    factors: tuple[Factor, ...] = ()

    @property
    def shape(self) -> tuple[tuple[int, ...], tuple[object, ...]]:
        """The variables that it multiplies or (as ~i) divides by, and its factors: the term without its numbers."""
        variables = tuple(i if p > 0 else ~i for i, p in enumerate(self.powers) if p)
        return variables, tuple(f.shape for f in self.factors)

    @property
    def variables(self) -> set[int]:
        """The variables that it depends on."""
        return {i for i, p in enumerate(self.powers) if p}.union(*(f.variables for f in self.factors))

    def whole(self) -> bool:
        """Return whether all exponents are integers."""
        return all(float(p).is_integer() for p in self.powers)

    def plain(self) -> bool:
        """Return whether the term is a product of variables."""
        return not self.factors and set(self.powers) <= {0.0, 1.0}


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
    def inner(self) -> list[tuple[int, int]]:
        """The factors with numbers that are fitted, as (term, place of the factor)."""
        return [(k, m) for k, t in enumerate(self.terms) for m, f in enumerate(t.factors) if f.numbers()]

    def numbers(self) -> Array:
        """Return the numbers that are fitted: rates, moving exponents, numbers of factors."""
        exponents = [self.terms[k].powers[i] for k, i in self.moving]
        inside = [n for k, m in self.inner for n in self.terms[k].factors[m].numbers()]
        return np.array([*self.rates, *exponents, *inside])

    def inner_places(self) -> list[tuple[int, int, int, int]]:
        """Return (term, place of the factor, first number, end) for the factors with fitted numbers."""
        at, out = len(self.rates) + len(self.moving), []
        for k, m in self.inner:
            end = at + len(self.terms[k].factors[m].numbers())
            out.append((k, m, at, end))
            at = end
        return out

    def renumbered(self, values: Array) -> "Model":
        """Return the same structure with other numbers."""
        at = len(self.rates)
        powers, factors = [list(t.powers) for t in self.terms], [list(t.factors) for t in self.terms]
        for place, (k, i) in enumerate(self.moving, at):
            powers[k][i] = float(np.clip(values[place], *EXPONENTS))
        for k, m, first, end in self.inner_places():
            factors[k][m] = factors[k][m].renumbered(values[first:end].tolist())
        terms = (Term(tuple(p), tuple(f)) for p, f in zip(powers, factors, strict=True))
        return replace(self, terms=tuple(terms), rates=tuple(values[:at].tolist()))

    def clean(self) -> bool:
        """Return whether all exponents are near multiples of a half."""
        return all(abs(2 * p - round(2 * p)) < CLEAN for t in self.terms for p in t.powers)

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

    def exchange_factor(self, k: int, m: int, new: Factor) -> "Model":
        """Put another factor into the place of one of term k."""
        t = self.terms[k]
        changed = replace(t, factors=tuple(new if n == m else f for n, f in enumerate(t.factors)))
        return replace(self, terms=tuple(changed if n == k else u for n, u in enumerate(self.terms)))

    def remove_saturation(self, k: int, m: int, *, large: bool) -> "Model":
        """Replace a saturating factor of term k by its limit for a large K, or for a small K: n powers of x less."""
        t, f = self.terms[k], self.terms[k].factors[m]
        assert isinstance(f, Saturation)
        rest = tuple(other for n, other in enumerate(t.factors) if n != m)
        powers = tuple(p - f.order * (i == f.variable and not large) for i, p in enumerate(t.powers))
        size = f.half + 1 if large else 1.0
        terms = tuple(Term(powers, rest) if n == k else u for n, u in enumerate(self.terms))
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
            total += sum(f.price for f in t.factors)
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


def value(term: Term, x: Array) -> Array:
    """Evaluate a term on states (..., variables)."""
    product = np.ones(x.shape[:-1])
    for i, p in enumerate(term.powers):
        if p:
            product = product * raised(x[..., i], p)
    for f in term.factors:
        product = product * f.value(x)
    return product


def slope(term: Term, i: int, x: Array) -> Array:
    """Return the derivative of a term in one variable."""
    out, p = np.zeros(x.shape[:-1]), term.powers[i]
    if p:
        rest = replace(term, powers=tuple(q if n != i else 0.0 for n, q in enumerate(term.powers)))
        out = value(rest, x) * (steepness(x[..., i], p) if p != 1 else 1.0)
    for m, f in enumerate(term.factors):
        if i in f.variables:
            out = out + value(without(term, m), x) * f.slope(i, x)
    return out


def without(term: Term, m: int) -> Term:
    """Return the term without one of its factors."""
    return replace(term, factors=tuple(f for n, f in enumerate(term.factors) if n != m))


def inner_slopes(term: Term, m: int, x: Array) -> list[Array]:
    """Return the derivatives of a term in the numbers of one of its factors."""
    rest = value(without(term, m), x)
    return [rest * s for s in term.factors[m].number_slopes(x)]
