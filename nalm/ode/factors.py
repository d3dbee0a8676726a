"""Factors of a term besides powers of variables: one over K + x**n, and an elementary function of a weighted sum.

Both have the same methods: value and slopes on states (..., variables), and numbers that are fitted.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from nalm.discover.fit.description_length import FREE, NICE, SYMBOL
from nalm.discover.law.expression import Array
from nalm.discover.law.functions import FUNCTIONS

TINY = 1e-6  # smallest scaled variable of which a fractional power is taken
LARGEST_LOG = 12.0  # of K, of each order, and of the scale of an argument


@dataclass(frozen=True)
class Saturation:
    """One over K + x**n: times x**n, a rate that saturates."""

    variable: int
    half: float  # K: where x**n reaches it, the rate is half of its largest
    order: float = 1.0  # n, a whole number

    @property
    def shape(self) -> tuple[object, ...]:
        """The factor without its numbers."""
        return ("K", self.variable, self.order)

    @property
    def variables(self) -> tuple[int, ...]:
        """The variables that it depends on."""
        return (self.variable,)

    @property
    def price(self) -> float:
        """The price of its numbers and symbols, in units of log n; an order other than 1 counts as a number."""
        return FREE * (1 + (self.order != 1)) + 2 * SYMBOL

    def numbers(self) -> tuple[float, ...]:
        """Return the numbers that are fitted: the logarithm of K."""
        return (float(np.log(self.half)),)

    def renumbered(self, values: Sequence[float]) -> "Saturation":
        """Return the factor with other numbers."""
        most = LARGEST_LOG * self.order
        return replace(self, half=float(np.exp(np.clip(values[0], -most, most))))

    def value(self, x: Array) -> Array:
        """Evaluate the factor."""
        return np.asarray(1 / (self.half + raised(x[..., self.variable], self.order)))

    def slope(self, i: int, x: Array) -> Array:
        """Return the derivative in one of its variables."""
        return -steepness(x[..., i], self.order) * self.value(x) ** 2

    def number_slopes(self, x: Array) -> list[Array]:
        """Return the derivatives in its numbers."""
        return [-self.half * self.value(x) ** 2]


@dataclass(frozen=True)
class Applied:
    """An elementary function of a weighted sum of scaled variables plus an offset, to a whole power.

    With ``free`` the size of the weights is fitted, and the offset of a logistic function; the offset of another
    function is that of the rates.
    """

    name: str
    weights: tuple[float, ...]
    offset: float = 0.0
    power: float = 1.0
    free: bool = False

    @property
    def shape(self) -> tuple[object, ...]:
        """The factor without its fitted numbers."""
        weights = np.sign(self.weights) if self.free else np.round(self.weights, 9)
        return (self.name, *weights.tolist(), self.power)

    @property
    def variables(self) -> tuple[int, ...]:
        """The variables that it depends on."""
        return tuple(i for i, w in enumerate(self.weights) if w)

    @property
    def price(self) -> float:
        """The price of its numbers and symbols, in units of log n.

        The choice of a function counts as a number, and a nice argument nearly so: it is one of many.
        """
        numbers = FREE * (1 + len(self.numbers())) + NICE * (self.power != 1) + 2 * NICE * (not self.free)
        return numbers + SYMBOL * (1 + len(self.variables))

    def numbers(self) -> tuple[float, ...]:
        """Return the numbers that are fitted: the logarithm of the size of the weights, and an offset."""
        if not self.free:
            return ()
        size = float(np.log(np.linalg.norm(self.weights)))
        return (size, self.offset) if self.name == "logistic" else (size,)

    def renumbered(self, values: Sequence[float]) -> "Applied":
        """Return the factor with other numbers."""
        if not self.free:
            return self
        size = float(np.exp(np.clip(values[0], -LARGEST_LOG, LARGEST_LOG)) / np.linalg.norm(self.weights))
        offset = float(values[1]) if len(values) > 1 else self.offset
        return replace(self, weights=tuple(w * size for w in self.weights), offset=offset)

    def value(self, x: Array) -> Array:
        """Evaluate the factor."""
        return raised(FUNCTIONS[self.name].value(self._argument(x)), self.power)

    def slope(self, i: int, x: Array) -> Array:
        """Return the derivative in one of its variables."""
        return self.weights[i] * self._steepness(x)

    def number_slopes(self, x: Array) -> list[Array]:
        """Return the derivatives in its numbers."""
        if not self.free:
            return []
        steep = self._steepness(x)
        scale = steep * (self._argument(x) - self.offset)
        return [scale, steep] if self.name == "logistic" else [scale]

    def _argument(self, x: Array) -> Array:
        total = np.full(x.shape[:-1], self.offset)
        for i in self.variables:
            total = total + self.weights[i] * x[..., i]
        return np.maximum(total, TINY) if self.name == "log" else total

    def _steepness(self, x: Array) -> Array:
        """Return the derivative in the argument."""
        v = self._argument(x)
        function = FUNCTIONS[self.name]
        slope = function.slope(v, np.full(v.shape, TINY))
        if self.name == "log":
            slope = np.where(v > TINY, slope, 0.0)
        if self.power == 1:
            return slope
        return np.asarray(slope * steepness(function.value(v), self.power))


Factor = Saturation | Applied


def raised(x: Array, power: float) -> Array:
    """Return x**power; a fractional power of a negative number is that of a tiny one."""
    if power == 1:
        return x
    if power == 2:
        return x * x
    if power % 1 == 0:
        return x ** int(power) if power > 0 else 1 / x ** int(-power)
    if power == 0.5:
        return np.sqrt(np.maximum(x, TINY))
    return np.maximum(x, TINY) ** power


def steepness(x: Array, power: float) -> Array:
    """Return the derivative of x**power; 0 where a fractional power is that of a tiny number."""
    slope = power * raised(x, power - 1)
    return slope if power % 1 == 0 else np.where(x > TINY, slope, 0.0)
