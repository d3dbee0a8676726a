"""The laws that a search has met, with their errors, and the candidates that its stages proposed."""

import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from nalm.discover.certificate import Certificate, certify, certify_noisy
from nalm.discover.certificate.verdict import Verdict
from nalm.discover.dimensions.rule import DimensionRule
from nalm.discover.dimensions.units import described
from nalm.discover.fit.description_length import length, pruned
from nalm.discover.fit.fallback import chosen
from nalm.discover.fit.least_squares import UNSOLVABLE
from nalm.discover.fit.snap import gauged
from nalm.discover.law import Law
from nalm.discover.law.expression import Node, Sum, evaluate, numbers, size
from nalm.discover.law.tidy import tidied
from nalm.discover.problem import SEARCHED, Problem, TimeUpError
from nalm.discover.selection.answer import SMALL, Listed, Selection, uncertainty_of
from nalm.discover.selection.rounding import as_near, with_fewer_digits
from nalm.discover.selection.rows import Observations, distinct
from nalm.discover.selection.structure import structure

REFITTED, SIMPLIFIED = 60, 6  # how many candidates are refitted, and how many simplified, under noise
LARGEST = 120  # symbols of a candidate that is simplified
COMPARED = 40  # candidates compared on held-out rows where no law is certified
LISTED = 20  # laws of a front
Chosen = tuple[Node, Certificate, str]  # a law, its certificate and its stage


