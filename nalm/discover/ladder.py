"""The ladder: ``search`` tries stage after stage until one law is certified, then once more with noise admitted."""

import contextlib
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from nalm.discover.certificate import Certificate, certify, certify_noisy
from nalm.discover.certificate.verdict import Verdict
from nalm.discover.dimensions.rule import DimensionRule
from nalm.discover.dimensions.units import described
from nalm.discover.discovery import Candidate, Discovery
from nalm.discover.fit.description_length import is_nice, length, pruned, shortened, simplified
from nalm.discover.fit.least_squares import UNSOLVABLE, solvable
from nalm.discover.fit.snap import gauged, snapped, whole
from nalm.discover.law import Law
from nalm.discover.law.expression import Node, Sum, evaluate, numbers, size
from nalm.discover.law.names import check_names
from nalm.discover.law.rewrite import rewritten
from nalm.discover.law.tidy import tidied
from nalm.discover.problem import Problem, TimeUpError
from nalm.discover.stages import Stage, select

Watch = Callable[[str], None]

QUIET = 1e-3  # share of the spread of y: if noise is not declared, so little may be a law with functions
REFITTED, SIMPLIFIED = 60, 6  # how many candidates are refitted, and how many simplified, under noise


def search(
    x: Any,
    y: Any,
    names: Sequence[str] | None = None,
    *,
    noise: float | None = None,
    seed: int = 0,
    max_time: float | None = None,
    stages: Sequence[str] | None = None,
    x_units: Sequence[str] | None = None,
    y_unit: str | None = None,
    watch: Watch | None = None,
) -> Discovery:
    """Find the law y = f(x) behind a table x (rows, columns), and test what can be said about it.

    ``noise`` is the standard deviation of the noise on y over that of y: 0 looks for laws that hold to
    rounding, a level for laws consistent with it, None (default) for either. If no law gets a certificate,
    the best candidate is returned with the verdict none. Every random choice follows from the seed.

    With ``x_units``, one for each column, and ``y_unit``, such as "m/s^2", only laws of the right dimension are
    considered: numbers have none, terms of a sum have the same, and a constant of nature is a column.
    ``watch`` is called after every stage with one line about the progress of the search.

    >>> x = np.random.default_rng(0).uniform(-2, 2, (100, 3))
    >>> found = search(x, x[:, 0] / x[:, 2])
    >>> print(found.law, found.certificate.verdict)
    a/c exact
    """
    began = time.monotonic()
    problem = Problem.from_table(
        x, y, seed=seed, noise=noise, max_time=max_time, x_units=x_units, y_unit=y_unit
    )
    state = Search(problem, check_names(names, problem.inputs), select(stages), watch)
    with np.errstate(all="ignore"):  # candidates may overflow; what is not finite is never certified
        with contextlib.suppress(TimeUpError):
            state.find_exact()
            if state.certified is None:
                state.find_under_noise()
        return state.discovery(began)


