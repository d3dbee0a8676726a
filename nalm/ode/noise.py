"""The noise of samples, read off how far they lie from their neighbours: its size, and how it grows with the value."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from nalm.discover.law.expression import Array
from nalm.ode.shooting import Samples

LEAST = 2e-3  # of the spread: less may be the roughness of a path without noise
LOWEST = 0.05  # of the largest size: the noise of smaller values is that of this one
CLEARLY = 8.0  # nats by which another kind of noise must explain the deviations better
APART = 2.0  # ratio of the noise of two variables (over their spreads) from which they are weighted by it
KINDS = {0.0: "equal everywhere", 0.5: "that of counts, a root of the value", 1.0: "a share of the value"}


@dataclass(frozen=True)
class SampleNoise:
    """The noise of the samples: its size over each spread, and the power of the value that it grows with."""

    size: Array  # of each variable, over its spread
    power: float
    floor: Array  # of each variable: the noise does not get smaller for smaller values
    unit: Array  # of each variable: mean square of what ``relative`` returns is 1 on the samples
    given: Array | None = None  # relative sizes of the samples themselves, (n, d), if their errors are given

    def relative(self, states: Array) -> Array:
        """Return how large the noise of states (n, d), those of the samples, is beside its mean over the samples."""
        if self.given is not None:
            return self.given
        return np.asarray(np.maximum(np.abs(states), self.floor) ** self.power / self.unit)

    def weights(self, states: Array) -> Array | None:
        """Return the relative noise of states, variables compared too; None if it is the same for all."""
        apart = self._apart()
        if not self.uneven and not apart:
            return None
        between = self.size / np.sqrt(self.mean_square) if apart else np.ones_like(self.size)
        return self.relative(states) * between

    @property
    def mean_square(self) -> float:
        """The mean square that noise alone leaves of samples with these weights."""
        apart = self._apart()
        return float(np.exp(2 * np.mean(np.log(self.size))) if apart else np.mean(self.size**2))

    @property
    def uneven(self) -> bool:
        """True if the noise differs between samples of a variable."""
        return self.power > 0 or self.given is not None

    def _apart(self) -> bool:
        return self.given is not None or bool(
            self.size.max() > APART * self.size.min() and self.size.min() > LEAST
        )

    @property
    def words(self) -> str:
        """The kind of noise in words; empty if it is equal everywhere."""
        return "given" if self.given is not None else KINDS[self.power] if self.power else ""


def estimated(samples: Samples, levels: Array, kind: float | None = None) -> SampleNoise:
    """Estimate the noise; ``levels`` are the smoothed samples. The likeliest kind is taken if it is clearly so.

    Standard errors that are given are the noise, and so is a ``kind`` that is: the power of the value.
    """
    if samples.error is not None:
        unit = np.sqrt(np.mean(samples.error**2, axis=0))
        return SampleNoise(unit / samples.spread, 0.0, np.zeros_like(unit), unit, samples.error / unit)
    runs = zip(samples.first, [*samples.first[1:], len(samples.t)], strict=True)
    slices = [slice(a, b) for a, b in runs]
    left = np.concatenate([deviations(samples.t[s], samples.x[s]) for s in slices])
    size = np.median(np.abs(left / samples.spread), axis=0) / 0.6745
    floor = LOWEST * np.abs(levels).max(0)
    sizes = {p: np.maximum(np.abs(levels), floor) ** p for p in KINDS}
    best = 0.0
    if size.min() > LEAST:
        spread = {
            p: np.concatenate([expected_sizes(samples.t[s], v[s]) for s in slices]) for p, v in sizes.items()
        }
        best = _likeliest({p: _likelihood(left, s) for p, s in spread.items()}) if kind is None else kind
        size = np.median(np.abs(left / samples.spread / _normed(spread[best])), axis=0) / 0.6745
    return SampleNoise(size, best, floor, np.sqrt(np.mean(sizes[best] ** 2, axis=0)))


def kind_left(samples: Samples, states: Array, noise: SampleNoise) -> float:
    """Return the kind of noise, as a power of the value, that what a fit leaves of the samples looks like.

    A fit shows it better than the neighbours of a sample do, of which a few are noisy, too. Noise that counts as equal,
    because it is given or tiny, stays so.
    """
    if noise.given is not None or noise.power or noise.size.min() <= LEAST:
        return noise.power
    level, left = np.maximum(np.abs(states), noise.floor), np.square(samples.x - states)
    each = {p: np.log(np.mean(left / level ** (2 * p), axis=0)) / 2 for p in KINDS}
    return _likeliest({p: float(-np.log(level).sum() * p - len(left) * e.sum()) for p, e in each.items()})


def _likeliest(likely: dict[float, float]) -> float:
    best = max(likely, key=lambda p: likely[p])
    return best if likely[best] > likely[0.0] + CLEARLY else 0.0


def _normed(sizes: Array) -> Array:
    return sizes / np.sqrt(np.mean(sizes**2, axis=0))


def _likelihood(deviations: Array, sizes: Array) -> float:
    """Return the logarithm of the likelihood under Laplace's distribution, which forgives a few large deviations."""
    each = np.log(np.mean(np.abs(deviations) / sizes, axis=0))
    return float(-np.log(sizes).sum() - len(sizes) * each.sum())


def deviations(t: Array, x: Array) -> Array:
    """Return how far each inner sample lies from the polynomial through its neighbours, in units of the noise."""
    out = [(x[i] - weights @ x[near]) / np.sqrt(1 + weights @ weights) for i, near, weights in _neighbours(t)]
    return np.array(out).reshape(-1, *x.shape[1:])


def expected_sizes(t: Array, sizes: Array) -> Array:
    """Return the standard deviations of these deviations for samples with noise of the given sizes (n, d)."""
    out = [
        np.sqrt((sizes[i] ** 2 + weights**2 @ sizes[near] ** 2) / (1 + weights @ weights))
        for i, near, weights in _neighbours(t)
    ]
    return np.array(out).reshape(-1, *sizes.shape[1:])


def _neighbours(t: Array) -> Iterator[tuple[int, list[int], Array]]:
    """Yield each inner sample, its neighbours, and their weights in Lagrange's polynomial."""
    reach = min(3, (len(t) - 1) // 2)
    for i in range(reach, len(t) - reach):
        near = [k for k in range(i - reach, i + reach + 1) if k != i]
        yield (
            i,
            near,
            np.array([np.prod([(t[i] - t[m]) / (t[k] - t[m]) for m in near if m != k]) for k in near]),
        )
