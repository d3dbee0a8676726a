"""Results of a search: ``Discovery`` for one call, ``FittedLaw`` for what a regressor keeps and saves."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from nalm.discover.certificate import Certificate
from nalm.discover.certificate.support import nearest, support
from nalm.discover.law import Law
from nalm.discover.law.expression import Array


@dataclass(frozen=True)
class Candidate:
    """A law that was considered: its size, its error (rms over the spread of y) and the stage it came from."""

    law: Law
    error: float
    stage: str

    @property
    def size(self) -> int:
        """The number of symbols of the law."""
        return self.law.size


@dataclass(frozen=True)
class Discovery:
    """The result of a search: the law, its certificate, and the other candidates, best first."""

    law: Law
    certificate: Certificate
    candidates: list[Candidate] = field(repr=False)
    stage: str
    seconds: float


class Equation(NamedTuple):
    """A candidate as text: its formula, its number of symbols, its error over the spread of y, and its stage."""

    formula: str
    size: int
    error: float
    stage: str


@dataclass(frozen=True)
class FittedLaw:
    """The law of one output with its certificate, the candidates, and what is needed to judge new rows."""

    law: Law
    certificate: Certificate
    considered: Sequence[Candidate | Equation]  # a candidate becomes text only on request: that takes time
    nearest: list[float]  # the smallest size of each denominator of the law on the rows of the fit

    @classmethod
    def of(cls, found: Discovery, x: Array) -> Self:
        """Keep what a search found on these rows."""
        return cls(found.law, found.certificate, found.candidates, nearest(found.law, x))

    @property
    def equations(self) -> list[Equation]:
        """The candidates as text, best first."""
        return [
            c if isinstance(c, Equation) else Equation(str(c.law), c.size, c.error, c.stage)
            for c in self.considered
        ]

    def support(self, x: Array) -> NDArray[np.str_]:
        """Return a word for each row: inside, outside, singular, overflow or undefined."""
        return support(self.law, self.certificate.domain, self.nearest, x)
