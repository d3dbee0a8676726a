"""Published numbers beside ours: ``verdicts`` compares the claims of an experiment with our runs.

``rules`` holds one rule per kind of number, ``computed`` the numbers that need no training; ``lengths`` measures
networks on sequences; ``compositions`` makes the tables of Mistry 2023, chapter 7; ``ties`` and ``coverage`` show what
of the papers is compared. May import experiments, results, config, formulas, tasks, units and landscapes.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from nalm import stats
from nalm.claims.lengths import Curves, longest
from nalm.claims.rules import RULES
from nalm.claims.rules.base import AGREES, CANNOT_TELL, DIFFERS, NO_RULE, NOT_RUN, NamedRuns, word
from nalm.config import Case, Claim, Experiment
from nalm.config.labels import labels
from nalm.experiments.names import names
from nalm.results.runs import Outcome
from nalm.results.tally import Tally
from nalm.stats import LEVEL, Comparison, Interval


@dataclass(frozen=True)
class ClaimVerdict:
    """A claim and our number: agrees, differs or cannot tell, or the reason why they were not compared.

    ``test`` is the test behind the word, if it rests on one; ``corrected`` its p after Holm's correction for all tests
    of the study.
    """

    claim: Claim
    ours: Interval | None
    verdict: str
    why: str
    test: Comparison | None = None
    corrected: float | None = None

    @property
    def compared(self) -> bool:
        """True if the two numbers were compared and were found to agree or to differ."""
        return self.verdict in (AGREES, DIFFERS)

    @property
    def p(self) -> float | None:
        """The p of the test, before correction."""
        return None if self.test is None else self.test.p

    @property
    def needed(self) -> int | None:
        """How many runs of ours would tell, where that cannot be told and some number would."""
        return self.test.needed if self.test and self.verdict == CANNOT_TELL else None

    @property
    def reason(self) -> str:
        """The reason of the verdict in full: what was compared, and what is missing where nothing can be told."""
        if self.test is None or self.verdict != CANNOT_TELL:
            return self.why
        if self.test.p < LEVEL:
            more = f"p = {self.test.p:.2g} is no difference among the tests of this study"
        elif self.needed:
            more = f"{self.needed:,} runs of ours would find a difference of {self.test.stated}"
        else:
            more = f"too few published runs to find a difference of {self.test.stated}"
        return f"{self.why}; {more}"


def judge(claim: Claim, runs: NamedRuns | Sequence[Outcome]) -> ClaimVerdict:
    """Compare a published number with our runs, alone: its p is not corrected for other tests.

    They differ if the test of the claim's rule has a p below 0.05. They agree if a difference of the stated size is
    excluded. Otherwise nothing can be told. A rate that was published without a number of runs is taken as the share
    of 25. Cases of runs that are given without names are named among themselves.
    """
    rule = RULES.get(claim.metric)
    if rule is None:
        return ClaimVerdict(claim, None, NO_RULE, f"no rule for {claim.metric}")
    if not isinstance(runs, NamedRuns):
        runs = NamedRuns.of_cases(runs, labels(o.case for o in runs))
    found = rule(claim, runs.about(claim))
    return ClaimVerdict(claim, found.ours, found.verdict, found.why, found.test)


def corrected(found: Sequence[ClaimVerdict]) -> list[ClaimVerdict]:
    """Correct the p values of a study's tests by Holm's method, and update the verdicts."""
    tests = [v.test for v in found if v.test is not None]
    p_values = iter(stats.holm([test.p for test in tests]))
    return [v if v.test is None else _reworded(v, v.test, next(p_values)) for v in found]


def _reworded(v: ClaimVerdict, test: Comparison, p: float) -> ClaimVerdict:
    return replace(v, verdict=word(test, p), corrected=p)


def of_published(experiment: Experiment, outcomes: Sequence[Outcome]) -> list[Outcome]:
    """Keep the runs whose case belongs to the published experiment; seeds are not checked.

    Runs of another number of steps and of user-defined units are left out. Networks that read images are an
    exception: of each, the longest training counts as a run of the published case, however short it is; the
    verdict states how short.
    """
    hashes = {case.hash for case in experiment.cases}
    images = {case.trunk: case for case in experiment.cases if case.task.extends}
    longest: dict[tuple[Case, int], Outcome] = {}
    for o in outcomes:
        case = images.get(o.case.trunk) if o.case.task.extends else None
        if case and ((case, o.seed) not in longest or o.steps > longest[case, o.seed].steps):
            longest[case, o.seed] = replace(o, case=case)
    return [o for o in outcomes if o.case.hash in hashes and not o.case.task.extends] + list(longest.values())


def verdicts(
    experiment: Experiment, runs: Sequence[Outcome], curves: Curves, tallies: Iterable[Tally] = ()
) -> list[ClaimVerdict]:
    """Compare every claim of a published experiment with the runs of its cases, with Holm's correction.

    ``curves`` are needed for networks on sequences, which are judged by length, and for ``rules.CURVES``; others may be
    missing. Rates, steps and sparsity errors of a case are taken from its tally where that counts more runs.
    """
    rows = longest(runs, curves)
    measured = {case.hash: rows[case.trunk] for case in experiment.cases if rows and case.trunk in rows}
    named = names(experiment.name, experiment.cases).labels
    published = of_published(experiment, runs)
    have = Counter(o.case.hash for o in published)
    more = {t.case.hash: t for t in tallies if t.runs > have[t.case.hash]}
    ours = replace(NamedRuns.of_cases(published, named, measured, curves), tallies=more)
    found = corrected([judge(claim, ours) for claim in experiment.claims])
    return [
        replace(v, why=f"{v.why}: nalm run {experiment.name}") if v.verdict == NOT_RUN else v for v in found
    ]
