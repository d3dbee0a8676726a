"""A product of powers of some columns times a law with functions of the others."""

from collections.abc import Iterator

from nalm.discover.law.expression import Node
from nalm.discover.problem import Problem
from nalm.discover.stages.argument import argument
from nalm.discover.stages.factors import factors
from nalm.discover.stages.inside import inside
from nalm.discover.stages.separable import on_the_rest
from nalm.discover.stages.waves import waves


def divided(problem: Problem) -> Iterator[Node]:
    """Propose y = x_1^p ... g(x_k, ...): columns that only multiply are divided out, and g is a law with functions.

    The fewer columns are left, the more of them g may have, and the less noise hides its form.
    """
    return on_the_rest(problem, (factors, argument, waves, inside))
