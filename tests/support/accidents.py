"""What the tests of broken-off trainings share: small experiments, a unit that wants too much memory, comparisons."""

import numpy as np

from nalm.config import Arithmetic, Case, Experiment, Layer, Range, Recipe

GREEDY = """
import torch
from nalm import NMU

class Greedy(NMU):
    def compute(self, x):
        if x.dim() == 3 and x.shape[0] > 2:
            torch.empty(2**46, dtype=torch.uint8)  # 64 terabytes
        return super().compute(x)
"""


def case(unit="NMU", operation="multiply", steps=2_000):
    return Case(
        (Layer(unit),),
        Arithmetic(operation, Range(1, 2), Range(2, 6)),
        Recipe(lr=1e-2, steps=steps, batch=16),
    )


def experiment(*cases, seeds=(0, 1, 2)):
    return Experiment("small", "A small one", cases, tuple(seeds))


def kinds(store):
    return [kind for _, _, kind, _, _, _ in store.events()]


def same(a, b):
    """The same cases, seeds, draws, initial weights and verdicts; errors to 1e-4, as in a part of a population."""
    ours, theirs = a.outcomes("small"), b.outcomes("small")
    assert [(o.case, o.seed, o.outcome) for o in ours] == [(o.case, o.seed, o.outcome) for o in theirs]
    for o, p in zip(ours, theirs, strict=True):
        mine, other = a.arrays(o.case.hash, o.seed), b.arrays(p.case.hash, p.seed)
        assert mine.keys() == other.keys()
        for name in mine:
            if name.startswith("trajectories."):
                np.testing.assert_array_equal(mine[name][0], other[name][0])  # the start
        np.testing.assert_allclose(mine["test"][0], other["test"][0], rtol=1e-6)  # the draws of the test
        np.testing.assert_allclose(mine["test"], other["test"], rtol=1e-4)  # and of all training