class Search:
    """State of one search: candidates tried so far and the certified law, if any."""

    def __init__(
        self,
        problem: Problem,
        names: tuple[str, ...],
        stages: dict[str, Stage],
        watch: Watch | None = None,
    ):
        self.problem, self.names, self.stages, self.watch = problem, names, stages, watch
        self.rule = DimensionRule(problem)
        self.began = time.monotonic()
        self.met: dict[Node, tuple[float, str]] = {}  # law -> its error and stage
        self.seen: set[Node] = set()  # with units: structures of the candidates, without their numbers
        self.proposals: list[tuple[Node, str]] = []  # with real numbers, by stage, in case no law is exact
        self.certified: tuple[Node, Certificate, str] | None = None
        self.asked = False  # whether a law without functions explains the data under noise

    def find_exact(self) -> None:
        """Try stage after stage until one has a law that holds to rounding."""
        tried: set[Node] = set()
        for name, stage in self.stages.items():
            if stage.functions and self.explained():
                return
            found: list[tuple[Node, Certificate]] = []
            for proposal in self.proposed(stage):
                self.proposals.append((proposal, name))
                for node in solvable(snapped(proposal, self.problem)):
                    self.problem.check()
                    if found and size(node) >= size(found[-1][0]):
                        break
                    if node in tried or not self.rule.allows(node):
                        continue
                    tried.add(node)
                    self.remember(node, name)
                    if certificate := certify(node, self.problem, self.names):
                        found.append((node, certificate))
                        break
                if found and not stage.thorough:
                    break
            if found:
                self.accept(*found[-1], name)  # each is smaller than the one before
                return
            self.report(f"{name}: no exact law")

    def explained(self) -> bool:
        """Tell whether the stages so far have a law that leaves noise alone: then functions are not tried."""
        if self.problem.noise == 0 or self.asked:
            return False
        self.asked = True
        self.find_under_noise()
        if self.certified is not None:
            _, certificate, _ = self.certified
            if certificate and (self.problem.noise or certificate.error > QUIET):
                return True
        self.certified = None
        return False

    def report(self, message: str) -> None:
        """Pass the progress of the search to ``watch``, if there is one."""
        if self.watch is not None:
            near = min((error for error, _ in self.met.values()), default=np.inf)
            seconds = time.monotonic() - self.began
            counted = f"{len(self.met):,} laws met, the nearest leaves {near:.2g}"
            self.watch(f"{message}; {counted}; {seconds:.1f} s")

    def proposed(self, stage: Stage) -> Iterator[Node]:
        """Yield the candidates of a stage; with units only those of the right dimension, each structure once."""
        if not self.problem.columns and not stage.constants:
            return
        if self.problem.dimensions is None:
            yield from solvable(stage.propose(self.problem))
            return
        for proposal in solvable(stage.propose(self.problem)):
            if (node := self.rule.trim(proposal)) is not None:
                skeleton = self.rule.skeleton(node)
                if skeleton not in self.seen:
                    self.seen.add(skeleton)
                    yield self.rule.refit(node)

    def find_under_noise(self) -> None:
        """Refit and simplify the best candidates; test the shortest description, if noise is admitted."""
        for proposal, stage in self.shortlist():
            node: Node | None = proposal
            with contextlib.suppress(*UNSOLVABLE):
                node = self.rule.trim(simplified(proposal, self.problem))
            self.remember(proposal if node is None else self.rule.refit(node, is_nice), stage)
        if not self.met:
            return
        node = min(self.met, key=self.score)
        stage = self.met[node][1]
        for exact in solvable(snapped(node, self.problem)):
            if self.rule.allows(exact) and (certificate := certify(exact, self.problem, self.names)):
                self.accept(exact, certificate, stage)
                return
        if self.problem.noise == 0:
            self.accept(node, certify(node, self.problem, self.names), stage)
            return
        with contextlib.suppress(*UNSOLVABLE):
            node = self.rule.trim(tidied(whole(shortened(node, self.problem)))) or node
        self.accept(node, certify_noisy(node, self.problem, self.names), stage)

    def accept(self, node: Node, certificate: Certificate, stage: str) -> None:
        """Choose a law, in the shortest way to write it that is certified as well."""
        if certificate.verdict == Verdict.EXACT:
            for other in rewritten(node):
                if (
                    size(other) < size(node)
                    and self.rule.allows(other)
                    and (again := certify(other, self.problem, self.names))
                ):
                    node, certificate = other, again
        self.remember(node, stage)
        self.certified = node, certificate, stage
        self.report(f"{stage}: {Law(node, self.names)} is {certificate.verdict}")

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

    def discovery(self, began: float) -> Discovery:
        """Return the certified law, or the best law that was met, with the other candidates."""
        if self.certified is None:
            self.remember_proposals()
            constant = Sum((), (), float(np.mean(self.problem.y)))
            if self.rule.allows(constant) or not self.met:
                self.remember(constant, "constant")
            node = min(self.met, key=lambda n: self.score(n))
            certificate = certify(node, self.problem, self.names)
            if self.problem.dimensions is not None and not self.rule.allows(node):
                reason = f"no law of the dimension {described(self.problem.dimensions[1])} was found, and "
                certificate = replace(certificate, verdict=Verdict.NONE, tested=reason + certificate.tested)
            self.certified = node, certificate, self.met[node][1]
        node, certificate, stage = self.certified
        ranked = sorted(self.met, key=lambda n: (n != node, self.score(n)))[:20]
        candidates = [Candidate(Law(n, self.names), *self.met[n]) for n in ranked]
        return Discovery(Law(node, self.names), certificate, candidates, stage, time.monotonic() - began)

    def score(self, node: Node) -> float:
        """Return the description length of a law that was met."""
        error = self.met[node][0]
        return length(node, error**2, len(self.problem.y)) if np.isfinite(error) else np.inf
