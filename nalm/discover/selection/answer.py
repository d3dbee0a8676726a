"""The answer of a search where no law is exact: the law with the most evidence, its verdict, and the front."""

import contextlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from nalm.discover.certificate import Certificate, domain_of
from nalm.discover.certificate.lack_of_fit import SIGNIFICANT
from nalm.discover.certificate.verdict import Verdict
from nalm.discover.law import Law
from nalm.discover.law.expression import Node, evaluate, size
from nalm.discover.law.tidy import tidied
from nalm.discover.problem import Problem, TimeUpError
from nalm.discover.selection.bootstrap import bootstrapped
from nalm.discover.selection.both_kinds import with_both
from nalm.discover.selection.choose import distinct_laws, ranked
from nalm.discover.selection.doubts import doubt, left_open, rows_to_test
from nalm.discover.selection.evidence import Fitted, fit, unsettled
from nalm.discover.selection.front import RIVAL, front
from nalm.discover.selection.intervals import FittedNumber, Uncertainty, constants
from nalm.discover.selection.outliers import far_rows
from nalm.discover.selection.printed import holds, printed_units, resolved, trend, with_nice_numbers, within
from nalm.discover.selection.rivals import Neighbourhood, contains
from nalm.discover.selection.rounding import rounded, with_fewer_digits
from nalm.discover.selection.rows import Observations, without
from nalm.discover.selection.separation import next_measurement
from nalm.discover.selection.simpler import simpler
from nalm.discover.selection.words import digits_hold, far_off, looks_like_noise, second

ALL = 20_000  # rows of the last fit
TESTED = 8  # laws that are tested, best first
NAMED = 5  # forms that a certificate names
SAME = 1e-11  # two laws whose values differ by less of them are one law, written in two ways
AGAIN = (
    2  # times that rows are left out, or noise has both kinds: the law that is found then may ask for others
)
SMALL = 100  # rows below which the evidence decides also where nothing is certified


@dataclass(frozen=True)
class Listed:
    """A law of the front: its error if each row is left out, its certificate, constants, and how much worse it is."""

    node: Node
    error: float
    stage: str
    certificate: Certificate | None = None  # None: not tested
    worse: float = 0.0  # -2 log likelihood and price, above those of the chosen law
    constants: tuple[FittedNumber, ...] = ()
    uncertainty: Uncertainty | None = None  # None: not known


