"""The stages of the search for a law. STAGES lists them in the order in which they are tried, cheap ones first.

A stage is a generator function, usually in a file of its own. It may import ``problem.py``, ``law/``, ``fit/`` and
``dimensions/``. To add one, import it here and add an entry to STAGES; ``additive.py`` is the shortest example.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from nalm.discover.law.expression import Node
from nalm.discover.problem import Problem
from nalm.discover.stages.additive import additive
from nalm.discover.stages.argument import argument
from nalm.discover.stages.chebyshev import chebyshev
from nalm.discover.stages.curves import curves
from nalm.discover.stages.divided import divided
from nalm.discover.stages.factors import factors
from nalm.discover.stages.general import general
from nalm.discover.stages.inside import inside
from nalm.discover.stages.logarithm import logarithm
from nalm.discover.stages.monomials import monomials
from nalm.discover.stages.outside import outside
from nalm.discover.stages.polynomial import polynomial
from nalm.discover.stages.power import power
from nalm.discover.stages.powersum import powersum
from nalm.discover.stages.product import product
from nalm.discover.stages.ratio import ratio
from nalm.discover.stages.rational import rational
from nalm.discover.stages.scratchpad import deep_scratchpad, scratchpad
from nalm.discover.stages.separable import separable
from nalm.discover.stages.waves import waves
from nalm.errors import unknown


@dataclass(frozen=True)
class Stage:
    """One search strategy, for one family of formulas."""

    propose: Callable[
        [Problem], Iterator[Node]
    ]  # yields candidates with unrounded numbers, the best fit first
    thorough: bool = False  # test every candidate and keep the shortest exact law, not the first one
    patient: bool = False  # tried last, only if no law is certified, and takes the time that is left
    functions: bool = False  # under noise tried only where the stages before leave more than noise
    constants: bool = False  # can also propose laws if all input columns are constant


STAGES: dict[str, Stage] = {
    "additive": Stage(additive, constants=True),  # 2*a - 3*b + 1
    "power": Stage(power, constants=True),  # 5*a**2/b
    "ratio": Stage(ratio),  # (a + b)/(c - 2*d)
    "product": Stage(product),  # (a + b)*(c - d)
    "powersum": Stage(powersum, constants=True),  # a**2 + 3*b/c
    "polynomial": Stage(polynomial),  # a**2 + a*b + 1
    "scratchpad": Stage(scratchpad, thorough=True),  # a law of new columns, each made of two others
    "deep": Stage(deep_scratchpad, thorough=True),  # the same, with new columns made of new columns
    "factors": Stage(factors, thorough=True),  # a*sin(b/2)**2/sin(c)
    "monomials": Stage(monomials),  # few terms out of many products of powers
    "chebyshev": Stage(chebyshev),  # a**6 + a**5 + ... + a: a polynomial of one column, of two, or of all
    "rational": Stage(rational),  # (a + 1)**3/(a**2 - a + 1): a quotient of two such polynomials
    # a*b/((c - d)**2 + (e - f)**2): a product of powers times a law of the other columns
    "separable": Stage(separable),
    "argument": Stage(argument, functions=True),  # a*exp(-b*c/d)
    "logarithm": Stage(logarithm, functions=True),  # 3*log(a) - log(exp(b/a) - 1)
    "outside": Stage(outside, functions=True),  # asin(a/b)
    "waves": Stage(waves, functions=True),  # 3*exp(-a/5)*sin(7*a + 1) + b
    "curves": Stage(curves, functions=True),  # 3/(1 + 5*exp(-a)), under noise
    "inside": Stage(inside, functions=True),  # sqrt(a**2 + b**2 - 2*a*b*cos(c))
    "divided": Stage(divided, functions=True),  # a*b/(c*d)*(e + f + 2*sqrt(e*f)*cos(g))
    # a*(b + (a + c)/(c*d + e)): nested laws, as long as there is time
    "general": Stage(general, patient=True),
}


def select(names: Sequence[str] | None) -> dict[str, Stage]:
    """Return the named stages in the given order; ``None`` means all."""
    if names is None:
        return dict(STAGES)
    for name in names:
        if name not in STAGES:
            raise unknown("stage", name, STAGES)
    return {name: STAGES[name] for name in names}
