"""Inputs of many runs at once, each from its own range: (runs, in, batch), the batch innermost in memory."""

import math
from collections.abc import Sequence

import torch
from torch import Tensor
from torch.quasirandom import SobolEngine

from nalm import draws
from nalm.config import Range
from nalm.errors import NALMError

BENFORD = (0.301, 0.176, 0.125, 0.097, 0.079, 0.067, 0.058, 0.051, 0.046)  # as published, of digits 1 to 9
SOBOL_BITS = 30


class Sampler:
    """Draws from one kind of range; what differs between runs is a tensor.

    ``parts`` says for each run how many columns come from the first half of a parted range: one unless given.
    """

    def __init__(
        self,
        ranges: Sequence[Range],
        inputs: int,
        device: torch.device | str | None = None,
        parts: Sequence[int] | None = None,
    ):
        kinds = {r.family for r in ranges}
        if len(kinds) != 1:
            raise NALMError(f"One sampler draws one kind of range, got {', '.join(sorted(kinds))}.")
        (self.kind,) = kinds
        self.inputs = inputs
        self._ends = _Ends.of(ranges, inputs, device, parts or [1] * len(ranges))
        if self.kind not in ("normal", "exponential") and self._ends.empty():
            raise NALMError("A range is too narrow for float32: no number lies between its ends.")
        self._device = device
        self._numbers = {
            name: torch.tensor([getattr(r, name) for r in ranges], dtype=torch.float64, device=device)[
                :, None, None
            ]
            for name in ("low", "high", "mean", "sd")
        }
        n = self._numbers
        self._steps = ((n["high"] - n["low"]) / n["sd"] - 1e-9).ceil()  # of a grid
        if self.kind in ("sobol", "sequence"):
            engine = SobolEngine(inputs)
            self._directions = engine.sobolstate.to(torch.int32).to(device)  # (in, bits)

    def grid(self, rows: int) -> Tensor:
        """Return the positions (in, rows) of a batch."""
        rank = torch.arange(rows, dtype=torch.int32, device=self._device)
        column = torch.arange(self.inputs, dtype=torch.int32, device=self._device)
        return column[:, None] + self.inputs * rank

    def __call__(self, key: Tensor, step: Tensor, position: Tensor) -> Tensor:
        """Return values at positions (in, rows), or (runs, in, rows), of a step: float32 (runs, in, rows)."""
        if self.kind == "sequence":
            return self._sequence(step, position)
        first, second = (part[:, None, None] for part in key.unbind(-1))
        bits = draws.hashed(first, second, step, position)
        if self.kind in ("box", "split"):
            return self._ends.spread(bits)
        if self.kind == "sobol":
            return self._sobol(step, position, first)
        n = self._numbers
        if self.kind == "truncated":
            value = n["mean"] + n["sd"] * _truncated_normal(
                bits, *((n[e] - n["mean"]) / n["sd"] for e in ("low", "high"))
            )
        elif self.kind == "normal":
            value = n["mean"] + n["sd"] * draws.normal(bits, torch.float64)
        elif self.kind == "grid":
            value = (
                n["low"]
                + n["sd"] * (self._steps * (draws.symmetric(bits, torch.float64) * 0.5 + 0.5)).floor()
            )
        elif self.kind == "exponential":
            value = n["low"] - n["sd"] * (draws.symmetric(bits, torch.float64) * 0.5 + 0.5).log()
        else:
            more = draws.hashed(second, first, step, position)
            return _benford(bits, more, n["low"], n["high"])
        return self._ends.kept(value.float()) if self.kind == "truncated" else value.float()

    def _sobol(self, step: Tensor, position: Tensor, key: Tensor) -> Tensor:
        """Return Sobol points in order, each run and input shifted by random binary digits of its own."""
        column = torch.remainder(position, self.inputs)
        shift = draws.mix(column * 0x1000193 + key) & (2**SOBOL_BITS - 1)
        unit = (self._points(shift, self._index(step, position)).to(torch.float64) + 0.5) * 2.0**-SOBOL_BITS
        return self._within(unit)

    def _sequence(self, step: Tensor, position: Tensor) -> Tensor:
        """Return Sobol points in order without the first, which is 0.

        Those of torch and of Sobol.jl are both of Joe and Kuo.
        """
        index = self._index(step, position) + 1
        return self._within(self._points(torch.zeros_like(index), index).to(torch.float64) * 2.0**-SOBOL_BITS)

    def _index(self, step: Tensor, position: Tensor) -> Tensor:
        """Return which point of the sequence stands at a position of a step."""
        return step * position.shape[-1] + torch.div(position, self.inputs, rounding_mode="floor")

    def _points(self, shift: Tensor, index: Tensor) -> Tensor:
        """Return the digits of Sobol points, computed by Gray code and shifted."""
        gray, point = index ^ (index >> 1), shift
        for bit in range(SOBOL_BITS):
            direction = self._directions[:, bit][:, None]
            point = point ^ torch.where((gray >> bit) & 1 == 1, direction, 0)
        return point

    def _within(self, unit: Tensor) -> Tensor:
        """Spread numbers between 0 and 1 over the range."""
        n = self._numbers
        return self._ends.kept((n["low"] + (n["high"] - n["low"]) * unit).float())