@dataclass(frozen=True)
class Selection:
    """Chooses among the laws that a search met, and tests and lists them."""

    problem: Problem
    names: Sequence[str]
    check: Callable[[], None]

    def front(
        self, met: Mapping[Node, str], allows: Callable[[Node], bool], most_rows: Node | None = None
    ) -> list[Listed]:
        """Return the front of laws under the kind of noise that the rows show: additive, relative, or both."""
        listed = self._front(met, allows, most_rows)
        if not listed or (listed[0].certificate and listed[0].certificate.verdict == Verdict.PRINTED):
            return listed
        found = listed
        for _ in range(AGAIN):  # around the law under one kind of noise, then around the one found so
            problem = with_both(self.problem, found[0].node)
            again = [] if problem is None else replace(self, problem=problem)._front(met, allows, most_rows)
            if not again or not again[0].certificate:
                return listed
            before, found = found, again
            if found[0].node == before[0].node:
                break
        return found

    def _front(
        self, met: Mapping[Node, str], allows: Callable[[Node], bool], most_rows: Node | None = None
    ) -> list[Listed]:
        """Return the front of laws, the chosen one first; empty if no law has a value on all rows.

        The chosen law is the smallest that holds to the printed digits, else the one with the most evidence that
        nothing speaks against, among those that the data cannot tell apart, else the one with the most evidence.
        Rows that are far off from the best law, or from the one that is known to hold on most rows, are left out.
        """
        if most_rows is not None and (
            listed := self._on_most_rows(fits_of(most_rows, self.problem), met, allows)
        ):
            return listed
        order = ranked(met, self.problem, allows, self.check)
        if not order:
            return []
        whole = len(order[0].rows) == self._rows
        if whole and (listed := self._on_most_rows(order, met, allows)):
            return listed
        around = Neighbourhood(allows, self.check)
        with contextlib.suppress(TimeUpError):
            order = distinct_laws([*order, *around.climbed(order[0])])
        with np.errstate(all="ignore"):
            found = _printed(order, self.problem)
            if found is not None:
                return self._listed(order, found, (Verdict.PRINTED, digits_hold(found)))
            near = [f for f in order[:TESTED] if f.score < order[0].score + RIVAL]
            words = [self._tested(f) for f in near]
            sound = [k for k, (verdict, _) in enumerate(words) if verdict != Verdict.NONE]
            if not sound:
                return self._listed(order, near[0], words[0])
            chosen, (verdict, tested) = near[sound[0]], words[sound[0]]
            if (other := simpler(order, chosen, self._is_sound)) is not None:
                chosen, off = other
                tested = self._tested(chosen)[1]
                if off > 0:
                    tested += f" A larger law fits better, but not clearly ({off:.1f} standard errors)."
            others, why = self._rivals(chosen, order, around)
            why = why or left_open(chosen, self.problem, self.names)
            if why:
                verdict, tested = Verdict.UNDECIDED, f"{tested} {why}"
            return self._listed(order, chosen, (verdict, tested), others)

    def _on_most_rows(
        self, laws: Sequence[Fitted], met: Mapping[Node, str], allows: Callable[[Node], bool]
    ) -> list[Listed]:
        """Return the front without the rows that are far off; empty if there are none, or no law is certified."""
        listed: list[Listed] = []
        met = {**met, **{f.node: f.stage for f in laws}}
        far = np.empty(0, int)
        for _ in range(AGAIN):
            with np.errstate(all="ignore"), contextlib.suppress(TimeUpError):
                before, far = far, np.flatnonzero(far_rows(laws, self.check))
                if not len(far) or np.array_equal(far, before):
                    return listed
                again = replace(self, problem=without(self.problem, far)).front(met, allows)
                if not again or not again[0].certificate:
                    return listed
                listed = [named(again[0], self.problem.order[far]), *again[1:]]
                laws = fits_of(again[0].node, self.problem)
        return listed

    def _rivals(
        self, found: Fitted, order: Sequence[Fitted], around: Neighbourhood
    ) -> tuple[list[Fitted], str]:
        """Return other forms that explain the rows as well, laws met and neighbours, and why the form is undecided."""
        near = [f for f in order if f is not found and f.score < found.score + RIVAL]
        others = [f for f in near if not contains(f, found)]
        try:
            others += around.rivals(found)
        except TimeUpError:
            return others, "There was no time to compare it with other forms."
        others = [f for f in others if not np.allclose(f.value, found.value, rtol=SAME, atol=0)]
        return others, "Other forms explain the rows as well." if others else ""

    @property
    def _rows(self) -> int:
        return len(self.problem.y) + len(self.problem.held_y)

    def _tested(self, found: Fitted) -> tuple[Verdict, str]:
        words = doubt(found, self.problem)
        if words is None:
            return Verdict.CONSISTENT, looks_like_noise(found.rows, found.scatter) + "."
        return Verdict.NONE, f"{words}."

    def _is_sound(self, found: Fitted) -> bool:
        return self._tested(found)[0] != Verdict.NONE

    def _listed(
        self,
        order: Sequence[Fitted],
        chosen: Fitted,
        words: tuple[Verdict, str],
        others: Sequence[Fitted] = (),
    ) -> list[Listed]:
        """Test and round the laws of the front, the chosen one first."""
        laws = front(order, chosen)
        rounded_laws = [chosen if words[0] == Verdict.PRINTED else rounded(self._on_all_rows(chosen))]
        rounded_laws += [rounded(law) for law in laws[1:]]
        names = tuple(self.names)
        texts = dict.fromkeys(str(Law(rounded(law).node, names)) for law in others)
        alternatives = tuple(texts)[:NAMED]
        listed = []
        for n, (law, short) in enumerate(zip(laws, rounded_laws, strict=True)):
            verdict, tested = words if n == 0 else second(self._tested(law))
            certificate = self._certificate(short, verdict, tested)
            if n == 0 and others:
                advice = next_measurement(chosen, others[0], names, alternatives[0])
                certificate = replace(certificate, alternatives=alternatives, advice=advice)
            worse = law.score - chosen.score if n else 0.0
            node, known = tidied(short.node), constants(short)
            if self.problem.bootstrap and n == 0:
                known = bootstrapped(short, self.problem.bootstrap, self.problem.seed, self.check)
            sure = Uncertainty.of(short) if node == short.node else uncertainty_of(node, short.rows)
            listed.append(Listed(node, law.error, law.stage, certificate, worse, known, sure))
        return listed

    def _on_all_rows(self, found: Fitted) -> Fitted:
        """Fit a law that was chosen on a part of the rows to all of them."""
        whole = Observations.of(self.problem, ALL)
        if len(whole) == len(found.rows):
            return found
        return fit(found.node, replace(whole, noise=found.rows.noise), found.free, found.stage)

    def _certificate(self, law: Fitted, verdict: Verdict, tested: str) -> Certificate:
        off = float(np.sqrt(np.mean((law.rows.y - evaluate(law.node, law.rows.x)) ** 2)))
        off /= float(np.std(law.rows.y)) or 1.0
        p, held = self.problem, rows_to_test(law.node, self.problem)
        domain = domain_of(law.node, p, self.names)
        return Certificate(verdict, tested, held, off, float(p.noise or off), p.precision, p.noise, domain)


def _printed(order: Sequence[Fitted], problem: Problem) -> Fitted | None:
    """Return the law that holds to the printed digits, if any: that of the fewest fitted numbers, then the smallest."""
    units = printed_units(order[0].rows, problem)
    if units is None:
        return None
    held = [with_nice_numbers(law, *units) for f in order[:TESTED] if (law := holds(f, *units)) is not None]
    for law in sorted(held, key=lambda f: (f.count, size(f.node))):
        if resolved(law, *units) and trend(law, problem, *units) >= SIGNIFICANT:
            return replace(law, node=with_fewer_digits(law.node, partial(within, law.rows, *units)))
    return None


def fits_of(node: Node, problem: Problem) -> list[Fitted]:
    """Fit a law to all rows under each kind of noise that is possible."""
    kinds = Observations.of(problem, len(problem.order)).kinds()
    return [fit(node, rows, unsettled(node, rows.x), "") for rows in kinds]


def uncertainty_of(node: Node, rows: Observations) -> Uncertainty:
    """Return the uncertainty of a law whose numbers were fitted elsewhere, as on these rows."""
    return Uncertainty.of(Fitted(node, unsettled(node, rows.x), rows, ""))


def named(law: Listed, far: NDArray[np.int_]) -> Listed:
    """Add the rows that were left out to the certificate of a law."""
    assert law.certificate is not None
    outliers = tuple(1 + row for row in sorted(far.tolist()))
    tested = f"{law.certificate.tested} {far_off(outliers)}"
    return replace(law, certificate=replace(law.certificate, tested=tested, outliers=outliers))
