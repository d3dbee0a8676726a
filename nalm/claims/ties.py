"""Every published number and what of ours it is tied to: runs of an experiment, a computation, or a reason why not."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from nalm.claims.computed import COMPUTED
from nalm.config import Claim, Experiment
from nalm.experiments import EXPERIMENTS
from nalm.experiments.published import numbers, papers, reasons

KINDS = ("case", "aggregate", "computed", "reason", "nothing")


@dataclass(frozen=True)
class Tie:
    """One row of the files of published numbers.

    ``kind``: it is compared with the runs of one or more cases (case), with them as one of several numbers that are
    summed up (aggregate), with what the library computes without training (computed), or not for a stated reason
    (reason); nothing is a row that somebody forgot.
    """

    row: str
    paper: str
    claim: Claim
    kind: str
    experiments: tuple[str, ...] = ()  # that compare it
    reason: str = ""


def ties(experiments: Mapping[str, Experiment] = EXPERIMENTS) -> list[Tie]:
    """Return every row of every paper with its tie, in the order of the files."""
    uses = _uses(experiments.values())
    found = []
    for paper in papers():
        for claim in numbers(paper):
            (row,) = claim.rows
            used, reason = uses.get(row, []), reasons()[row]
            if used:
                kind = "case" if any(row in c.rows for _, c in used) else "aggregate"
            else:
                kind = "computed" if claim.task in COMPUTED else "reason" if reason else "nothing"
            names = tuple(dict.fromkeys(name for name, _ in used))
            found.append(Tie(row, paper, claim, kind, names, reason))
    return found


def _uses(experiments: Iterable[Experiment]) -> dict[str, list[tuple[str, Claim]]]:
    """Return the experiments, and their claims, that each row is used in."""
    found: dict[str, list[tuple[str, Claim]]] = {}
    for experiment in experiments:
        for claim in experiment.claims:
            for row in claim.rows + claim.points:
                found.setdefault(row, []).append((experiment.name, claim))
    return found


def counted(found: Iterable[Tie]) -> dict[str, Counter[str]]:
    """Count the kinds of ties by paper."""
    counts: dict[str, Counter[str]] = {}
    for tie in found:
        counts.setdefault(tie.paper, Counter())[tie.kind] += 1
    return counts
