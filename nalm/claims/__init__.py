"""Published numbers beside ours: whether they agree."""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

from nalm.claims.rules import formulas as formula_rules
from nalm.claims.rules import images as image_rules
from nalm.claims.rules import rates as rules
from nalm.claims.rules import spreads as spread_rules
from nalm.claims.rules.rates import Runs as Runs
from nalm.config import Case, Claim, Experiment
from nalm.config.labels import labels
from nalm.config.labels import unit_of as unit_of
from nalm.experiments.published import AND as AND
from nalm.experiments.published import claims as claims
from nalm.results.runs import Outcome
from nalm.stats import Interval

RULES = rules.RULES | formula_rules.RULES | spread_rules.RULES | image_rules.RULES


@dataclass(frozen=True)
class Verdict:
    """A claim beside our number: agrees, differs, or not comparable, and why."""

    claim: Claim
    ours: Interval | None
    verdict: str
    why: str

    @property
    def compared(self) -> bool:
        """Whether ours says anything about theirs; a number of ours may be there and not."""
        return self.verdict != "not comparable"


def judge(claim: Claim, runs: Runs | Sequence[Outcome]) -> Verdict:
    """Put our runs beside a published number.

    They agree when one lies within the other's interval. Rates that were published without an interval are
    taken as shares of 25 runs.
    """
    rule = RULES.get(claim.metric)
    if rule is None:
        return Verdict(claim, None, "not comparable", f"no rule for {claim.metric}")
    if not isinstance(runs, Runs):
        runs = Runs.of_cases(runs, labels(o.case for o in runs))
    ours, verdict, why = rule(claim, runs.about(claim))
    return Verdict(claim, ours, verdict, why)


def of_published(experiment: Experiment, outcomes: Sequence[Outcome]) -> list[Outcome]:
    """The runs of an experiment's own cases: not those of other lengths, seeds aside, or of somebody's own unit.

    Of networks that read images the longest training is taken, however short, as a run of the published case: its
    number of steps says how far it came, and a verdict says so too.
    """
    hashes = {case.hash for case in experiment.cases}
    images = {case.trunk: case for case in experiment.cases if case.task.extends}
    longest: dict[tuple[Case, int], Outcome] = {}
    for o in outcomes:
        case = images.get(o.case.trunk) if o.case.task.extends else None
        if case and ((case, o.seed) not in longest or o.steps > longest[case, o.seed].steps):
            longest[case, o.seed] = dataclasses.replace(o, case=case)
    return [o for o in outcomes if o.case.hash in hashes and not o.case.task.extends] + list(longest.values())


def verdicts(experiment: Experiment, outcomes: Sequence[Outcome]) -> list[Verdict]:
    """Every claim of a published experiment beside the runs of its own cases."""
    runs = Runs.of_cases(of_published(experiment, outcomes), labels(experiment.cases))
    return [judge(claim, runs) for claim in experiment.claims]
