"""Functions as factors: a product of powers of inputs and of functions with usual arguments."""

from collections.abc import Iterator

from nalm.discover.law.expression import Node, Sum
from nalm.discover.problem import Problem
from nalm.discover.stages.columns import Columns
from nalm.discover.stages.scratchpad import ROWS, matched
from nalm.discover.stages.shapes import CURVES, WAVES, applied, differences, products
from nalm.discover.stages.symmetry import symmetric_pairs

WIDEST, TRIPLES = 8, 4  # inputs looked at; at most so many are also multiplied by threes


def factors(problem: Problem) -> Iterator[Node]:
    """Propose sums and products of powers of inputs and of up to four functions of inputs.

    The arguments are inputs, products and quotients of two or three, differences, and a difference times an
    input, with the frequencies 1, 1/2, 2, pi and 2 pi. One Gram matrix of all these columns gives the error of
    every one and of every pair, as in the scratchpad.
    """
    kept = problem.columns
    if not kept or len(kept) > WIDEST or len(problem.y) < len(kept) + 6:
        return
    inputs = Columns.inputs(problem.x[:ROWS], kept)
    arguments = products(inputs, 3 if len(kept) <= TRIPLES else 2)
    places = {c: i for i, c in enumerate(kept)}
    pairs = [(places[i], places[j]) for i, j in symmetric_pairs(problem)]
    gaps = differences(inputs, pairs)
    problem.check()
    pad = applied(WAVES, arguments.joined(gaps)).joined(applied(CURVES, arguments.joined(gaps)))
    beside = gaps.at([i for i, n in enumerate(gaps.nodes) if isinstance(n, Sum)])
    problem.check()
    for target in ("log", "y"):
        yield from matched(target, inputs.joined(beside), pad, problem)