class _Ends:
    """The ends of uniform ranges in float32, and values kept within them."""

    def __init__(self, ends: Tensor, both: bool, straddle: bool):
        low, high = ends.float().unbind(-1)  # (parts, runs, in or 1, 1)
        self.low, self.top = low, torch.nextafter(high, low)
        self.middle, self.half = (
            ((ends[..., 0] + ends[..., 1]) / 2).float(),
            ((ends[..., 1] - ends[..., 0]) / 2).float(),
        )
        self.both = both  # two ranges, chosen per element
        self.straddle = straddle  # zero lies inside or at the low end, and not in the middle

    @classmethod
    def of(
        cls, ranges: Sequence[Range], inputs: int, device: torch.device | str | None, parts: Sequence[int]
    ) -> "_Ends":
        first = [[(r.low, r.high)] for r in ranges]
        two = ("mirrored", "split", "parted", "points")
        second = [[(r.low2, r.high2) if r.kind in two else (r.low, r.high)] for r in ranges]
        mirrored = any(r.kind == "mirrored" for r in ranges)
        if ranges[0].family == "split":
            sizes = [n if r.kind == "parted" else inputs // 2 for r, n in zip(ranges, parts, strict=True)]
            first = [a * n + b * (inputs - n) for a, b, n in zip(first, second, sizes, strict=True)]
        boxes = [first, second] if mirrored else [first]
        ends = torch.tensor(boxes, dtype=torch.float64, device=device).unsqueeze(-2)
        inside = (ends[..., 0] <= 0) & (ends[..., 1] > 0)
        centred = (ends[..., 0] + ends[..., 1] == 0) & (ends[..., 1] > 1e-20)  # 0 is never drawn there
        inside = inside & ~centred
        return cls(ends, mirrored, bool(inside.any()))

    def empty(self) -> bool:
        """Return whether a range holds no float32 number."""
        return bool((self.top < self.low).any())

    def spread(self, bits: Tensor) -> Tensor:
        u = draws.symmetric(bits, torch.float32)
        one = self.kept(self.middle[0] + self.half[0] * u)
        if not self.both:
            return one
        return torch.where(bits & 1 == 1, one, self.kept(self.middle[1] + self.half[1] * u, 1))

    def kept(self, x: Tensor, part: int = 0) -> Tensor:
        """Keep x in the range after rounding, below its excluded end and off an exact zero."""
        x = x.maximum(self.low[part]).minimum(self.top[part])
        return torch.where(x == 0, 1e-7 * self.half[part], x) if self.straddle else x


def _truncated_normal(bits: Tensor, low: Tensor, high: Tensor) -> Tensor:
    """Return standard normal numbers between two ends.

    A range above zero is reflected into the lower tail, where probabilities are precise.
    """
    above = low > 0
    low, high = torch.where(above, -high, low), torch.where(above, -low, high)
    p, q = (torch.erfc(-end / 2.0**0.5) / 2 for end in (low, high))  # ndtr has no precise tail
    u = draws.symmetric(bits, torch.float64) * 0.5 + 0.5
    even = low + (high - low) * u  # where the ends are too close for their probabilities to differ
    z = torch.where(q - p > 1e-9 * q, torch.special.ndtri(p + (q - p) * u), even).maximum(low).minimum(high)
    return torch.where(above, -z, z)


def _benford(bits: Tensor, more: Tensor, low: Tensor, high: Tensor) -> Tensor:
    """Return numbers with a first digit by Benford's law and a uniform tail, as the published code does."""
    u, v = (draws.symmetric(b, torch.float64) * 0.5 + 0.5 for b in (bits, more))
    digit = torch.ones_like(u)
    total = 0.0
    for p in BENFORD[:-1]:
        total += p
        digit = digit + (u >= total).to(u.dtype)
    start = (low / 10).floor()
    tail = (start + (v * ((high / 10).floor() - start)).floor()).clamp_min(1)
    places = 10 ** ((tail + 0.5).log10().floor() + 1)
    return (digit * places + tail).float()


def marks(points: Range) -> list[float]:
    """Return the numbers of a grid in order, its upper end left out.

    >>> marks(Range(0.1, 0.4, "grid", sd=0.1))
    [0.1, 0.2, 0.30000000000000004]
    """
    return [
        points.low + k * points.sd for k in range(math.ceil((points.high - points.low) / points.sd - 1e-9))
    ]


def chosen_rows(key: Tensor, step: Tensor, rank: Tensor, sample: int) -> Tensor:
    """Return the rows (runs, batch) of a fixed sample that make up a batch, for ranks (batch,)."""
    return torch.remainder((draws.bits(key, step, rank) >> 1) & 0x3FFFFFFF, sample)


def fixed_rows(key: Tensor, step: Tensor, rows: int, sample: int, inputs: int) -> Tensor:
    """Return the positions (runs, in, rows) of a batch taken at random from a fixed sample."""
    rank = torch.arange(rows, dtype=torch.int32, device=key.device)
    chosen = chosen_rows(key, step, rank, sample)
    column = torch.arange(inputs, dtype=torch.int32, device=key.device)
    return chosen[:, None, :] * inputs + column[:, None]


def published(kind: Range, rows: int, inputs: int, seed: int) -> Tensor:
    """Draw an evaluation set as the published code does, float64 (rows, in)."""
    import numpy as np

    rng = np.random.RandomState(seed)
    if kind.kind == "uniform":
        x = rng.uniform(kind.low, kind.high, (rows, inputs))
    elif kind.kind == "mirrored":
        one = rng.uniform(kind.low, kind.high, (rows, inputs))
        other = rng.uniform(kind.low2, kind.high2, (rows, inputs))
        x = np.where(rng.randint(2, size=(rows, inputs)) == 1, one, other)
    elif kind.kind in ("split", "points"):
        half = inputs // 2
        one = rng.uniform(kind.low, kind.high, (rows, half))
        x = np.concatenate([one, rng.uniform(kind.low2, kind.high2, (rows, inputs - half))], 1)
    elif kind.kind == "truncated":
        from scipy.stats import truncnorm

        ends = (kind.low - kind.mean) / kind.sd, (kind.high - kind.mean) / kind.sd
        x = truncnorm.rvs(*ends, kind.mean, kind.sd, random_state=rng, size=(rows, inputs))
    else:
        raise NALMError(f"The published code has no generator for {kind}: use data='draws'.")
    return torch.from_numpy(x)


assert math.isclose(sum(BENFORD), 1.0)
