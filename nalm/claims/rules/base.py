"""The interface of rules: the runs that a rule sees, and the judgement that it returns.

A rule returns ``tested`` with a ``Comparison`` of ``nalm.stats`` where either side has a sampling error, ``settled``
where neither has, ``undecided`` where the runs are too short or too few for a test, and ``NOTHING`` without runs.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from nalm.claims.lengths import Curves, Row
from nalm.claims.rules.counted_runs import CountedRuns
from nalm.config import Case, Claim
from nalm.experiments.published import AND
from nalm.results.runs import Outcome
from nalm.results.tally import Tally
from nalm.stats import LEVEL, Comparison, Interval


@dataclass(frozen=True)
class NamedRuns:
    """Our runs as rules see them: (name of the case, training range, run), and sequences by length.

    ``sequences`` holds the measurements by length of sequence cases; the key is the hash of the published case.
    ``curves`` are there for the metrics that need them. ``tallies``, by the hash of a case, count more seeds of it than
    there are runs.
    """

    named: Sequence[tuple[str, str, Outcome]]
    sequences: Mapping[str, Row] = field(default_factory=dict)
    curves: Curves = field(default_factory=dict)
    tallies: Mapping[str, Tally] = field(default_factory=dict)

    @classmethod
    def of_cases(
        cls,
        outcomes: Sequence[Outcome],
        names: Mapping[Case, str],
        sequences: Mapping[str, Row] | None = None,
        curves: Curves | None = None,
    ) -> "NamedRuns":
        """Attach to every run the name of its case."""
        known: dict[int, tuple[str, str]] = {}  # by identity: runs of one case mostly share its object
        for o in outcomes:
            if id(o.case) not in known:
                known[id(o.case)] = names[o.case], str(o.case.train)
        return cls([(*known[id(o.case)], o) for o in outcomes], sequences or {}, curves or {})

    def about(self, claim: Claim) -> "NamedRuns":
        """Select the runs that a claim can be about.

        Of a tied claim these are the runs of its cases, named as the claim names them. Otherwise these are the
        runs with the claim's operation and number of inputs.
        """
        if claim.cases:
            tied = [o for *_, o in self.named if o.case.hash in claim.cases]
            return replace(self, named=[(claim.unit, claim.where, o) for o in tied])
        inputs = re.search(r"(\d+) inputs", claim.task)
        kept = [
            run
            for run in self.named
            if (inputs is None or run[2].case.inputs == int(inputs.group(1)))
            and (not claim.operation or run[2].case.operation == claim.operation)
        ]
        return replace(self, named=kept)

    def of(self, name: str, where: str = "") -> list[Outcome]:
        """Return the runs of the cases of that name.

        ``where`` limits them to a training range, or to several that are joined by " + ".
        """
        wanted = None if not where or where == "9 ranges" else where.split(AND)
        return [
            o for called, train, o in self.named if called == name and (wanted is None or train in wanted)
        ]

    def counted(self, name: str, where: str = "") -> CountedRuns:
        """Return the same runs, of each case with the most seeds there are."""
        rows = self.of(name, where)
        hashes = dict.fromkeys(o.case.hash for o in rows)
        return CountedRuns(rows, [self.tallies[h] for h in hashes if h in self.tallies])

    def solved(self, name: str) -> dict[str, dict[int, bool]]:
        """Return by training range which seeds are solved."""
        groups: dict[str, dict[int, bool]] = {}
        for called, train, o in self.named:
            if called == name:
                groups.setdefault(train, {})[o.seed] = o.solved
        return groups


@dataclass(frozen=True)
class Judgement:
    """The result of a rule: our number, a word, the reason, and the test that it rests on.

    The word is one of ``AGREES``, ``DIFFERS`` and ``CANNOT_TELL``, or ``NOT_RUN`` or ``NO_RULE``, where nothing
    was compared. A judgement without a test is exact, or is no comparison.
    """

    ours: Interval | None
    verdict: str
    why: str
    test: Comparison | None = None


Rule = Callable[[Claim, NamedRuns], Judgement]
AGREES, DIFFERS, CANNOT_TELL = WORDS = ("agrees", "differs", "cannot tell")
NOT_RUN, NO_RULE = "not run", "no rule"
ORDER = (DIFFERS, AGREES, CANNOT_TELL, NOT_RUN, NO_RULE)  # of verdicts in a table
NOTHING = Judgement(None, NOT_RUN, "no runs of ours")


def tested(ours: Interval, test: Comparison, why: str) -> Judgement:
    """Judge by a test; ``verdicts`` later corrects its p for the study's other tests and updates the word."""
    return Judgement(ours, word(test, test.p), why, test)


def settled(ours: Interval, holds: bool, why: str) -> Judgement:
    """Judge a number that has no sampling error, such as a threshold: it is equal, or it differs."""
    return Judgement(ours, AGREES if holds else DIFFERS, why)


def undecided(ours: Interval | None, why: str) -> Judgement:
    """Return that nothing can be told, for a reason that no test has: training too short, ranges not run."""
    return Judgement(ours, CANNOT_TELL, why)


def word(test: Comparison, p: float) -> str:
    """Return the word for a test whose p is this, corrected or not."""
    return DIFFERS if p < LEVEL else AGREES if test.close else CANNOT_TELL


RUNS = re.compile(r"\b(\d+) (?:seeds|folds|runs)\b|\bof (?:best )?(\d+)\b|sqrt\((\d+)\)")


def published_runs(claim: Claim) -> int | None:
    """Return the number of runs behind a published number: its own, or that of its setting or note.

    >>> published_runs(Claim("Heim 2020", "test_mse", 0.1, note="median +- MAD of best 10 runs"))
    10
    """
    found = RUNS.search(claim.where) or RUNS.search(claim.note)
    stated = next(int(number) for number in found.groups() if number) if found else None
    return claim.n or stated
