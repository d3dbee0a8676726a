"""From a table of numbers to the law behind it: stage after stage until one law is certified."""

import contextlib
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from nalm.discover.additive import additive
from nalm.discover.certificate import Certificate, certify, certify_noisy
from nalm.discover.expression import Node, Sum, evaluate, numbers, size, tidied
from nalm.discover.factor import rewritten
from nalm.discover.law import Law, checked_names
from nalm.discover.noise import length, pruned, shortened, simplified
from nalm.discover.polynomial import polynomial
from nalm.discover.power import power
from nalm.discover.powersum import powersum
from nalm.discover.problem import Problem, TimeUpError, pose
from nalm.discover.product import product
from nalm.discover.ratio import ratio
from nalm.discover.scratchpad import deep_scratchpad, scratchpad
from nalm.discover.snap import gauged, snapped, whole
from nalm.errors import unknown

Stage = Callable[[Problem], Iterator[Node]]

LADDER: dict[str, Stage] = {
    "additive": additive,
    "power": power,
    "ratio": ratio,
    "product": product,
    "powersum": powersum,
    "polynomial": polynomial,
    "scratchpad": scratchpad,
    "deep": deep_scratchpad,
}
CLEARED, DRAFTS = 60, 6  # how many drafts are refitted, and how many simplified, under noise
THOROUGH = {"scratchpad", "deep"}  # stages whose every draft is looked at, so that the smallest law wins


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


def search(
    x: Any,
    y: Any,
    names: Sequence[str] | None = None,
    *,
    noise: float | None = 0.0,
    seed: int = 0,
    max_time: float | None = None,
    stages: Sequence[str] | None = None,
) -> Discovery:
    """Find the law y = f(x) behind a table x (rows, columns), and say what is proven of it.

    ``noise`` is the standard deviation of the noise on y over that of y: 0 looks for laws that hold to
    rounding, a level for laws consistent with it, None for either. Without a certificate the best
    candidate is returned, with the verdict none. Every random choice follows from the seed.

    >>> x = np.random.default_rng(0).uniform(-2, 2, (100, 3))
    >>> found = search(x, x[:, 0] / x[:, 2])
    >>> print(found.law, found.certificate.verdict)
    a/c exact
    """
    began = time.monotonic()
    problem = pose(x, y, seed=seed, noise=noise, max_time=max_time)
    names = checked_names(names, problem.inputs)
    climb = _Climb(problem, names, _chosen(stages))
    with np.errstate(all="ignore"):  # drafts may overflow; what is not finite is never certified
        try:
            climb.exact()
            if climb.certified is None:
                climb.noisy()
        except TimeUpError:
            pass
        return climb.discovery(began)


def _chosen(stages: Sequence[str] | None) -> dict[str, Stage]:
    names = list(LADDER) if stages is None else list(stages)
    for name in names:
        if name not in LADDER:
            raise unknown("stage", name, LADDER)
    return {name: LADDER[name] for name in names}


UNSOLVABLE = (np.linalg.LinAlgError, ArithmeticError)  # on numbers too large to square, or all alike


def solvable(drafts: Iterator[Node]) -> Iterator[Node]:
    """What a stage proposes, up to where its arithmetic gives up."""
    with contextlib.suppress(*UNSOLVABLE):
        yield from drafts


class _Climb:
    """One way up the ladder, and what was met on it."""

    def __init__(self, problem: Problem, names: tuple[str, ...], stages: dict[str, Stage]):
        self.problem, self.names, self.stages = problem, names, stages
        self.met: dict[Node, tuple[float, str]] = {}
        self.drafts: list[tuple[Node, str]] = []  # with real numbers, by stage, in case no law is exact
        self.certified: tuple[Node, Certificate, str] | None = None

    def exact(self) -> None:
        """Climb until a stage has a law that holds to rounding."""
        tried: set[Node] = set()
        for name, stage in self.stages.items():
            found: list[tuple[Node, Certificate]] = []
            for draft in solvable(stage(self.problem)):
                self.drafts.append((draft, name))
                for node in solvable(snapped(draft, self.problem)):
                    self.problem.check()
                    if found and size(node) >= size(found[-1][0]):
                        break
                    if node in tried:
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

    def noisy(self) -> None:
        """Refit and simplify the best drafts; the shortest description is tested, if noise is admitted."""
        best: list[tuple[float, Node, str]] = []
        for node, stage in self.shortlist():
            with contextlib.suppress(*UNSOLVABLE):
                node = simplified(node, self.problem)
            self.remember(node, stage)
            best.append((self.score(node), node, stage))
        if best:
            _, node, stage = min(best, key=lambda b: b[0])
            node = node if self.problem.noise == 0 else tidied(whole(shortened(node, self.problem)))
            self.remember(node, stage)
            test = certify if self.problem.noise == 0 else certify_noisy
            certificate = test(node, self.problem, self.names)
            self.accept(node, certificate, stage)

    def accept(self, node: Node, certificate: Certificate, stage: str) -> None:
        """Settle on a law, in the shortest way to write it that holds as well."""
        if certificate.verdict == "exact":
            for other in rewritten(node):
                if size(other) < size(node) and (again := certify(other, self.problem, self.names)):
                    node, certificate = other, again
        self.remember(node, stage)
        self.certified = node, certificate, stage

    def shortlist(self) -> list[tuple[Node, str]]:
        """The drafts worth simplifying: refitted, cleared of what is noise, and different from one another."""
        cleared: dict[Node, tuple[float, str]] = {}
        few = CLEARED if self.problem.noise != 0 else DRAFTS // 2
        self.remember_drafts(self.problem.check)
        for draft, stage in sorted(self.drafts, key=lambda d: self.score(d[0]))[:few]:
            with contextlib.suppress(*UNSOLVABLE):
                node = pruned(draft, self.problem)
                self.remember(node, stage)
                cleared.setdefault(node, (self.score(node), stage))
        best = sorted(cleared, key=lambda n: cleared[n][0])[:DRAFTS]
        return [(node, cleared[node][1]) for node in best]

    def remember(self, node: Node, stage: str) -> None:
        """Note a law that was met, with its error on the rows searched."""
        if node not in self.met:
            r = self.problem.y - evaluate(node, self.problem.x)
            error = float(np.sqrt(np.mean(r**2)) / (np.std(self.problem.y) or 1.0))
            self.met[node] = (error if np.isfinite(error) else np.inf), stage

    def remember_drafts(self, check: Callable[[], None] = lambda: None) -> None:
        """Count the drafts among what was met."""
        drafts = [(d, stage) for d, stage in self.drafts if np.isfinite(numbers(d)).all()]
        self.drafts = [(gauged(tidied(draft)), stage) for draft, stage in drafts]
        for draft, stage in self.drafts:
            check()
            self.remember(draft, stage)

    def discovery(self, began: float) -> Discovery:
        """The certified law, or the best of what was met."""
        if self.certified is None:
            self.remember_drafts()
            self.remember(Sum((), (), float(np.mean(self.problem.y))), "constant")
            node = min(self.met, key=lambda n: self.score(n))
            self.certified = node, certify(node, self.problem, self.names), self.met[node][1]
        node, certificate, stage = self.certified
        ranked = sorted(self.met, key=lambda n: (n != node, self.score(n)))[:20]
        candidates = [Candidate(Law(n, self.names), *self.met[n]) for n in ranked]
        return Discovery(Law(node, self.names), certificate, candidates, stage, time.monotonic() - began)

    def score(self, node: Node) -> float:
        """Description length of a law that was met."""
        error = self.met[node][0]
        return length(node, error**2, len(self.problem.y)) if np.isfinite(error) else np.inf