class Met:
    """The laws met so far."""

    def __init__(self, problem: Problem):
        self.problem = problem
        self.rule = DimensionRule(problem)
        self.met: dict[Node, tuple[float, str]] = {}  # law -> its error and stage
        self.proposals: list[tuple[Node, str]] = []  # with real numbers, by stage, in case no law is exact

    def remember(self, node: Node, stage: str) -> None:
        """Record a law with its error on the rows searched."""
        if node not in self.met:
            r = self.problem.y - evaluate(node, self.problem.x)
            error = float(np.sqrt(np.mean(r**2)) / (np.std(self.problem.y) or 1.0))
            self.met[node] = (error if np.isfinite(error) else np.inf), stage

    def remember_proposals(self, check: Callable[[], None] = lambda: None) -> None:
        """Record the candidates with their real numbers as laws that were met."""
        finite = [(node, stage) for node, stage in self.proposals if np.isfinite(numbers(node)).all()]
        tidy = [(gauged(tidied(node)), stage) for node, stage in finite]
        self.proposals = [(node, stage) for node, stage in tidy if self.rule.allows(node)]
        for node, stage in self.proposals:
            check()
            self.remember(node, stage)

    def score(self, node: Node) -> float:
        """Return the description length of a law that was met."""
        error = self.met[node][0]
        if not self.problem.constraints.allows(node):
            return np.inf
        return length(node, error * error, len(self.problem.y)) if np.isfinite(error * error) else np.inf

    def nearest(self, certified: Chosen | None, names: Sequence[str]) -> str:
        """Describe the best law so far: the chosen one, else the one with the smallest error."""
        best = min(self.met, key=lambda n: self.met[n][0], default=None)
        node = certified[0] if certified else best
        if node is None:
            return "none of them near"
        law = f", {Law(node, tuple(names))}," if certified else ""
        return f"the nearest{law} leaves {self.met[node][0]:.2g}"

    def shortlist(self) -> list[tuple[Node, str]]:
        """Return the candidates worth simplifying: refitted, without terms that are noise, each once."""
        cleared: dict[Node, tuple[float, str]] = {}
        few = REFITTED if self.problem.noise != 0 else SIMPLIFIED // 2
        self.remember_proposals(self.problem.check)
        for proposal, stage in sorted(self.proposals, key=lambda d: self.score(d[0]))[:few]:
            with contextlib.suppress(*UNSOLVABLE):
                for node in self.cleared(proposal):
                    self.remember(node, stage)
                    cleared.setdefault(node, (self.score(node), stage))
        small = [node for node in cleared if size(node) <= LARGEST]
        best = sorted(small, key=lambda n: cleared[n][0])[:SIMPLIFIED]
        return [(node, cleared[node][1]) for node in best]

    def cleared(self, proposal: Node) -> Iterator[Node]:
        """Yield the candidate without terms that are noise; with units also as it is, whose exponents add up."""
        if self.problem.dimensions is not None:
            yield proposal
        node = self.rule.trim(pruned(proposal, self.problem))
        if node is not None:
            yield self.rule.refit(node)

    def uncertified(self, before: Chosen | None, names: Sequence[str]) -> Chosen:
        """Return the certified law or, for want of one, the law that predicts held-out rows best."""
        if before is not None and before[1]:
            return before
        self.remember_proposals()
        constant = Sum((), (), float(np.mean(self.problem.y)))
        if self.rule.allows(constant) or not self.met:
            self.remember(constant, "constant")
        ranked = sorted(self.met, key=self.score)[:COMPARED]
        ranked = ranked if before is None else [before[0], *ranked]
        node, stage = ranked[0], self.met[ranked[0]][1]
        if self.problem.dimensions is None and not self.problem.constraints:
            node, stage = chosen([(n, self.met[n][1]) for n in ranked], self.problem)
            self.remember(node, stage)
        if before is not None and node == before[0]:
            return before
        node = self.shorter(node, stage)
        words = (
            ""
            if self.problem.constraints.allows(node)
            else "no law of the form that is asked for was found, and "
        )
        certificate = certify(node, self.problem, names)
        if not certificate and self.problem.noise != 0:
            certificate = replace(certify_noisy(node, self.problem, names), verdict=Verdict.NONE)
        if self.problem.dimensions is not None and not self.rule.allows(node):
            reason = f"no law of the dimension {described(self.problem.dimensions[1])} was found, and "
            tested = f"{reason}{certificate.tested} If a constant with a unit is missing, add it as a column."
            certificate = replace(certificate, verdict=Verdict.NONE, tested=tested)
        if words:
            certificate = replace(certificate, verdict=Verdict.NONE, tested=words + certificate.tested)
        return node, certificate, stage

    def shorter(self, node: Node, stage: str) -> Node:
        """Return a law without the digits that do not matter, and record it."""
        x, y = self.problem.x, self.problem.y
        short = tidied(with_fewer_digits(node, as_near(node, x, y)))
        short = short if self.rule.allows(short) else node
        self.remember(short, stage)
        return short

    def front(self, chosen: Node) -> list[Listed]:
        """Return the chosen law, then those of other structure that no smaller law is as near as, best first."""
        allowed = filter(self.problem.constraints.allows, self.met)
        order = sorted(allowed, key=lambda n: (size(n), self.met[n][0]))
        seen, kept, least = {structure(chosen)}, [], np.inf
        for node in order:
            if self.met[node][0] < least and (form := structure(node)) not in seen:
                least = self.met[node][0]
                seen.add(form)
                kept.append(node)
        laws = [chosen, *sorted(kept, key=self.score)[: LISTED - 1]]
        laws = [chosen, *(self.shorter(n, self.met[n][1]) for n in laws[1:])]
        return [Listed(n, *self.met[n]) for n in laws]

    def by_evidence(
        self, before: Chosen, names: Sequence[str], began: float, most_rows: Node | None
    ) -> tuple[Chosen, list[Listed]]:
        """Choose again among all laws met, by their evidence on all rows; with many rows keep an uncertified law.

        Rows that are far off from the law ``most_rows`` are left out and named, if there is one.
        """
        problem = self.problem
        end = began + (problem.deadline - began) / SEARCHED

        def check() -> None:
            if problem.clock() > end:
                raise TimeUpError

        if before[1]:  # else it was done before
            self.remember_proposals()
        stages = {node: stage for node, (_, stage) in self.met.items()}
        front = Selection(distinct(problem), names, check).front(stages, self.rule.allows, most_rows)
        front = [
            law for law in front if self.rule.allows(law.node)
        ]  # a fit of exponents may change the dimension
        if not front:
            return before, self.front(before[0])
        first = front[0]
        many = len(problem.y) + len(problem.held_y) >= SMALL
        if many and not first.certificate and before[1].verdict == Verdict.NONE:
            form = structure(before[0])
            others = [law for law in front if structure(law.node) != form]
            error, stage = self.met[before[0]]
            known = uncertainty_of(before[0], Observations.of(problem))
            return before, [Listed(before[0], error, stage, before[1], uncertainty=known), *others]
        assert first.certificate is not None
        return (first.node, first.certificate, first.stage), front
