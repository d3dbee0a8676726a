"""One way up the ladder: stage after stage until a law is certified, then the drafts once more, for noise."""

import contextlib
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from nalm.discover.certificate import Certificate, certify, certify_noisy
from nalm.discover.dimensions.homogeneous import homogeneous, refitted, trimmed
from nalm.discover.dimensions.units import described
from nalm.discover.fit.description_length import is_nice, length, pruned, shortened, simplified
from nalm.discover.fit.snap import gauged, movable, snapped, whole
from nalm.discover.law import Law
from nalm.discover.law.expression import Node, Sum, evaluate, numbers, renumbered, roles, size, tidied
from nalm.discover.law.rewrite import rewritten
from nalm.discover.problem import Problem

Stage = Callable[[Problem], Iterator[Node]]
Watch = Callable[[str], None]

CLEARED, DRAFTS = 60, 6  # how many drafts are refitted, and how many simplified, under noise
THOROUGH = {"scratchpad", "deep"}  # stages whose every draft is looked at, so that the smallest law wins
CONSTANT = {"additive", "power", "powersum"}  # stages with something to say where no column changes


@dataclass(frozen=True)
class Candidate:
    """A law that was considered: its size, its error (rms over the spread of y) and the stage it came from."""

    law: Law
    error: float
    stage: str

    @property
    def size(self) -> int:
        """How many symbols the law takes to write."""
        return self.law.size


@dataclass(frozen=True)
class Discovery:
    """What a search found: the law, what is proven of it, and the other candidates, best first."""

    law: Law
    certificate: Certificate
    candidates: list[Candidate] = field(repr=False)
    stage: str
    seconds: float


UNSOLVABLE = (np.linalg.LinAlgError, ArithmeticError)  # on numbers too large to square, or all alike


def solvable(drafts: Iterator[Node]) -> Iterator[Node]:
    """What a stage proposes, up to where its arithmetic gives up."""
    with contextlib.suppress(*UNSOLVABLE):
        yield from drafts


