"""The stages of the search, from simple to complex: STAGES is the ladder.

A stage is one file with one generator, and one line here. It may import the problem, ``law/``, ``fit/``, and
``dimensions/``. ADD HERE; ``additive.py`` is the shortest example.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from nalm.discover.law.expression import Node
from nalm.discover.problem import Problem
from nalm.discover.stages.additive import additive
from nalm.discover.stages.monomials import monomials
from nalm.discover.stages.polynomial import polynomial
from nalm.discover.stages.power import power
from nalm.discover.stages.powersum import powersum
from nalm.discover.stages.product import product
from nalm.discover.stages.ratio import ratio
from nalm.discover.stages.scratchpad import deep_scratchpad, scratchpad
from nalm.errors import unknown


@dataclass(frozen=True)
class Stage:
    """One method of the search, for one form of law."""

    propose: Callable[[Problem], Iterator[Node]]  # yields candidates with real numbers, the best first
    thorough: bool = False  # test every candidate and keep the smallest exact law, instead of the first one
    constants: bool = False  # has candidates even where no column changes


STAGES: dict[str, Stage] = {
    "additive": Stage(additive, constants=True),
    "power": Stage(power, constants=True),
    "ratio": Stage(ratio),
    "product": Stage(product),
    "powersum": Stage(powersum, constants=True),
    "polynomial": Stage(polynomial),
    "scratchpad": Stage(scratchpad, thorough=True),
    "deep": Stage(deep_scratchpad, thorough=True),
    "monomials": Stage(monomials),
}


def select(names: Sequence[str] | None) -> dict[str, Stage]:
    """Return the named stages in the given order; all of them by default."""
    if names is None:
        return STAGES
    for name in names:
        if name not in STAGES:
            raise unknown("stage", name, STAGES)
    return {name: STAGES[name] for name in names}
