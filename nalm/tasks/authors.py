"""Evaluation sets of the published code (Mistry 2023, section 5.8)."""

from collections.abc import Sequence

import torch
from torch import Tensor

from nalm.config import Case
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
