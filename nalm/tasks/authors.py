"""Evaluation sets of the published code (Mistry 2023, section 5.8), and the numbers it drew on a GPU (section 5.10)."""

import math
from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from nalm.config import Case
from nalm.errors import NALMError
from nalm.tasks.operands import Target
from nalm.tasks.sampler import published

ROWS = 10_000
SEEDS = {"validation": 43953907, "test": 8689336}


def evaluation(
    cases: Sequence[Case], target: Target, which: str, device: torch.device
) -> tuple[Tensor, Tensor]:
    """Return inputs (runs, rows, in) and targets; computed in float64 and rounded last, as there."""
    ranges = [c.train if which == "validation" else c.test for c in cases]
    sets = {r: published(r, ROWS, cases[0].inputs, SEEDS[which]) for r in set(ranges)}
    x = torch.stack([sets[r] for r in ranges]).to(device)
    return x.float(), target(x).float()


WORD = np.uint64(0xFFFFFFFF)
FACTORS = np.uint64(0xD2511F53), np.uint64(0xCD9E8D57)
STEPS = np.uint64(0x9E3779B9), np.uint64(0xBB67AE85)
ROUNDS = 10
SMALL = 50_000  # numbers that the smallest GPUs draw one per thread


class FromGPU:
    """The uniform numbers that torch draws on a GPU after ``torch.manual_seed(seed)``, computed on any machine.

    Philox4x32-10 (Salmon et al. 2011): the number i of a tensor is the first word of the block whose counter is
    (tensors drawn before, 0, i, 0) and whose key is the seed. Equal to torch up to the rounding of float32.

    >>> FromGPU(0).uniform((4,)).round(decimals=4).tolist()  # torch.manual_seed(0); torch.rand(4, device="cuda")
    [0.399, 0.5167, 0.0249, 0.9401]
    """

    def __init__(self, seed: int):
        self.seed = seed
        self.drawn = 0

    def uniform(self, shape: tuple[int, ...]) -> Tensor:
        """Return uniform numbers in [0, 1)."""
        count = math.prod(shape)
        if count > SMALL:
            raise NALMError(f"Of torch's GPU generator up to {SMALL:,} numbers are known, got {shape}.")
        place = np.arange(count, dtype=np.uint64)
        nothing = np.zeros_like(place)
        block = [nothing + np.uint64(self.drawn), nothing, place, nothing]
        key = [np.uint64(self.seed & 0xFFFFFFFF), np.uint64(self.seed >> 32)]
        for _ in range(ROUNDS):
            first, second = FACTORS[0] * block[0], FACTORS[1] * block[2]
            block = [
                (second >> np.uint64(32)) ^ block[1] ^ key[0],
                second & WORD,
                (first >> np.uint64(32)) ^ block[3] ^ key[1],
                first & WORD,
            ]
            key = [(k + step) & WORD for k, step in zip(key, STEPS, strict=True)]
        self.drawn += 1
        return torch.from_numpy((block[0].astype(np.float64) + 0.5) * 2.0**-32).reshape(shape)

    def normal(self, shape: tuple[int, ...]) -> Tensor:
        """Refuse to draw: no published start that was drawn on a GPU is normal."""
        raise NALMError("Of torch's GPU generator only uniform numbers are known: choose generator='nalm'.")
