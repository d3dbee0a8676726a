"""The laws that a search has met, with their errors, and the candidates that its stages proposed."""

from collections.abc import Callable

import numpy as np

from nalm.discover.dimensions.rule import DimensionRule
from nalm.discover.fit.description_length import length
from nalm.discover.fit.snap import gauged
from nalm.discover.law.expression import Node, evaluate, numbers, tidied
from nalm.discover.problem import Problem


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
