"""Numbers as a pure function of (seed, stream, step, position): no state, no global generator.

A 32-bit counter-based hash in tensor operations. Seed and stream make a key on the host; key, step and
position are then mixed one after the other; adding them before hashing would make neighbouring steps and
streams overlap. The same integers come out on a CPU and on a GPU, eager and compiled, alone and in a
population.

Products and sums of int32 wrap modulo 2^32. Vector instructions and GPUs do so by definition; the compiler
of generated C++ is told to (``engine.compiler.options``), since a signed overflow is undefined there.
Products of int64 would need no flag, but AVX2 has no such instruction: they made a step twice as slow.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

# The index of a stream enters its numbers, so new ones go to the end. The second line is used by tasks with images.
STREAMS = (
    *("start", "positions", "train", "validation", "test", "noise", "gradient", "threshold", "rows"),
    *("samples", "order", "dropout", "transform"),
)

MANY = 2**24  # numbers for which a GPU does not compute what they share again for each
EXACT = 2**24  # every whole number up to this one is a float32
GOLDEN = 0x9E3779B1 - 2**32  # odd multipliers, written as the signed 32-bit values torch holds
STEP = 0x85EBCA6B - 2**32
FIRST = 0x7FEB352D
SECOND = 0x846CA68B - 2**32
_MASK = 0xFFFFFFFF


def mix(x: Tensor) -> Tensor:
    """Scramble int32 values one to one (a finaliser with low bias; shifts are made logical)."""
    x = (x ^ ((x >> 16) & 0xFFFF)) * FIRST
    x = (x ^ ((x >> 15) & 0x1FFFF)) * SECOND
    return x ^ ((x >> 16) & 0xFFFF)


def _mix(x: int) -> int:
    """Scramble an unsigned integer on the host as ``mix`` does in tensors."""
    x = ((x ^ (x >> 16)) * FIRST) & _MASK
    x = ((x ^ (x >> 15)) * (SECOND & _MASK)) & _MASK
    return x ^ (x >> 16)


def key(seed: int, stream: str, index: int = 0) -> tuple[int, int]:
    """Return the two words that stand for a run's stream; ``index`` tells apart layers that share one.

    >>> key(7, "train") == key(7, "train"), key(7, "train") == key(8, "train")
    (True, False)
    """
    parts = (seed & _MASK, (seed >> 32) & _MASK, STREAMS.index(stream) + 1, index + 1)
    return _absorbed(0x243F6A88, parts), _absorbed(0x13198A2E, parts)


def _absorbed(word: int, parts: tuple[int, ...]) -> int:
    """Mix numbers into a word, one after the other, and return it signed, as torch holds it."""
    for part in parts:
        word = _mix(((word * (GOLDEN & _MASK)) & _MASK) ^ _mix((part + 0x9E3779B9) & _MASK))
    return word - (word >> 31 << 32)


def keys(
    seeds: Sequence[int], stream: str, index: int = 0, device: torch.device | str | None = None
) -> Tensor:
    """Return the keys of many runs, (runs, 2)."""
    known = {seed: key(seed, stream, index) for seed in set(seeds)}  # many cases share their seeds
    return torch.tensor([known[seed] for seed in seeds], dtype=torch.int32, device=device).reshape(-1, 2)


def hashed(first: Tensor, second: Tensor, step: Tensor, position: Tensor) -> Tensor:
    """Return the int32 bits of keys, steps and positions that broadcast against one another.

    Step and key make two words, an offset and an odd factor. Without the factor two batches of a run that
    share a value share a second one, since x ^ a = y ^ b implies y ^ a = x ^ b. The position meets the key
    before the first product: a compiler folds a counted position times a constant into its index
    arithmetic, where the overflow is undefined.
    """
    step, position = step.to(torch.int32), position.to(torch.int32)  # wider integers would not wrap
    offset = stored(mix(step * STEP + first))
    factor = stored(mix(offset ^ second) | 1)
    return mix((((position ^ second) * GOLDEN) ^ offset) * factor + second)


def stored(x: Tensor, readers: int = 0) -> Tensor:
    """Return x as it is, and make compiled code compute it once instead of inside every loop that reads it.

    A strided view is of memory, so that the compiler cannot compute its values again inside the loop. A GPU computes
    it faster than it starts a kernel, unless the numbers computed from it, ``readers``, are very many.
    """
    if x.is_cuda and readers < MANY:
        return x
    return x.as_strided(x.shape, x.stride())


def packed(position: Tensor) -> Tensor:
    """Return int32 positions as float32, to keep in memory, where that is exact; ``unpacked`` gives them back.

    Compiled code for AVX2 loads eight float32 with one instruction, but copies eight int32 through the
    stack, which takes longer than all products of the hash.
    """
    return position.float() if position.max() <= EXACT else position


def unpacked(words: Tensor) -> Tensor:
    """Return the int32 positions that were packed."""
    return words.to(torch.int32)


def bits(key: Tensor, step: Tensor, position: Tensor) -> Tensor:
    """Return int32 bits (*runs, *positions).

    They are for key (*runs, 2), step (*runs,) or (), and position (*positions,).
    """
    ones = (1,) * position.ndim
    first, second = (part.reshape(*part.shape, *ones) for part in key.unbind(-1))
    return hashed(first, second, step.reshape(*step.shape, *ones), position)


def symmetric(bits: Tensor, dtype: torch.dtype) -> Tensor:
    """Convert bits to uniform numbers in (-1, 1), never 0 and never an end.

    The upper 31 bits make odd multiples of 2^-31; bit 0 is left over.
    """
    wide = torch.promote_types(dtype, torch.float32)  # 31 bits overflow float16
    largest = 1 - torch.finfo(dtype).eps
    return ((bits | 1).to(wide) * 2.0**-31).clamp(-largest, largest).to(dtype)


def normal(bits: Tensor, dtype: torch.dtype) -> Tensor:
    """Convert bits to standard normal numbers, by inverting a symmetric uniform.

    This is computed in float64, where all devices agree to rounding.
    """
    return (torch.erfinv(symmetric(bits, torch.float64)) * 2.0**0.5).to(dtype)


class Drawn:
    """A source of starting values (runs, ...): each run's depend on its seed, the layer and its resets alone."""

    def __init__(self, seeds: Sequence[int], layer: int = 0, resets: Tensor | None = None):
        self._key = keys(seeds, "start", layer)
        self._step = torch.zeros(len(seeds), dtype=torch.int32) if resets is None else resets.int() * 1024

    def _bits(self, shape: tuple[int, ...]) -> Tensor:
        position = torch.arange(torch.Size(shape).numel(), dtype=torch.int32)
        drawn = bits(self._key, self._step, position).reshape(-1, *shape)
        self._step = self._step + 1
        return drawn

    def uniform(self, shape: tuple[int, ...]) -> Tensor:
        """Draw uniform numbers in (0, 1)."""
        return symmetric(self._bits(shape), torch.float64) * 0.5 + 0.5

    def normal(self, shape: tuple[int, ...]) -> Tensor:
        """Draw standard normal numbers."""
        return normal(self._bits(shape), torch.float64)
