"""Rivals of a law: neighbours that explain the same rows as well, or better."""

import contextlib
import itertools
import math
from collections.abc import Callable, Iterator

import numpy as np

from nalm.discover.fit.least_squares import UNSOLVABLE, refined
from nalm.discover.law.expression import Node, evaluate, roles, size
from nalm.discover.selection.evidence import FREE, Fitted, fit, scalable, unsettled
from nalm.discover.selection.neighbours import neighbours
from nalm.discover.selection.rows import NoiseKind
from nalm.discover.selection.simplify import Allows, simplified

MARGIN = 10.0  # of -2 log likelihood: odds of 150 to 1 between two forms, before their number is counted
MOST = 400  # neighbours that are fitted
FIRST, HOPELESS = 5, 2000.0  # steps of a first fit, after which one that is less likely by so much is left
LARGEST = 60  # symbols of a law that has neighbours
SAME = 1e-2  # of the noise, rms: laws that differ by less are one
CLIMBS = 3  # times that a better neighbour takes the place of a law
SIMPLIFIED = 2  # neighbours that are simplified, each time


class Neighbourhood:
    """The neighbours of laws, fitted to their rows; those of a law are fitted once."""

    def __init__(self, allows: Allows, check: Callable[[], None]):
        self.allows, self.check = allows, check
        self._known: dict[tuple[Node, NoiseKind], list[Fitted]] = {}

    def of(self, found: Fitted) -> list[Fitted]:
        """Return the neighbours of a law that have a value on all of its rows, each form once."""
        key = found.node, found.rows.noise
        if key not in self._known:
            kept: dict[Node, Fitted] = {}
            with np.errstate(all="ignore"):
                for node in self._forms(found):
                    for other in self._fits(node, found):
                        best = kept.get(other.form)
                        if other.form != found.form and (best is None or _worse(other, best) < 0):
                            kept[other.form] = other
            self._known[key] = [other for other in kept.values() if np.isfinite(other.score)]
        return self._known[key]

    def _forms(self, found: Fitted) -> Iterator[Node]:
        """Yield the neighbours that are allowed and have a value on all rows."""
        near = neighbours(found.node, found.rows.x) if size(found.node) <= LARGEST else iter(())
        for node in map(scalable, itertools.islice(near, MOST)):
            self.check()
            if self.allows(node) and np.isfinite(evaluate(node, found.rows.x)).all():
                yield node

    def _fits(self, node: Node, found: Fitted) -> Iterator[Fitted]:
        """Yield the fit of the numbers that are not nice, and that of all; exponents stay. A hopeless one ends soon."""
        others = np.array([role != "exponent" for role in roles(node)], bool)
        some, every = (unsettled(node, found.rows.x, fixed) & others for fixed in (True, False))
        for free in [some] if (some == every).all() else [some, every]:
            with contextlib.suppress(*UNSOLVABLE):
                other = fit(node, found.rows, free, found.stage, self.check, steps=FIRST)
                if _worse(other, found) < HOPELESS:
                    other = fit(other.node, found.rows, free, found.stage, self.check)
                yield other

    def climbed(self, found: Fitted) -> list[Fitted]:
        """Return better neighbours of a law, those of the best of these, and so on; empty if there are none."""
        better: list[Fitted] = []
        for _ in range(CLIMBS):
            near = sorted(self.of(found), key=lambda f: f.score)
            simpler = [s for f in near[:SIMPLIFIED] for s in simplified(f, self.allows, self.check)]
            near = [other for other in [*simpler, *near] if other.score < found.score]
            if not near:
                break
            better += near
            found = min(near, key=lambda f: f.score)
        return better

    def rivals(self, found: Fitted) -> list[Fitted]:
        """Return the neighbours that the rows cannot tell from a law, the most likely first.

        The law must be more likely than each by a margin that grows with their number, since each is one more chance.
        A form that can take the values of the law itself is no rival: it is the law, written in another way or with
        more numbers.
        """
        others = self.of(found)
        margin = MARGIN + 2 * math.log(len(others) or 1)
        near = sorted((f for f in others if _worse(f, found) < margin), key=lambda f: _worse(f, found))
        return [f for f in near if not contains(f, found)]


def _worse(one: Fitted, other: Fitted) -> float:
    """Return by how much a law is less likely than another, in -2 log likelihood, once its numbers are paid for."""
    return one.misfit - other.misfit + FREE * math.log(len(one.rows)) * (one.count - other.count)


def contains(wider: Fitted, law: Fitted) -> bool:
    """Return whether a form, with its numbers fitted, can take the values of a law on the law's rows."""
    rows = law.rows
    with np.errstate(all="ignore"):
        value = evaluate(rows.seen(law.node), rows.x)
        again, _ = refined(
            rows.seen(wider.node), rows.x, value, 1 / rows.error, free=rows.mask(wider.free), steps=30
        )
        off = (evaluate(again, rows.x) - value) / rows.error
        return bool(np.sqrt(np.mean(off**2)) < SAME * law.scatter)
