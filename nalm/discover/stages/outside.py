"""A function outside: an algebraic law of log y, exp y, sin y, cos y, tan y or atanh y."""

from collections.abc import Iterator

from nalm.discover.law.expression import Function, Input, Node
from nalm.discover.problem import Problem
from nalm.discover.stages.additive import additive
from nalm.discover.stages.factors import factors
from nalm.discover.stages.polynomial import polynomial
from nalm.discover.stages.power import power
from nalm.discover.stages.powersum import powersum
from nalm.discover.stages.product import product
from nalm.discover.stages.ratio import ratio
from nalm.discover.stages.views import TARGETS, Propose, through

PLAIN = [name for name in TARGETS if name not in ("y", "1/y", "y^2")]  # roots and reciprocals have stages
ANGLES = ("sin", "cos", "tan")
LINEAR: tuple[Propose, ...] = (additive, power, ratio)
WIDEST = 8  # columns; beyond, only these three are tried


def outside(problem: Problem) -> Iterator[Node]:
    """Propose exp, log, asin, acos, atan or tanh of a sum, a product, a quotient or a polynomial.

    Where y is an angle, each column is also replaced by its sine and its cosine, and functions are tried as factors.
    """
    inputs: list[Node] = [Input(i) for i in range(problem.inputs)]
    wide = len(problem.columns) > WIDEST
    for target in PLAIN:
        for stage in LINEAR if wide else (*LINEAR, powersum, product, polynomial):
            problem.check()
            yield from through(problem, stage, inputs, target)
    if wide:
        return
    for target in ANGLES:
        for i in problem.columns:
            for name in ("cos", "sin"):
                columns = [Function(name, c) if c == Input(i) else c for c in inputs]
                for stage in (ratio, polynomial):
                    problem.check()
                    yield from through(problem, stage, columns, target)
        yield from through(problem, factors, inputs, target)
