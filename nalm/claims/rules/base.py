"""The interface of rules: the runs that a rule sees, what it returns, and comparisons that several rules share."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from nalm.claims.lengths import Row
from nalm.config import Case, Claim
from nalm.experiments.published import AND
from nalm.results.runs import Outcome
from nalm.stats import Interval


@dataclass(frozen=True)
class NamedRuns:
    """Our runs as rules see them: (name of the case, training range, run), and sequences by length.

    ``sequences`` holds the measurements by length of sequence cases; the key is the hash of the published case.
    """

    named: Sequence[tuple[str, str, Outcome]]
    sequences: Mapping[str, Row] = field(default_factory=dict)

    @classmethod
    def of_cases(
        cls,
        outcomes: Sequence[Outcome],
        names: Mapping[Case, str],
        sequences: Mapping[str, Row] | None = None,
    ) -> "NamedRuns":
        """Attach to every run the name of its case."""
        known: dict[int, tuple[str, str]] = {}  # by identity: runs of one case mostly share its object
        for o in outcomes:
            if id(o.case) not in known:
                known[id(o.case)] = names[o.case], str(o.case.train)
        return cls([(*known[id(o.case)], o) for o in outcomes], sequences or {})

    def about(self, claim: Claim) -> "NamedRuns":
        """Select the runs that a claim can be about.

        Of a tied claim these are the runs of its cases, named as the claim names them. Otherwise these are the
        runs with the claim's operation and number of inputs.
        """
        if claim.cases:
            tied = [o for *_, o in self.named if o.case.hash in claim.cases]
            return NamedRuns([(claim.unit, claim.where, o) for o in tied], self.sequences)
        inputs = re.search(r"(\d+) inputs", claim.task)
        kept = [
            run
            for run in self.named
            if (inputs is None or run[2].case.inputs == int(inputs.group(1)))
            and (not claim.operation or run[2].case.operation == claim.operation)
        ]
        return NamedRuns(kept, self.sequences)

    def of(self, name: str, where: str = "") -> list[Outcome]:
        """Return the runs of the cases of that name.

        ``where`` limits them to a training range, or to several that are joined by " + ".
        """
        wanted = None if not where or where == "9 ranges" else where.split(AND)
        return [
            o for called, train, o in self.named if called == name and (wanted is None or train in wanted)
        ]

    def rates(self, name: str) -> dict[str, float]:
        """Compute success rates by training range."""
        groups: dict[str, list[bool]] = {}
        for called, train, o in self.named:
            if called == name:
                groups.setdefault(train, []).append(o.solved)
        return {where: sum(solved) / len(solved) for where, solved in groups.items()}


Judgement = tuple[Interval | None, str, str]  # our number, the verdict, and the reason
Rule = Callable[[Claim, NamedRuns], Judgement]
NOTHING: Judgement = (None, "not comparable", "no runs of ours")


def word(holds: bool) -> str:
    """Return the verdict of a comparison."""
    return "agrees" if holds else "differs"


def near(claim: Claim, ours: Interval, slack: float = 0.0) -> bool:
    """Check whether the published number or ours lies within the interval of the other."""
    low = claim.value if claim.low is None else claim.low
    high = claim.value if claim.high is None else claim.high
    inside = ours.low - slack <= claim.value <= ours.high + slack
    return inside or low - slack <= ours.estimate <= high + slack
