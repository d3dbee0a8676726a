"""Polynomials in a well-conditioned basis: products of Chebyshev polynomials, and their exact form in powers."""

import itertools
from fractions import Fraction
from math import comb
from typing import Any

import numpy as np

from nalm.discover.law.expression import Array, Input, Node, powered

FAINT = 1e-13  # share of the largest term below which a term is rounding
Degrees = tuple[int, ...]


def count(columns: int, degree: int) -> int:
    """Return the number of monomials of so many columns up to a degree."""
    return comb(columns + degree, degree)


class Chebyshev:
    """The products of Chebyshev polynomials of some columns, each scaled to [-1, 1], up to a total degree.

    Fits in powers of x lose a digit or more per degree; in this basis they lose almost none.
    """

    def __init__(self, x: Array, columns: list[int], degree: int):
        self.columns, self.degree = columns, degree
        low, high = x.min(0), x.max(0)
        self.middle = [float(v) for v in (low + high) / 2]
        self.half = [float(v) for v in (high - low) / 2]
        every = itertools.product(range(degree + 1), repeat=len(columns))
        self.degrees: list[Degrees] = sorted((d for d in every if sum(d) <= degree), key=sum)
        self.values = self._evaluated(x)

    def _evaluated(self, x: Array) -> Array:
        z = (x - self.middle) / self.half
        powers = [np.ones_like(z), z]
        for _ in range(self.degree - 1):
            powers.append(2 * z * powers[-1] - powers[-2])
        table = np.stack(powers[: self.degree + 1])
        return np.stack([np.prod([table[k, :, i] for i, k in enumerate(d)], axis=0) for d in self.degrees], 1)

    def up_to(self, degree: int) -> int:
        """Return how many of the terms, which are sorted by degree, have at most this degree."""
        return count(len(self.columns), degree)

    def powers(self, weights: Array) -> tuple[list[Node], list[float], float]:
        """Convert a sum of the first terms to powers of the columns: its terms, their weights and its bias.

        The conversion is made in fractions, so that it adds no rounding to that of the weights.
        """
        n = len(self.columns)
        array: Any = np.full((self.degree + 1,) * n, Fraction(0), dtype=object)
        for d, w in zip(self.degrees, weights, strict=False):
            array[d] = Fraction(float(w))
        for i in range(n):
            rows = _in_powers(self.degree, Fraction(self.middle[i]), Fraction(self.half[i]))
            array = np.moveaxis(np.tensordot(rows, array, axes=([0], [i])), 0, i)
        degrees = self.degrees[: len(weights)]
        found = np.array([float(array[d]) for d in degrees])
        largest = np.abs(self.middle) + np.abs(self.half)
        sizes = np.abs(found) * np.prod(largest ** np.array(degrees), 1)
        found[sizes < FAINT * sizes.max()] = 0.0
        terms = [powered([Input(c) for c in self.columns], d) for d in degrees[1:]]
        return terms, found[1:].tolist(), float(found[0])


def _in_powers(degree: int, middle: Fraction, half: Fraction) -> Any:
    """Return the coefficients (degree + 1, degree + 1) of T_k((x - middle) / half) in powers of x."""
    rows = [[Fraction(int(k == 0)) for k in range(degree + 1)]]
    slope, offset = 1 / half, -middle / half
    for k in range(degree):
        last = rows[-1]
        times = [offset * v + (slope * last[j - 1] if j else 0) for j, v in enumerate(last)]
        rows.append(times if k == 0 else [2 * v - w for v, w in zip(times, rows[-2], strict=True)])
    return np.array(rows, dtype=object)
