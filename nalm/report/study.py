"""One experiment as the report sees it: its runs, their summaries and curves, and what was published."""

import functools
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from nalm.claims import ClaimVerdict, verdicts
from nalm.config import Case
from nalm.config.labels import unit_of
from nalm.errors import NALMError, unknown
from nalm.experiments import EXPERIMENTS, below
from nalm.experiments.names import Names, names
from nalm.results import beside
from nalm.results.runs import Outcome
from nalm.results.source import Curves, Recorded
from nalm.results.summary import Summary, summarise

SEEDS = 1_000, 1  # per case whose curves are shown; the second if there are more than source.MOST runs


@dataclass(frozen=True)
class Study:
    """The content of a page about one experiment."""

    name: str
    title: str
    outcomes: list[Outcome]
    summaries: list[Summary]
    verdicts: list[ClaimVerdict]
    curves: Curves
    about: dict[str, Any]
    missing: int = 0  # runs of the published experiment that are not here
    shorter: int = 0  # of these, networks that read images and are here with fewer epochs
    unfinished: list[str] = field(default_factory=list)  # cases without a single run
    counted: dict[str, Any] = field(default_factory=dict)  # the origin of tallies with more seeds, if any

    @functools.cached_property
    def runs(self) -> dict[str, list[Outcome]]:
        """The runs of each case, by the first letters of its hash."""
        found: dict[str, list[Outcome]] = {}
        for o in self.outcomes:
            found.setdefault(o.case.key, []).append(o)
        return found

    @functools.cached_property
    def names(self) -> Names:
        """The names of the cases, fixed by the experiment."""
        return names(self.name, (s.case for s in self.summaries))

    @functools.cached_property
    def labels(self) -> dict[Case, str]:
        """The name of each case on the page."""
        return self.names.labels

    @functools.cached_property
    def places(self) -> dict[Case, str]:
        """Where on the axis of its figure each case stands."""
        return self.names.places

    def groups(self) -> dict[tuple[str, str], list[Summary]]:
        """Group summaries by operation and number of inputs, unless that is the axis: one figure each."""
        counts = sorted({s.case.inputs for s in self.summaries})
        swept = f"{counts[0]} to {counts[-1]}" if self.names.axis == "inputs" else ""
        found: dict[tuple[str, str], list[Summary]] = {}
        for s in self.summaries:
            found.setdefault((s.case.operation, swept or str(s.case.inputs)), []).append(s)
        return found


def studies(where: Path | str, experiment: str = "", other: Path | str = "") -> list[Study]:
    """Return every experiment of a results folder or of shipped tables, or those at or below a name.

    The cases that an ``other`` folder has of the same experiments are shown beside.
    """
    return [_study(found) for found in beside.read(where, lambda names: wanted(names, experiment), other)]


def study(where: Path | str, name: str, other: Path | str = "") -> Study:
    """Return one experiment of a results folder or of shipped tables, by its full name.

    What an ``other`` folder has of it is shown beside.
    """
    (found,) = beside.read(where, lambda _: [name], other)
    return _study(found)


def wanted(names: Iterable[str], experiment: str) -> list[str]:
    """Select the experiments at or below a name, in the order of the papers."""
    known = list(names)
    found = below(experiment, known)
    if not found and experiment.strip("/"):
        raise unknown("experiment in these results", experiment, known)
    return sorted(
        found, key=lambda name: (list(EXPERIMENTS).index(name) if name in EXPERIMENTS else 10**6, name)
    )


def _study(found: Recorded) -> Study:
    name, outcomes, curves = found.name, found.outcomes, found.curves
    known = EXPERIMENTS.get(name)
    have = {(o.case.hash, o.seed) for o in outcomes}
    begun = {(o.case.trunk, o.seed) for o in outcomes if o.case.task.extends}
    wanted = [(c, s) for c in known.cases for s in known.seeds] if known else []
    missing = [(c, s) for c, s in wanted if (c.hash, s) not in have]
    shorter = sum((c.trunk, s) in begun for c, s in missing if c.task.extends)
    judged = verdicts(known, outcomes, curves, found.tallies) if known else []
    here = {o.case.hash for o in outcomes}  # a page shows runs, so a tally without any is left out
    summaries = summarise(outcomes, [tally for tally in found.tallies if tally.case.hash in here])
    return Study(
        name=name,
        title=found.title,
        outcomes=outcomes,
        summaries=summaries,
        verdicts=judged,
        curves=curves,
        about=found.origin,
        missing=len(missing),
        shorter=shorter,
        unfinished=list(found.empty),
        counted=found.counted,
    )


def best(studies: Iterable[Study]) -> dict[tuple[str, int], dict[str, list[Summary]]]:
    """Group cases by operation and inputs, then by range: the highest success first, then the quickest."""
    found: dict[tuple[str, int], dict[str, list[Summary]]] = {}
    for study in studies:
        for s in study.summaries:
            key = s.case.operation, s.case.inputs
            found.setdefault(key, {}).setdefault(str(s.case.train), []).append(s)
    for ranges in found.values():
        for label, group in ranges.items():
            ranges[label] = sorted(group, key=_rank)
    return found


def _rank(s: Summary) -> tuple[float, float, str]:
    """Return the sort key, best first: by the low end of the share, so that 25 of 25 runs do not beat 999 of 1,000."""
    steps = s.median.estimate
    return (-s.success.low, steps if steps == steps else float("inf"), unit_of(s.case))


def require(studies: list[Study]) -> None:
    """Raise a NALMError if there is no experiment."""
    if not studies:
        raise NALMError("There are no results here to report: run an experiment first, `nalm run quick`.")
