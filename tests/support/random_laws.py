"""Random laws of three inputs, for tests of what a law is turned into."""

import random

from nalm.discover.law import Law
from nalm.discover.law.expression import Input, Node, Power, Sum


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
