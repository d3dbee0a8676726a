"""From a table of numbers to the law behind it: stage after stage until one law is certified."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import time

import numpy as np

from nalm.discover.additive import additive
from nalm.discover.certificate import Certificate, certify
from nalm.discover.expression import Node, evaluate, size
from nalm.discover.law import Law, checked_names
from nalm.discover.power import power
from nalm.discover.powersum import powersum
from nalm.discover.problem import Problem, TimeUpError, pose
from nalm.discover.product import product
from nalm.discover.ratio import ratio
from nalm.discover.scratchpad import deep_scratchpad, scratchpad
from nalm.discover.snap import snapped
from nalm.errors import unknown

Stage = Callable[[Problem], Iterator[Node]]

LADDER: dict[str, Stage] = {
    "additive": additive,
    "power": power,
    "ratio": ratio,
    "product": product,
    "powersum": powersum,
    "scratchpad": scratchpad,
    "deep": deep_scratchpad,
}
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
        except TimeUpError:
            pass
        return climb.discovery(began)


def _chosen(stages: Sequence[str] | None) -> dict[str, Stage]:
    names = list(LADDER) if stages is None else list(stages)
    for name in names:
        if name not in LADDER:
            raise unknown("stage", name, LADDER)
    return {name: LADDER[name] for name in names}


class _Climb:
    """One way up the ladder, and what was met on it."""

    def __init__(self, problem: Problem, names: tuple[str, ...], stages: dict[str, Stage]):
        self.problem, self.names, self.stages = problem, names, stages
        self.met: dict[Node, tuple[float, str]] = {}
        self.certified: tuple[Node, Certificate, str] | None = None

    def exact(self) -> None:
        """Climb until a stage has a law that holds to rounding."""
        for name, stage in self.stages.items():
            found: list[tuple[Node, Certificate]] = []
            for draft in stage(self.problem):
                for node in snapped(draft, self.problem):
                    self.problem.check()
                    if node in self.met or (found and size(node) >= size(found[-1][0])):
                        continue
                    self.remember(node, name)
                    if certificate := certify(node, self.problem, list(self.names)):
                        found.append((node, certificate))
                        break
                if found and name not in THOROUGH:
                    break
            if found:
                self.certified = *found[-1], name  # each smaller than the one before
                return

    def remember(self, node: Node, stage: str) -> None:
        if node not in self.met:
            with np.errstate(all="ignore"):
                r = self.problem.y - evaluate(node, self.problem.x)
                error = float(np.sqrt(np.mean(r**2)) / (np.std(self.problem.y) or 1.0))
            self.met[node] = (error if np.isfinite(error) else np.inf), stage

    def discovery(self, began: float) -> Discovery:
        """The certified law, or the best of what was met."""
        if self.certified is None:
            from nalm.discover.expression import Sum

            self.remember(Sum((), (), float(np.mean(self.problem.y))), "constant")
            node = min(self.met, key=lambda n: self.score(n))
            self.certified = node, certify(node, self.problem, list(self.names)), self.met[node][1]
        node, certificate, stage = self.certified
        ranked = sorted(self.met, key=lambda n: (n != node, self.score(n)))[:20]
        candidates = [Candidate(Law(n, self.names), *self.met[n]) for n in ranked]
        return Discovery(Law(node, self.names), certificate, candidates, stage, time.monotonic() - began)

    def score(self, node: Node) -> float:
        """Description length: the misfit in numbers, and the numbers and symbols it takes."""
        n = len(self.problem.y)
        return n * np.log(self.met[node][0] ** 2 + 1e-26) + np.log(n) * size(node)
