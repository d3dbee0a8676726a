"""The page of results: one offline HTML file with the runs behind every number inside it.

``SECTIONS`` lists what the page shows of an experiment, in order. A section has a name, a function of a study that
returns plain values, and a template ``sections/NAME.html``; values without a template are for the script of the page.
"""

import base64
import gzip
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nalm.landscapes import LANDSCAPES, compute
from nalm.report import figures, html
from nalm.report.sections.benchmarks import benchmarks
from nalm.report.sections.claims import claims
from nalm.report.sections.compositions import compositions
from nalm.report.sections.cost import cost
from nalm.report.sections.failures import failures, outcome
from nalm.report.sections.forest import forest
from nalm.report.sections.glance import glance
from nalm.report.sections.heim2020 import heim2020
from nalm.report.sections.pairs import pairs
from nalm.report.sections.panels import panels
from nalm.report.sections.pictures import localised
from nalm.report.sections.ranking import ranking
from nalm.report.sections.sequences import sequences
from nalm.report.sections.surfaces import surfaces
from nalm.report.sections.two_digits import two_digits
from nalm.report.study import SEEDS, Study, require, studies
from nalm.results.source import MOST

RUNS = ("seed", "outcome", "solved_at", "best_step", "test", "validation", "sparsity", "threshold", "seconds")
HELD = 200_000  # runs that a page holds; of more, as many of each case as fit


@dataclass(frozen=True)
class Limits:
    """Colours, symbols and numbers of runs that all sections of a page share."""

    looks: dict[str, tuple[str, str]]
    curves: int  # runs of a case with curves
    runs: int  # runs of a case in the table behind a number


@dataclass(frozen=True)
class Section:
    """A part of what the page shows of an experiment."""

    name: str
    content: Callable[[Study, Limits], Any]  # plain values, which become JSON
    template: bool = True  # sections/NAME.html shows them


SECTIONS = (
    Section("compositions", lambda study, limits: compositions(study)),
    Section("panels", lambda study, limits: panels(study, limits.looks, limits.curves)),
    Section("heim2020", lambda study, limits: heim2020(study)),
    Section("surfaces", lambda study, limits: surfaces(study)),
    Section("two_digits", lambda study, limits: two_digits(study)),
    Section("sequences", lambda study, limits: sequences(study)),
    Section("pictures", lambda study, limits: localised(study)),
    Section("pairs", lambda study, limits: pairs(study)),
    Section("ranking", lambda study, limits: ranking(study)),
    Section("failures", lambda study, limits: failures(study.outcomes)),
    Section("forest", lambda study, limits: forest(study)),
    Section("claims", lambda study, limits: claims(study)),
    Section("cost", lambda study, limits: cost(study)),
    Section("runs", lambda study, limits: _runs(study, limits.runs), template=False),
    Section("curves", lambda study, limits: figures.curves(study, limits.curves), template=False),
)


def write(where: Path | str, path: Path, experiment: str = "", other: Path | str = "") -> Path:
    """Write the page of a results folder or of shipped results; without a name also benchmarks and landscapes.

    The cases that an ``other`` folder has of the same experiments are shown beside.
    """
    found = studies(where, experiment, other)
    require(found)
    data = content(found, with_landscapes=not experiment)
    if not experiment:
        data["benchmarks"] = benchmarks(Path(where))
    return html.save(render(data, Path(where).name), path)


def render(data: dict[str, Any], where: str, links: html.Links | None = None) -> str:
    """Return the page as text: one file that contains everything, or with ``links`` a page of a site."""
    shown = [section.name for section in SECTIONS if section.template]
    return html.render(
        "page.html", {"page": data, "sections": shown, "data": embedded(data), "where": where}, links
    )


def embedded(data: Any) -> str:
    """Encode values as compressed JSON in base64, which is safe inside a script element whatever names it holds."""
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    return base64.b64encode(gzip.compress(text.encode(), 9, mtime=0)).decode()


def content(found: Sequence[Study], with_landscapes: bool = True) -> dict[str, Any]:
    """Return everything that the page shows, as plain values."""
    looks = figures.colours([name for study in found for name in study.labels.values()])
    total = sum(len(study.outcomes) for study in found)
    limits = Limits(looks, SEEDS[total > MOST], held(found))
    names = LANDSCAPES if with_landscapes else ()
    return {
        "glance": glance(found),
        "operations": list(dict.fromkeys(s.case.operation for study in found for s in study.summaries)),
        "experiments": [_experiment(study, limits) for study in found],
        "benchmarks": [],
        "landscapes": [figures.thinned(compute(name).json()) for name in names],
        "looks": {name: list(look) for name, look in looks.items()},
    }


def held(found: Sequence[Study], most: int = HELD) -> int:
    """Return how many runs of each case a page holds: all, unless that would be too many for a browser."""
    counts = [len(runs) for study in found for runs in study.runs.values()]
    return max(counts, default=0) if sum(counts) <= most else max(1, most // len(counts))


def _experiment(study: Study, limits: Limits) -> dict[str, Any]:
    counts = list(map(len, study.runs.values()))
    head = {
        "name": study.name,
        "title": study.title,
        "missing": study.missing,
        "shorter": study.shorter,
        "unfinished": study.unfinished,
        "held": min(limits.runs, max(counts, default=0)),
        "partly": any(count > limits.runs for count in counts),
        "counted": max((s.success.n for s in study.summaries), default=0) if study.counted else 0,
    }
    return head | {section.name: section.content(study, limits) for section in SECTIONS}


def _runs(study: Study, most: int) -> dict[str, list[list[Any]]]:
    """Return the runs of each case, at most ``most``, as the rows of the table behind a number."""
    found = {}
    for s in study.summaries:
        key = s.case.key
        found[key] = [_row(o) for o in study.runs[key][:most]]
    return found


def _row(o: Any) -> list[Any]:
    values = [getattr(o, name) for name in RUNS]
    plain = [figures.number(v) if isinstance(v, float) else v for v in values]
    return [*plain, o.formula, outcome(o)]
