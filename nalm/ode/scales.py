"""From the scaled model of the search to the units of the data: coefficients, equations and intervals."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from nalm.discover.law import Law
from nalm.discover.law.constants import recognised
from nalm.discover.law.expression import Array, Input, Node, Sum, powered, weighted
from nalm.ode.data import Trajectories
from nalm.ode.model import Model
from nalm.ode.system import Number, System


@dataclass
class DataScales:
    """The scales of the data, with which a scaled model becomes a system of laws."""

    data: Trajectories

    def __post_init__(self) -> None:
        self.sizes, self.duration = self.data.scales()

    def coefficients(self, model: Model) -> list[float]:
        """Return the rate of every entry in the units of the data."""
        out = []
        for e in model.entries:
            term = model.terms[e.term]
            c = model.rates[e.rate] * e.factor * self.sizes[e.equation] / self.duration
            c /= float(np.prod([s**p for s, p in zip(self.sizes, term.powers, strict=True)]))
            out.append(float(c if term.below is None else c * self.sizes[term.below]))
        return out

    def laws(self, model: Model, coefficients: Sequence[float], halves: dict[int, float]) -> tuple[Law, ...]:
        """Build the equations; variables that never change have 0."""
        moving = self.data.moving
        rows: dict[int, tuple[list[Node], list[float], float]] = {
            j: ([], [], 0.0) for j in range(len(self.data.names))
        }
        for e, c in zip(model.entries, coefficients, strict=True):
            term = model.terms[e.term]
            nodes: list[Node] = [Input(moving[i]) for i in range(len(term.powers))]
            powers = list(term.powers)
            if term.below is not None:
                nodes.append(Sum((Input(moving[term.below]),), (1.0,), halves[e.term]))
                powers.append(-1.0)
            j = moving[e.equation]
            if any(powers):
                rows[j][0].append(powered(nodes, powers))
                rows[j][1].append(c)
            else:
                rows[j] = (*rows[j][:2], rows[j][2] + c)
        return tuple(Law(weighted(nodes, cs, bias), self.data.names) for nodes, cs, bias in rows.values())

    def system(self, model: Model) -> System:
        """Convert a model with all its digits to a system without a verdict."""
        below = {k: model.terms[k].below for k in model.saturating}
        halves = {k: float(model.terms[k].half * self.sizes[i]) for k, i in below.items() if i is not None}
        return System(self.laws(model, self.coefficients(model), halves))

    def starts(self, moving: Array) -> tuple[tuple[float, ...], ...]:
        """Return the first states of all variables: fitted, or as given where a variable never changes."""
        starts = np.stack([x[0] for x in self.data.x])
        starts[:, self.data.moving] = moving
        return tuple(map(tuple, starts.tolist()))

    def rounded_system(
        self, model: Model, spread: Array, errors: Array
    ) -> tuple[tuple[Law, ...], list[Number]]:
        """Build the equations with numbers recognised or rounded to a tenth of their error, and all intervals."""
        coefficients, of_rates = self._rates(model, spread, errors)
        halves, of_halves = self._halves(model, spread, errors)
        intervals = [*of_rates, *self._exponents(model, spread), *of_halves]
        return self.laws(model, coefficients, halves), intervals

    def _rates(self, model: Model, spread: Array, errors: Array) -> tuple[list[float], list[Number]]:
        """Round the rates; entries of one rate and one size get the same number."""
        names, texts = self.data.names, self._texts(model)
        keep = bool(model.moving)  # errors of rates and free exponents depend on each other: keep all digits
        shown: dict[int, float] = {}
        coefficients, intervals = [], []
        for e, c in zip(model.entries, self.coefficients(model), strict=True):
            unsure = abs(c) * spread[e.rate] / max(abs(model.rates[e.rate]), 1e-300)
            near = abs(c) * errors[e.rate] / max(abs(model.rates[e.rate]), 1e-300)
            own = c if keep else rounded(c, max(near, unsure))
            size = shown.setdefault(e.rate, own)
            c = float(np.sign(c)) * abs(size) if self._same_size(model, e.rate) else own
            coefficients.append(c)
            where = f"rate of {texts[e.term]} in d{names[self.data.moving[e.equation]]}/dt"
            intervals.append(_interval(where, c, unsure))
        return coefficients, intervals

    def _exponents(self, model: Model, spread: Array) -> list[Number]:
        """Return the intervals of the fitted exponents."""
        names, texts, out = self.data.names, self._texts(model), []
        for index, (k, i) in enumerate(model.moving, len(model.rates)):
            where = f"exponent of {names[self.data.moving[i]]} in {texts[k]}"
            out.append(_interval(where, model.terms[k].powers[i], spread[index]))
        return out

    def _halves(self, model: Model, spread: Array, errors: Array) -> tuple[dict[int, float], list[Number]]:
        """Round K of every saturating term; its interval is symmetric in log K."""
        texts, halves, intervals = self._texts(model), {}, []
        for index, k in enumerate(model.saturating, len(model.rates) + len(model.moving)):
            below = model.terms[k].below
            assert below is not None
            half = model.terms[k].half * self.sizes[below]
            halves[k] = rounded(half, half * max(errors[index], spread[index]))
            low, high = (float(half * np.exp(s * 1.96 * min(spread[index], 50.0))) for s in (-1, 1))
            intervals.append(Number(f"K of {texts[k]}", halves[k], low, high))
        return halves, intervals

    def _same_size(self, model: Model, rate: int) -> bool:
        """Tell whether several entries share a rate and have the same size in the units of the data."""
        sizes = [abs(e.factor) * self.sizes[e.equation] for e in model.entries if e.rate == rate]
        return len(sizes) > 1 and bool(np.allclose(sizes, sizes[0], rtol=1e-9))

    def _texts(self, model: Model) -> list[str]:
        """Return every term as text without its numbers."""
        out, names = [], [self.data.names[i] for i in self.data.moving]
        for t in model.terms:
            above = "*".join(names[i] for i, p in enumerate(t.powers) if p) or "1"
            out.append(above if t.below is None else f"{above}/(K + {names[t.below]})")
        return out


def rounded(value: float, error: float) -> float:
    """Return the simplest number that the data admit, or the value rounded to a tenth of its error."""
    found = recognised(value, max(2 * error, 1e-7 * abs(value)))
    if found:
        return found
    if not error > 0 or not np.isfinite(error) or not value:
        return value
    digits = 1 + max(0, int(np.floor(np.log10(abs(value))) - np.floor(np.log10(error / 10))))
    return float(f"{value:.{min(digits, 15) - 1}e}")


def _interval(where: str, value: float, error: float) -> Number:
    return Number(where, float(value), float(value - 1.96 * error), float(value + 1.96 * error))
