"""Numbers as a pure function of (key, step, position): no state, no global generator.

A 32-bit counter-based hash in tensor operations. Key, step and position are mixed one after
the other; adding them before hashing would make neighbouring steps overlap. The same integers
come out on a CPU and on a GPU, eager and compiled, alone and in a population.
"""

import torch
from torch import Tensor

_GOLDEN = 0x9E3779B1 - 2**32  # odd multipliers, written as the signed 32-bit values torch holds
_STEP = 0x85EBCA6B - 2**32
_FIRST = 0x7FEB352D
_SECOND = 0x846CA68B - 2**32


def mix(x: Tensor) -> Tensor:
    """Scramble int32 values one to one (a finaliser with low bias; shifts are made logical)."""
    x = (x ^ ((x >> 16) & 0xFFFF)) * _FIRST
    x = (x ^ ((x >> 15) & 0x1FFFF)) * _SECOND
    return x ^ ((x >> 16) & 0xFFFF)


def bits(key: Tensor, step: Tensor, position: Tensor) -> Tensor:
    """int32 bits of shape (*runs, positions), for key (*runs, 2), step (*runs,), position (positions,)."""
    first, second = key.unsqueeze(-2).unbind(-1)  # (*runs, 1) each
    inner = mix(step.unsqueeze(-1) * _STEP + first)
    return mix(((position * _GOLDEN) ^ inner) + second)


def symmetric(bits: Tensor, dtype: torch.dtype) -> Tensor:
    """Uniform in (-1, 1), never 0 and never an end: 31 random bits, odd numerators."""
    wide = torch.promote_types(dtype, torch.float32)  # 31 bits overflow float16
    largest = 1 - torch.finfo(dtype).eps
    return ((bits | 1).to(wide) * 2.0**-31).clamp(-largest, largest).to(dtype)


def normal(bits: Tensor, dtype: torch.dtype) -> Tensor:
    """Standard normal, by inverting the distribution of a symmetric uniform."""
    return torch.erfinv(symmetric(bits, dtype)) * 2.0**0.5