class Climb:
    """One way up the ladder, and what was met on it."""

    def __init__(
        self,
        problem: Problem,
        names: tuple[str, ...],
        stages: dict[str, Stage],
        watch: Watch | None = None,
    ):
        self.problem, self.names, self.stages, self.watch = problem, names, stages, watch
        self.began = time.monotonic()
        self.met: dict[Node, tuple[float, str]] = {}
        self.seen: set[Node] = set()  # drafts but for their numbers, if units are given
        self.drafts: list[tuple[Node, str]] = []  # with real numbers, by stage, in case no law is exact
        self.certified: tuple[Node, Certificate, str] | None = None

    def exact(self) -> None:
        """Climb until a stage has a law that holds to rounding."""
        tried: set[Node] = set()
        for name, stage in self.stages.items():
            found: list[tuple[Node, Certificate]] = []
            for draft in self.proposed(name, stage):
                self.drafts.append((draft, name))
                for node in solvable(snapped(draft, self.problem)):
                    self.problem.check()
                    if found and size(node) >= size(found[-1][0]):
                        break
                    if node in tried or not self.allowed(node):
                        continue
                    tried.add(node)
                    self.remember(node, name)
                    if certificate := certify(node, self.problem, self.names):
                        found.append((node, certificate))
                        break
                if found and name not in THOROUGH:
                    break
            if found:
                self.accept(*found[-1], name)  # each is smaller than the one before
                return
            self.tell(f"{name}: no exact law")

    def tell(self, words: str) -> None:
        """Say how far the search has come, if anybody listens."""
        if self.watch is not None:
            near = min((error for error, _ in self.met.values()), default=np.inf)
            seconds = time.monotonic() - self.began
            self.watch(f"{words}; {len(self.met):,} laws met, the nearest leaves {near:.2g}; {seconds:.1f} s")

    def proposed(self, name: str, stage: Stage) -> Iterator[Node]:
        """The drafts of a stage; with units brought to the right dimension, each only once."""
        if not self.problem.columns and name not in CONSTANT:
            return
        if self.problem.dimensions is None:
            yield from solvable(stage(self.problem))
            return
        for draft in solvable(stage(self.problem)):
            if (node := self.trimmed(draft)) is not None:
                kept = zip(numbers(node), roles(node), strict=True)
                skeleton = renumbered(node, [v if role == "exponent" else 1.0 for v, role in kept])
                if skeleton not in self.seen:
                    self.seen.add(skeleton)
                    yield self.refitted(node)

    def trimmed(self, node: Node) -> Node | None:
        """The expression brought to the dimension of y, if units are given and that can be done."""
        if self.problem.dimensions is None:
            return node
        if not np.isfinite(numbers(node)).all():
            return None
        found = trimmed(node, *self.problem.dimensions, self.problem.x, self.problem.steady)
        return None if found is None or not self.allowed(found := tidied(found)) else found

    def refitted(self, node: Node, settled: Callable[[float, str], bool] = lambda v, role: False) -> Node:
        """With units: the numbers that are not settled fitted in y, every dimension kept."""
        p = self.problem
        if p.dimensions is not None:
            loose = [not settled(v, role) for v, role in zip(numbers(node), roles(node), strict=True)]
            free = movable(node, p.x) & np.array(loose, bool)
            with contextlib.suppress(*UNSOLVABLE):
                return refitted(node, p.dimensions[0], p.x, p.y, free, p.check)
        return node

    def allowed(self, node: Node) -> bool:
        """Whether an expression has the dimension of y, if units are given."""
        dimensions = self.problem.dimensions
        return dimensions is None or homogeneous(node, dimensions[0]) == dimensions[1]

    def noisy(self) -> None:
        """Refit and simplify the best drafts; the shortest description is tested, if noise is admitted."""
        for draft, stage in self.shortlist():
            node: Node | None = draft
            with contextlib.suppress(*UNSOLVABLE):
                node = self.trimmed(simplified(draft, self.problem))
            self.remember(draft if node is None else self.refitted(node, is_nice), stage)
        if not self.met:
            return
        node = min(self.met, key=self.score)
        stage = self.met[node][1]
        for exact in solvable(snapped(node, self.problem)):
            if self.allowed(exact) and (certificate := certify(exact, self.problem, self.names)):
                self.accept(exact, certificate, stage)
                return
        if self.problem.noise == 0:
            self.accept(node, certify(node, self.problem, self.names), stage)
            return
        with contextlib.suppress(*UNSOLVABLE):
            node = self.trimmed(tidied(whole(shortened(node, self.problem)))) or node
        self.accept(node, certify_noisy(node, self.problem, self.names), stage)

    def accept(self, node: Node, certificate: Certificate, stage: str) -> None:
        """Settle on a law, in the shortest way to write it that holds as well."""
        if certificate.verdict == "exact":
            for other in rewritten(node):
                if (
                    size(other) < size(node)
                    and self.allowed(other)
                    and (again := certify(other, self.problem, self.names))
                ):
                    node, certificate = other, again
        self.remember(node, stage)
        self.certified = node, certificate, stage
        self.tell(f"{stage}: {Law(node, self.names)} is {certificate.verdict}")

    def shortlist(self) -> list[tuple[Node, str]]:
        """The drafts worth simplifying: refitted, cleared of what is noise, and different from one another."""
        cleared: dict[Node, tuple[float, str]] = {}
        few = CLEARED if self.problem.noise != 0 else DRAFTS // 2
        self.remember_drafts(self.problem.check)
        for draft, stage in sorted(self.drafts, key=lambda d: self.score(d[0]))[:few]:
            with contextlib.suppress(*UNSOLVABLE):
                for node in self.cleared(draft):
                    self.remember(node, stage)
                    cleared.setdefault(node, (self.score(node), stage))
        best = sorted(cleared, key=lambda n: cleared[n][0])[:DRAFTS]
        return [(node, cleared[node][1]) for node in best]

    def cleared(self, draft: Node) -> Iterator[Node]:
        """The draft without what is noise; with units, also the draft, whose exponents add up."""
        if self.problem.dimensions is not None:
            yield draft
        node = self.trimmed(pruned(draft, self.problem))
        if node is not None:
            yield self.refitted(node)

    def remember(self, node: Node, stage: str) -> None:
        """Note a law that was met, with its error on the rows searched."""
        if node not in self.met:
            r = self.problem.y - evaluate(node, self.problem.x)
            error = float(np.sqrt(np.mean(r**2)) / (np.std(self.problem.y) or 1.0))
            self.met[node] = (error if np.isfinite(error) else np.inf), stage

    def remember_drafts(self, check: Callable[[], None] = lambda: None) -> None:
        """Count the drafts among what was met."""
        drafts = [(d, stage) for d, stage in self.drafts if np.isfinite(numbers(d)).all()]
        drafts = [(gauged(tidied(draft)), stage) for draft, stage in drafts]
        self.drafts = [(draft, stage) for draft, stage in drafts if self.allowed(draft)]
        for draft, stage in self.drafts:
            check()
            self.remember(draft, stage)

    def discovery(self, began: float) -> Discovery:
        """The certified law, or the best of what was met."""
        if self.certified is None:
            self.remember_drafts()
            constant = Sum((), (), float(np.mean(self.problem.y)))
            if self.allowed(constant) or not self.met:
                self.remember(constant, "constant")
            node = min(self.met, key=lambda n: self.score(n))
            certificate = certify(node, self.problem, self.names)
            if self.problem.dimensions is not None and not self.allowed(node):
                told = f"no law of the dimension {described(self.problem.dimensions[1])} was found, and "
                certificate = replace(certificate, verdict="none", tested=told + certificate.tested)
            self.certified = node, certificate, self.met[node][1]
        node, certificate, stage = self.certified
        ranked = sorted(self.met, key=lambda n: (n != node, self.score(n)))[:20]
        candidates = [Candidate(Law(n, self.names), *self.met[n]) for n in ranked]
        return Discovery(Law(node, self.names), certificate, candidates, stage, time.monotonic() - began)

    def score(self, node: Node) -> float:
        """Description length of a law that was met."""
        error = self.met[node][0]
        return length(node, error**2, len(self.problem.y)) if np.isfinite(error) else np.inf
