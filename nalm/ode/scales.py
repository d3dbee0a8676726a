"""From the scaled model of the search to the units of the data: coefficients, equations and intervals."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from nalm.discover.law import Law
from nalm.discover.law.constants import recognised
from nalm.discover.law.expression import Array, Function, Input, Node, Sum, powered, weighted
from nalm.ode.data import Trajectories
from nalm.ode.factors import Applied, Factor, Saturation
from nalm.ode.model import Model
from nalm.ode.system import Number, System

Factors = dict[tuple[int, int], Factor]  # by term and place


class StandardErrors(NamedTuple):
    """Standard errors: of the numbers of a scaled model, and of the rate of every entry in the units of the data."""

    numbers: Array
    coefficients: Array


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
            for f in term.factors:
                if isinstance(f, Saturation):
                    c *= self.sizes[f.variable] ** f.order
            out.append(float(c))
        return out

    def coefficient_errors(self, model: Model, root: Array) -> Array:
        """Return the standard errors of these rates from a root of the covariance of the numbers.

        The unit of a rate depends on the exponents of its term, and so does its error.
        """
        sizes = np.log(self.sizes)
        at = {place: index for index, place in enumerate(model.moving, len(model.rates))}
        out = []
        for e, c in zip(model.entries, self.coefficients(model), strict=True):
            row = root[e.rate] / (model.rates[e.rate] or 1e-300)
            row = row - sum(root[at[e.term, i]] * s for i, s in enumerate(sizes) if (e.term, i) in at)
            out.append(abs(c) * float(np.sqrt(np.square(row).sum())))
        return np.array(out)

    def factors(self, model: Model) -> Factors:
        """Return the factors of every term in the units of the data."""
        return {(k, m): self._factor(f) for k, t in enumerate(model.terms) for m, f in enumerate(t.factors)}

    def unit(self, factor: Factor) -> float:
        """Return the size of a scaled K, or of the first scaled weight, in the units of the data."""
        if isinstance(factor, Saturation):
            return float(self.sizes[factor.variable] ** factor.order)
        return float(1 / self.sizes[factor.variables[0]])

    def _factor(self, factor: Factor) -> Factor:
        if isinstance(factor, Saturation):
            return replace(factor, half=factor.half * self.unit(factor))
        weights = (float(f"{w / s:.14g}") for w, s in zip(factor.weights, self.sizes, strict=True))
        return replace(factor, weights=tuple(weights))

    def laws(self, model: Model, coefficients: Sequence[float], factors: Factors) -> tuple[Law, ...]:
        """Build the equations; variables that never change have 0."""
        moving = self.data.moving
        inputs = [Input(i) for i in moving]
        rows: dict[int, tuple[list[Node], list[float], float]] = {
            j: ([], [], 0.0) for j in range(len(self.data.names))
        }
        for e, c in zip(model.entries, coefficients, strict=True):
            term = model.terms[e.term]
            nodes: list[Node] = list(inputs)
            powers = list(term.powers)
            for m in range(len(term.factors)):
                node, power = _node(factors[e.term, m], inputs)
                nodes.append(node)
                powers.append(power)
            j = moving[e.equation]
            if any(powers):
                rows[j][0].append(powered(nodes, powers))
                rows[j][1].append(c)
            else:
                rows[j] = (*rows[j][:2], rows[j][2] + c)
        return tuple(Law(weighted(nodes, cs, bias), self.data.names) for nodes, cs, bias in rows.values())

    def system(self, model: Model) -> System:
        """Convert a model with all its digits to a system without a verdict."""
        return System(self.laws(model, self.coefficients(model), self.factors(model)))

    def starts(self, moving: Array) -> tuple[tuple[float, ...], ...]:
        """Return the first states of all variables: fitted, or as given where a variable never changes."""
        starts = np.stack([x[0] for x in self.data.x])
        starts[:, self.data.moving] = moving
        return tuple(map(tuple, starts.tolist()))

    def rounded_system(
        self, model: Model, spread: StandardErrors, fine: Array
    ) -> tuple[tuple[Law, ...], list[Number]]:
        """Build the equations, and all intervals.

        Numbers are recognised, or rounded to a tenth of their errors in ``fine``.
        """
        coefficients, of_rates = self._rates(model, spread.coefficients, fine)
        factors, inside = self._inner(model, spread.numbers, fine)
        intervals = [*of_rates, *self._exponents(model, spread.numbers), *inside]
        return self.laws(model, coefficients, factors), intervals

    def _rates(self, model: Model, errors: Array, fine: Array) -> tuple[list[float], list[Number]]:
        """Round the rates; entries of one rate and one size get the same number."""
        names, texts = self.data.names, self._texts(model)
        shown: dict[int, float] = {}
        coefficients, intervals = [], []
        for e, c, unsure in zip(model.entries, self.coefficients(model), errors, strict=True):
            unit = abs(c) / max(abs(model.rates[e.rate]), 1e-300)
            own = rounded(c, unit * fine[e.rate])
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

    def _inner(self, model: Model, spread: Array, fine: Array) -> tuple[Factors, list[Number]]:
        """Round the numbers of factors; intervals of K and of weights are symmetric in the logarithm."""
        texts, names = self._texts(model), [self.data.names[i] for i in self.data.moving]
        factors, intervals = self.factors(model), []
        for k, m, first, end in model.inner_places():
            factor, wide, unsure = factors[k, m], min(spread[first], 50.0), fine[first]
            around = [float(np.exp(s * 1.96 * wide)) for s in (-1, 1)]
            if isinstance(factor, Saturation):
                half = rounded(factor.half, factor.half * unsure)
                intervals.append(Number(f"K of {texts[k]}", half, *(factor.half * a for a in around)))
                factors[k, m] = replace(factor, half=half)
                continue
            i = factor.variables[0]
            weight = factor.weights[i]
            near = rounded(weight, abs(weight) * unsure)
            low, high = sorted(weight * a for a in around)
            intervals.append(Number(f"weight of {names[i]} in {texts[k]}", near, low, high))
            offset = factor.offset
            if end > first + 1:
                offset = rounded(offset, fine[first + 1])
                intervals.append(_interval(f"offset in {texts[k]}", offset, spread[first + 1]))
            weights = tuple(float(w * near / weight) for w in factor.weights)
            factors[k, m] = replace(factor, weights=weights, offset=offset)
        return factors, intervals

    def _same_size(self, model: Model, rate: int) -> bool:
        """Return whether several entries share a rate and have the same size in the units of the data."""
        sizes = [abs(e.factor) * self.sizes[e.equation] for e in model.entries if e.rate == rate]
        return len(sizes) > 1 and bool(np.allclose(sizes, sizes[0], rtol=1e-9))

    def _texts(self, model: Model) -> list[str]:
        """Return every term as text, with its exponents and without its other numbers."""
        out, names = [], [self.data.names[i] for i in self.data.moving]
        for t in model.terms:
            above = [_power_text(n, p) for n, p in zip(names, t.powers, strict=True) if p]
            above += [_applied_text(f, names) for f in t.factors if isinstance(f, Applied)]
            below = [_power_text(names[f.variable], f.order) for f in t.factors if isinstance(f, Saturation)]
            out.append("/".join(["*".join(above) or "1", *(f"(K + {b})" for b in below)]))
        return out


def _node(factor: Factor, inputs: Sequence[Node]) -> tuple[Node, float]:
    """Return a factor in the units of the data as an expression, and its exponent."""
    if isinstance(factor, Saturation):
        return Sum((powered([inputs[factor.variable]], [factor.order]),), (1.0,), factor.half), -1.0
    return Function(factor.name, weighted(inputs, factor.weights, factor.offset)), factor.power


def _power_text(name: str, power: float) -> str:
    return name if power == 1 else f"{name}**{power:.3g}"


def _applied_text(factor: Applied, names: Sequence[str]) -> str:
    """Return a function as text, without the sizes of its weights."""
    signs = [("-" if factor.weights[i] < 0 else "+", names[i]) for i in factor.variables]
    inside = " ".join(f"{s} {n}" for s, n in signs).removeprefix("+ ").replace("- ", "-", signs[0][0] == "-")
    return _power_text(f"{factor.name}({inside})", factor.power)


def rounded(value: float, error: float) -> float:
    """Return the simplest number that the data admit, or the value rounded to a tenth of its error."""
    found = recognised(value, max(2 * error, 1e-7 * abs(value)))
    return found or decimal(value, error)


def decimal(value: float, error: float) -> float:
    """Return the value rounded to a tenth of its error.

    >>> decimal(0.70746771, 0.0052), decimal(0.70746771, 0.0)
    (0.7075, 0.70746771)
    """
    if not error > 0 or not np.isfinite(error) or not value:
        return value
    digits = 1 + max(0, int(np.floor(np.log10(abs(value))) - np.floor(np.log10(error / 10))))
    return float(f"{value:.{min(digits, 15) - 1}e}")


def _interval(where: str, value: float, error: float) -> Number:
    return Number(where, float(value), float(value - 1.96 * error), float(value + 1.96 * error))
