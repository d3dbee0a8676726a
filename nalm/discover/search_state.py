"""The state of one search: the stages tried so far, the candidates that they met, the law that is certified."""

import contextlib
import time
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from nalm.discover.ahead import Ahead
from nalm.discover.certificate import Certificate, certify, certify_noisy
from nalm.discover.certificate.smoothness import mostly_noise
from nalm.discover.certificate.verdict import Verdict
from nalm.discover.discovery import Candidate, Discovery
from nalm.discover.fit.description_length import is_nice, shortened, simplified
from nalm.discover.fit.least_squares import UNSOLVABLE, solvable
from nalm.discover.fit.snap import snapped, whole
from nalm.discover.law import Law
from nalm.discover.law.expression import Node, numbers, roles, size
from nalm.discover.law.rewrite import rewritten
from nalm.discover.law.tidy import tidied
from nalm.discover.met import Chosen, Met
from nalm.discover.problem import Problem, TimeUpError
from nalm.discover.selection.answer import Listed
from nalm.discover.selection.outliers import suspicious_rows
from nalm.discover.selection.rows import without
from nalm.discover.stages import Stage

Watch = Callable[[str], None]

FEW = 1  # fitted numbers of a law that makes the search for functions needless
ALONE = 0.3  # seconds of a search in one process; after them a longer one gets more
SHARE = 0.6  # of the time that is left, for a search without rows that look far off
QUIET = 1e-3  # share of the spread of y: if noise is not declared, so little may be a law with functions


