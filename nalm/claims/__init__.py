"""Published numbers beside ours: ``verdicts`` compares the claims of an experiment with our runs.

``rules`` holds one rule per kind of number; ``lengths`` measures networks on sequences; ``compositions`` makes
the tables of Mistry 2023, chapter 7. May import experiments, results, config, formulas and tasks.
"""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

from nalm.claims.lengths import Curves, longest
from nalm.claims.rules import RULES
from nalm.claims.rules.base import NamedRuns
from nalm.config import Case, Claim, Experiment
from nalm.config.labels import labels
from nalm.experiments.names import names
from nalm.results.runs import Outcome
from nalm.stats import Interval


@dataclass(frozen=True)
class ClaimVerdict:
    """A claim and our number: agrees, differs or not comparable, and the reason."""

    claim: Claim
    ours: Interval | None
    verdict: str
    why: str

    @property
    def compared(self) -> bool:
        """True if the two numbers were compared; ours can exist and still not be comparable."""
        return self.verdict != "not comparable"


def judge(claim: Claim, runs: NamedRuns | Sequence[Outcome]) -> ClaimVerdict:
    """Compare a published number with our runs.

    They agree if one lies within the interval of the other. A rate that was published without an interval is
    taken as the share of 25 runs. Cases of runs that are given without names are named among themselves.
    """
    rule = RULES.get(claim.metric)
    if rule is None:
        return ClaimVerdict(claim, None, "not comparable", f"no rule for {claim.metric}")
    if not isinstance(runs, NamedRuns):
        runs = NamedRuns.of_cases(runs, labels(o.case for o in runs))
    return ClaimVerdict(claim, *rule(claim, runs.about(claim)))


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
            longest[case, o.seed] = dataclasses.replace(o, case=case)
    return [o for o in outcomes if o.case.hash in hashes and not o.case.task.extends] + list(longest.values())


def verdicts(experiment: Experiment, runs: Sequence[Outcome], curves: Curves) -> list[ClaimVerdict]:
    """Compare every claim of a published experiment with the runs of its cases.

    ``curves`` are needed for networks on sequences only, which are judged by length; others may be missing.
    """
    rows = longest(runs, curves)
    measured = {case.hash: rows[case.trunk] for case in experiment.cases if rows and case.trunk in rows}
    named = names(experiment.name, experiment.cases).labels
    ours = NamedRuns.of_cases(of_published(experiment, runs), named, measured)
    return [judge(claim, ours) for claim in experiment.claims]
