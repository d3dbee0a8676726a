"""Random laws of three inputs, for tests of what a law is turned into."""

import random
from collections.abc import Sequence

import torch

from nalm.discover.law import Law
from nalm.discover.law.expression import Function, Input, Node, Power, Sum
from nalm.discover.law.functions import FUNCTIONS


def random_law(seed: int, depth: int = 2) -> Law:
    """Return a law of sums and products of powers, in most places finite for inputs between 0.5 and 1.5."""
    chance = random.Random(seed)

    def node(depth: int) -> Node:
        if depth == 0 or chance.random() < 0.2:
            return Input(chance.randrange(3))
        parts = tuple(node(depth - 1) for _ in range(chance.randint(1, 3)))
        if chance.random() < 0.5:
            weights = tuple(chance.choice((-2.0, -1.0, 0.5, 1.0)) for _ in parts)
            return Sum(parts, weights, chance.choice((0.0, 1.5)))
        return Power(
            parts, tuple(chance.choice((-2.0, -1.0, 1.0, 2.0)) for _ in parts), chance.choice((1.0, 0.25))
        )

    return Law(node(depth), ("a", "b", "c"))


def laws_with_functions() -> list[Law]:
    """Return a law for each elementary function, of arguments for which all of them are finite."""
    inside = Sum((Input(0), Input(1)), (0.5, -0.25), 0.1)  # between -0.03 and 0.73 for inputs from 0.5 to 1.5
    part = Sum((inside,), (0.5,), 0.3)
    return [
        Law(
            Sum((Function(name, part), Power((Input(1), Input(2)), (1.0, -0.5), 2.0)), (1.5, 1.0)),
            ("a", "b", "c"),
        )
        for name in FUNCTIONS
    ]


def groups(size: int = 10) -> list[list[Law]]:
    """Return a hundred random laws in groups that a compiler takes in seconds."""
    return [[random_law(seed) for seed in range(k, k + size)] for k in range(0, 100, size)]


class EveryLaw(torch.nn.Module):
    """The modules of many laws beside one another: all are exported or compiled at once."""

    def __init__(self, laws: Sequence[Law], dtype: torch.dtype = torch.float64):
        super().__init__()
        self.laws = torch.nn.ModuleList(law.to_module(dtype=dtype) for law in laws)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Compute the laws (rows, laws) for rows x."""
        return torch.cat([law(x) for law in self.laws], -1)
