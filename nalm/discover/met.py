"""The laws that a search has met, with their errors, and the candidates that its stages proposed."""

import contextlib
from collections.abc import Callable, Iterator

import numpy as np

from nalm.discover.dimensions.rule import DimensionRule
from nalm.discover.fit.description_length import length, pruned
from nalm.discover.fit.least_squares import UNSOLVABLE
from nalm.discover.fit.snap import gauged
from nalm.discover.law.expression import Node, evaluate, numbers
from nalm.discover.law.tidy import tidied
from nalm.discover.problem import Problem

REFITTED, SIMPLIFIED = 60, 6  # how many candidates are refitted, and how many simplified, under noise


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
        return length(node, error**2, len(self.problem.y)) if np.isfinite(error) else np.inf

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
        best = sorted(cleared, key=lambda n: cleared[n][0])[:SIMPLIFIED]
        return [(node, cleared[node][1]) for node in best]

    def cleared(self, proposal: Node) -> Iterator[Node]:
        """Yield the candidate without terms that are noise; with units also as it is, whose exponents add up."""
        if self.problem.dimensions is not None:
            yield proposal
        node = self.rule.trim(pruned(proposal, self.problem))
        if node is not None:
            yield self.rule.refit(node)
