"""Results of a search: ``Discovery`` for one call, ``FittedLaw`` for what a regressor keeps and saves."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from nalm.discover.certificate import Certificate
from nalm.discover.certificate.support import nearest, support
from nalm.discover.certificate.verdict import Verdict
from nalm.discover.grouped.law import Groups
from nalm.discover.law import Law
from nalm.discover.law.expression import Array
from nalm.discover.selection.answer import Listed
from nalm.discover.selection.intervals import FittedNumber, Uncertainty
from nalm.errors import NALMError, unknown

SELECT = ("evidence", "knee", "accurate")  # besides a place: how a law of the front is taken
ROUNDING = 2.0**-53  # the error of an exact law counts as no less
KNEE = 1.5  # times the smallest error of the front: a law with more is not taken for its knee


@dataclass(frozen=True)
class Candidate:
    """A law of the front: its size, its error (over the spread of y, each row left out under noise) and its stage."""

    law: Law
    error: float
    stage: str
    certificate: Certificate | None = None  # None: not tested
    worse: float = 0.0  # -2 log likelihood and price of the law, above those of the chosen one
    constants: tuple[FittedNumber, ...] = ()  # the fitted numbers with their intervals
    uncertainty: Uncertainty | None = None  # of predictions; None: not known
    groups: Groups | None = None  # of a law with own constants of groups

    @classmethod
    def of(cls, listed: Listed, names: tuple[str, ...]) -> Self:
        """Build the candidate of a listed law, with names for its inputs."""
        law = Law(listed.node, names)
        known = listed.constants, listed.uncertainty
        return cls(law, listed.error, listed.stage, listed.certificate, listed.worse, *known)

    @property
    def size(self) -> int:
        """The number of symbols of the law."""
        return self.law.size

    @property
    def verdict(self) -> str:
        """The verdict on the law; empty if it was not tested."""
        return "" if self.certificate is None else self.certificate.verdict.value


@dataclass(frozen=True)
class Discovery:
    """The result of a search: the law, its certificate, and the front of laws, the law itself first."""

    law: Law
    certificate: Certificate
    candidates: list[Candidate] = field(repr=False)
    stage: str
    seconds: float

    def selected(self, which: str | int) -> "Discovery":
        """Return the discovery with another law of the front: at this place, at the knee, or with the least error."""
        check_selection(which)
        tested = [k for k, c in enumerate(self.candidates) if c.certificate is not None]
        if which == "evidence" or (len(tested) < 2 and isinstance(which, str)):
            return self
        if isinstance(which, str):
            place = _place(which, [self.candidates[k] for k in tested], tested)
        else:
            place = which
        if not -len(self.candidates) <= place < len(self.candidates):
            last = len(self.candidates) - 1
            raise NALMError(f"The front has no law at place {which}: select one of 0 to {last}.")
        first = self.candidates[place]
        others = [c for c in self.candidates if c is not first]
        certificate = first.certificate
        if certificate is None:
            words = "the law was selected by hand and not tested."
            certificate = replace(self.certificate, verdict=Verdict.NONE, tested=words)
        return replace(
            self, law=first.law, certificate=certificate, candidates=[first, *others], stage=first.stage
        )


def check_selection(which: Any) -> None:
    """Refuse what is neither a place on the front nor one of the words for one."""
    if isinstance(which, str) and which not in SELECT:
        raise unknown("way to select a law", which, SELECT)
    if not isinstance(which, str | int | np.integer) or isinstance(which, bool):
        raise NALMError(f"select is a place on the front, such as 1, or a word, got {which!r}.")


def _place(which: str, laws: Sequence[Candidate], places: Sequence[int]) -> int:
    """Return the place of the law at the knee or with the least error."""
    least = min(c.error for c in laws)
    if which == "accurate":
        return places[[c.error for c in laws].index(least)]
    order = sorted(range(len(laws)), key=lambda k: (laws[k].size, laws[k].error))
    best, steepest = order[-1], -np.inf
    for before, k in pairwise(order):
        fall = np.log(max(laws[before].error, 1e-300) / max(laws[k].error, 1e-300))
        steep = fall / max(laws[k].size - laws[before].size, 1)
        if laws[k].error <= KNEE * least and steep > steepest:
            best, steepest = k, steep
    return places[best]


class Equation(NamedTuple):
    """A law of the front as text: its formula, number of symbols, error over the spread of y, and stage.

    Under noise, the error is that with each row left out, ``worse`` is the evidence that it lacks beside the first
    one (-2 log likelihood and price: 6 is strong), ``constants`` are its fitted numbers with their intervals.
    ``score`` is how much the logarithm of the error falls per added symbol, from the next smaller law of the front with
    a smaller error than all before it, as in PySR: 0 for the smallest law, and where the error does not fall.
    """

    formula: str
    size: int
    error: float
    stage: str
    verdict: str = ""  # empty: not tested
    worse: float = 0.0
    constants: tuple[FittedNumber, ...] = ()
    score: float = 0.0


def scores(laws: Sequence[tuple[int, float]]) -> list[float]:
    """Return the scores of laws, given by their sizes and errors.

    >>> [round(s, 3) for s in scores([(5, 0.1), (1, 1.0), (7, 0.2), (9, 0.05)])]
    [0.576, 0.0, 0.0, 0.173]
    """
    found = [0.0] * len(laws)
    order = sorted((k for k, (_, e) in enumerate(laws) if np.isfinite(e)), key=lambda k: laws[k])
    best = order[:1]
    for k in order[1:]:
        size, error = laws[best[-1]]
        if laws[k][1] < error:
            fall = np.log(max(error, ROUNDING) / max(laws[k][1], ROUNDING))
            found[k] = float(fall / max(laws[k][0] - size, 1))
            best.append(k)
    return found


@dataclass(frozen=True)
class FittedLaw:
    """The law of one output with its certificate, the candidates, and what is needed to judge new rows."""

    law: Law
    certificate: Certificate
    considered: Sequence[Candidate | Equation]  # a candidate becomes text only on request: that takes time
    nearest: list[float]  # the smallest size of each denominator of the law on the rows of the fit
    uncertainty: Uncertainty | None = None  # None: of an exact law, or not known
    groups: Groups | None = None  # of a law with own constants of groups, which are its last inputs

    @classmethod
    def of(cls, found: Discovery, x: Array, labels: Any = None) -> Self:
        """Keep what a search found on these rows; ``labels`` are their groups, if it was a search in groups."""
        first = found.candidates[0]
        kept = cls(found.law, found.certificate, found.candidates, [], first.uncertainty, first.groups)
        return replace(kept, nearest=nearest(found.law, kept.inputs(x, labels)))

    def inputs(self, x: Array, labels: Any) -> Array:
        """Return the inputs of the law: the columns, and the own constants of the group of each row."""
        if self.groups is None:
            if labels is not None:
                raise NALMError("The law was found without groups: leave groups out.")
            return x
        return np.column_stack([x, self.groups.columns(labels, len(x))])

    @property
    def equations(self) -> list[Equation]:
        """The candidates as text, best first, with their scores."""
        listed = [
            c
            if isinstance(c, Equation)
            else Equation(str(c.law), c.size, c.error, c.stage, c.verdict, c.worse, c.constants)
            for c in self.considered
        ]
        return [e._replace(score=s) for e, s in zip(listed, scores([e[1:3] for e in listed]), strict=True)]

    def predict(self, x: Array, labels: Any = None) -> Array:
        """Evaluate the law on every row."""
        return self.law.predict(self.inputs(x, labels))

    def support(self, x: Array, labels: Any = None) -> NDArray[np.str_]:
        """Return a word for each row: inside, outside, singular, overflow or undefined."""
        return support(self.law, self.certificate.domain, self.nearest, self.inputs(x, labels))

    def interval(self, x: Array, labels: Any = None) -> Array:
        """Return the 95% interval of a new measurement on each row, (rows, 2); an exact law leaves none."""
        if self.certificate.verdict == Verdict.EXACT:
            return np.repeat(self.predict(x, labels)[:, None], 2, 1)
        if self.groups is not None:
            return self.groups.interval(x, labels)
        if self.uncertainty is None:
            raise NALMError("The law was found with noise=0 and has no intervals: fit with noise=None.")
        return self.uncertainty.interval(self.law.expression, x)