class Search(Met):
    """State of one search: candidates tried so far and the certified law, if any."""

    def __init__(
        self,
        problem: Problem,
        names: tuple[str, ...],
        stages: dict[str, Stage],
        watch: Watch | None = None,
        jobs: int = 1,
    ):
        super().__init__(problem)
        self.names, self.stages, self.watch, self.jobs = names, stages, watch, jobs
        self.ahead: Ahead | None = None  # the processes that try later stages
        problem.tell = self.report
        self.began = problem.clock()
        self.seen: set[Node] = set()  # with units: structures of the candidates, without their numbers
        self.certified: tuple[Node, Certificate, str] | None = None
        self.asked = False  # whether a law without functions explains the data under noise
        self.suspected = False  # whether rows that are far off were looked for
        self.most_rows: Node | None = None  # the law that was certified without such rows

    def explore(self) -> None:
        """Try the stages until a law is certified or time is over; what overflows is never certified."""
        with contextlib.closing(self), np.errstate(all="ignore"), contextlib.suppress(TimeUpError):
            self.find_exact()
            if self.certified is None and self.most_rows is None:
                self.find_under_noise()
            if not self.done and self.most_rows is None and not self.noisy:
                with contextlib.suppress(KeyboardInterrupt):  # the best law so far is kept
                    self.find_exact(patient=True)

    def close(self) -> None:
        """End the processes that try later stages."""
        if self.ahead is not None:
            self.ahead.close()
            self.ahead = None

    @property
    def done(self) -> bool:
        """True if a law is certified."""
        return self.certified is not None and bool(self.certified[1])

    @property
    def noisy(self) -> bool:
        """True if noise is admitted and is most of what the best law leaves: then no exact law is behind it."""
        best = None if self.problem.noise == 0 or self.certified is None else self.certified[0]
        return best is not None and mostly_noise(best, self.problem)

    def find_exact(self, patient: bool = False) -> None:
        """Try stage after stage, the patient ones or the others, until one has a law that holds to rounding."""
        tried: set[Node] = set()
        for name, stage in self.stages.items():
            if stage.patient != patient:
                continue
            if stage.functions and self.problem.constraints.without_function_stages():
                continue
            if stage.functions and self.explained():
                return
            found: list[tuple[Node, Certificate]] = []
            for proposal in self.proposed(name):
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
            if self.problem.clock() - self.began > ALONE and self.found_on_most_rows():
                return

    def explained(self) -> bool:
        """Return whether the stages so far have a law that leaves only noise: then functions are not tried.

        A law with several fitted numbers can imitate one with functions, so it does not count.
        """
        if self.problem.noise == 0 or self.asked:
            return False
        self.asked = True
        self.find_under_noise()
        if self.certified is not None:
            node, certificate, _ = self.certified
            free = sum(not is_nice(v, role) for v, role in zip(numbers(node), roles(node), strict=True))
            loud = self.problem.noise or certificate.error > QUIET
            if certificate and loud and free <= FEW:
                return True
        self.certified = None
        return False

    def found_on_most_rows(self) -> bool:
        """Search again without rows that look far off; return whether a law is certified.

        Such rows mislead most stages. Laws are judged on all rows; the certificate names those far off.
        """
        if self.suspected or self.problem.noise == 0:
            return False
        self.suspected = True
        far = np.flatnonzero(suspicious_rows(self.problem))
        if not len(far):
            return False
        self.report(f"{len(far)} rows look far off: searching without them")
        now, end = self.problem.clock(), self.problem.deadline
        problem = replace(without(self.problem, far), deadline=now + SHARE * (end - now))
        fewer = Search(problem, self.names, self.stages, self.watch, self.jobs)
        fewer.suspected = True
        fewer.explore()
        self.problem.tell = self.report
        self.proposals += fewer.proposals
        for node, (_, stage) in fewer.met.items():
            self.remember(node, stage)
        chosen = fewer.certified
        if chosen is None or not chosen[1]:
            chosen, _ = fewer.answer()
        node, found, stage = chosen
        if not found:
            return False
        if certificate := certify(node, self.problem, self.names):
            self.accept(node, certificate, stage)
        else:
            self.most_rows = node
        return True

    def report(self, message: str) -> None:
        """Pass the progress of the search to ``watch``, if there is one."""
        if self.watch is not None:
            seconds = self.problem.clock() - self.began
            self.watch(
                f"{message}; {len(self.met):,} laws met, {self.nearest(self.certified, self.names)}; {seconds:.1f} s"
            )

    def candidates(self, name: str) -> Iterator[Node]:
        """Return the candidates of a stage, from a process that has tried it ahead if there is one."""
        if self.ahead is None and self.jobs > 1 and self.problem.clock() - self.began > ALONE:
            later = list(self.stages)[list(self.stages).index(name) + 1 :]
            self.ahead = Ahead(self.problem, later, self.jobs - 1)
        propose = self.stages[name].propose
        return solvable(propose(self.problem) if self.ahead is None else self.ahead.proposals(name))

    def proposed(self, name: str) -> Iterator[Node]:
        """Yield the candidates of a stage; with units only those of the right dimension, each structure once."""
        if not self.problem.columns and not self.stages[name].constants:
            return
        if self.problem.dimensions is None:
            yield from map(self.problem.constraints.shaped, self.candidates(name))
            return
        for proposal in self.candidates(name):
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
        if not self.problem.constraints.allows(node):
            return
        for exact in solvable(snapped(node, self.problem)):
            if self.rule.allows(exact) and (certificate := certify(exact, self.problem, self.names)):
                self.accept(exact, certificate, stage)
                return
        if self.problem.noise == 0:
            self.accept(node, certify(node, self.problem, self.names), stage)
            return
        with contextlib.suppress(*UNSOLVABLE):
            short = self.rule.trim(tidied(whole(shortened(node, self.problem))))
            node = short if short is not None and self.problem.constraints.allows(short) else node
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

    def answer(self) -> tuple[Chosen, list[Listed]]:
        """Return the certified law, or the best law that was met, and the front of laws."""
        chosen = self.uncertified(self.certified, self.names)
        if chosen[1].verdict == Verdict.EXACT or self.problem.noise == 0:
            return chosen, self.front(chosen[0])
        return self.by_evidence(chosen, self.names, self.began, self.most_rows)

    def discovery(self, began: float) -> Discovery:
        """Return the answer as what users see."""
        (node, certificate, stage), front = self.answer()
        candidates = [Candidate.of(listed, self.names) for listed in front]
        return Discovery(Law(node, self.names), certificate, candidates, stage, time.monotonic() - began)
