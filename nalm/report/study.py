"""One experiment as the report sees it: its runs, their summaries and curves, and what was published."""

import functools
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from nalm.claims import Verdict, verdicts
from nalm.config import Case
from nalm.config.labels import unit_of
from nalm.errors import NALMError, unknown
from nalm.experiments import EXPERIMENTS, below
from nalm.experiments.names import Names, names
from nalm.results import files as shipped
from nalm.results import source
from nalm.results.curves import best as finest_of
from nalm.results.curves import points as thinned
from nalm.results.runs import Outcome
from nalm.results.store import Store
from nalm.results.summary import Summary, summarise

MOST = 20_000  # runs of a store whose curves are all read; of more, those of a few seeds of each case
SEEDS = 1_000, 1

Curves = dict[tuple[str, int], dict[str, np.ndarray]]  # by the case's first 12 letters and the seed


@dataclass(frozen=True)
class Study:
    """What a page says about one experiment."""

    name: str
    title: str
    outcomes: list[Outcome]
    summaries: list[Summary]
    verdicts: list[Verdict]
    curves: Curves
    about: dict[str, Any]
    missing: int = 0  # runs of the published experiment that are not here
    shorter: int = 0  # of these, networks that read images and are here with fewer epochs
    unfinished: list[str] = field(default_factory=list)  # cases without a single run

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
        """What each case is called here."""
        return self.names.labels

    @functools.cached_property
    def places(self) -> dict[Case, str]:
        """Where on the axis of its figure each case stands."""
        return self.names.places

    def groups(self) -> dict[tuple[str, str], list[Summary]]:
        """Summaries by operation and number of inputs, unless that is the axis: one figure each."""
        counts = sorted({s.case.inputs for s in self.summaries})
        swept = f"{counts[0]} to {counts[-1]}" if self.names.axis == "inputs" else ""
        found: dict[tuple[str, str], list[Summary]] = {}
        for s in self.summaries:
            found.setdefault((s.case.operation, swept or str(s.case.inputs)), []).append(s)
        return found


def studies(where: Path | str, experiment: str = "") -> list[Study]:
    """Every experiment of a results folder or of shipped tables; or those at or below a name."""
    if source.kind(where) == "store":
        with Store(where) as store:
            found = [_stored(store, name) for name in _wanted(store.experiments(), experiment)]
    else:
        tables = shipped.experiments(Path(where))
        found = [_shipped(name, tables[name]) for name in _wanted(tables, experiment)]
    return found


def _wanted(names: Iterable[str], experiment: str) -> list[str]:
    known = list(names)
    found = below(experiment, known)
    if not found and experiment.strip("/"):
        raise unknown("experiment in these results", experiment, known)
    return sorted(
        found, key=lambda name: (list(EXPERIMENTS).index(name) if name in EXPERIMENTS else 10**6, name)
    )


def _shipped(name: str, path: Path) -> Study:
    about = shipped.about(path)
    return _study(name, about.get("title", ""), shipped.read(path), shipped.curves(path), about, [])


def _stored(store: Store, name: str) -> Study:
    outcomes = store.outcomes(name)
    cases = store.cases(name)
    about = shipped.origin(store, name, outcomes) if outcomes else {}
    finest = finest_of(outcomes)
    shown = {(o.case.hash, o.seed): o for o in _drawn(outcomes)}
    shown |= {(o.case.hash, o.seed): o for o in outcomes if (o.case.hash, o.seed) in finest}
    curves = {(key[0][:12], key[1]): thinned(store, o, key in finest) for key, o in shown.items()}
    seen = {o.case.hash for o in outcomes}
    empty = [case.name for case in cases if case.hash not in seen]
    return _study(name, store.experiments()[name], outcomes, curves, about, empty)


def _drawn(outcomes: list[Outcome]) -> list[Outcome]:
    """The runs whose curves are read; starts on a grid are one picture, which needs all."""
    if len(outcomes) <= MOST:
        return outcomes
    count: Counter[str] = Counter()
    kept = []
    for o in outcomes:
        count[o.case.hash] += 1
        if count[o.case.hash] <= SEEDS[1] or o.case.recipe.grid:
            kept.append(o)
    return kept


def _study(
    name: str, title: str, outcomes: list[Outcome], curves: Curves, about: dict[str, Any], empty: list[str]
) -> Study:
    known = EXPERIMENTS.get(name)
    have = {(o.case.hash, o.seed) for o in outcomes}
    begun = {(o.case.trunk, o.seed) for o in outcomes if o.case.task.extends}
    wanted = [(c, s) for c in known.cases for s in known.seeds] if known else []
    missing = [(c, s) for c, s in wanted if (c.hash, s) not in have]
    shorter = sum((c.trunk, s) in begun for c, s in missing if c.task.extends)
    judged = verdicts(known, outcomes, curves) if known else []
    summaries = summarise(outcomes)
    return Study(name, title, outcomes, summaries, judged, curves, about, len(missing), shorter, empty)


def best(studies: Iterable[Study]) -> dict[tuple[str, int], dict[str, list[Summary]]]:
    """By operation and inputs, then by training range: the cases with the highest success, the quickest first."""
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
    steps = s.median.estimate
    return (-s.success.estimate, steps if steps == steps else float("inf"), unit_of(s.case))


def require(studies: list[Study]) -> None:
    """At least one experiment."""
    if not studies:
        raise NALMError("There are no results here to report: run an experiment first, `nalm run quick`.")
