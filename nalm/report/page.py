"""The page: one HTML file that needs nothing else, with the runs behind every number inside it."""

import base64
import gzip
import importlib.resources
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import nalm
from nalm import stats
from nalm.claims import Verdict, compositions, lengths
from nalm.config import Case
from nalm.config.labels import unit_of
from nalm.errors import NALMError
from nalm.formulas.truth import right
from nalm.landscapes import LANDSCAPES, compute
from nalm.report import figures
from nalm.report.sections import failures as classify
from nalm.report.sections import heim2020 as heim
from nalm.report.sections import surfaces as maps
from nalm.report.sections.benchmarks import contest
from nalm.report.sections.pictures import localised
from nalm.report.sections.sequences import sequences
from nalm.report.sections.trajectories import trajectories
from nalm.report.sections.two_digits import images
from nalm.report.study import SEEDS, Study, best, require, studies
from nalm.results.source import MOST
from nalm.results.summary import Summary
from nalm.stats import Interval

AUTHORS = 920e-6  # seconds per run-step of the published code, one model per process, one core (docs/architecture.md)
RUNS = ("seed", "outcome", "solved_at", "best_step", "test", "validation", "sparsity", "threshold", "seconds")
ABOUT = ("command", "nalm", "torch", "device", "engine", "date")
COUNTED = ("problems", "certified", "right", "networks")
ORDER = ("differs", "agrees", "not comparable")
HELD = 200_000  # runs that a page holds; of more, as many of each case as fit


def write(where: Path | str, path: Path, experiment: str = "") -> Path:
    """Make the page for a results folder or shipped tables; a page of everything has the landscapes too."""
    found = studies(where, experiment)
    require(found)
    data = content(found, not experiment)
    if not experiment:
        where = Path(where)
        data |= {"ladder": _ladder(where), "composed": _composed(where), "contest": contest(where)}
        data |= {"ode": trajectories(where)}
    text = render(data, Path(where).name)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise NALMError(f"The page {path} could not be written: {error.strerror}.") from None
    return path


def render(data: dict[str, Any], where: str) -> str:
    """The page as text."""
    try:
        import jinja2
        from plotly.offline import get_plotlyjs
    except ImportError as error:
        raise NALMError(f"Reports need {error.name}: pip install 'nalm[report]'.") from None
    files = importlib.resources.files("nalm.report")
    environment = jinja2.Environment(
        autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=jinja2.StrictUndefined
    )
    template = environment.from_string(files.joinpath("page.html").read_text(encoding="utf-8"))
    return template.render(
        data=embedded(data),
        page=data,
        where=where,
        version=nalm.__version__,
        plotly=get_plotlyjs(),
        style=files.joinpath("page.css").read_text(encoding="utf-8"),
        script=files.joinpath("page.js").read_text(encoding="utf-8"),
    )


def _ladder(where: Path) -> dict[str, Any] | None:
    """The trials of equation discovery shipped with the results, if any; one row for both precisions."""
    path = where / "beyond" / "ladder.json"
    if not path.exists():
        return None
    try:
        about = json.loads(path.read_text(encoding="utf-8"))
        rows: dict[tuple[str, str], dict[str, Any]] = {}
        for r in about["totals"]:
            cell = r["cell"].removesuffix(" float64").removesuffix(" float32")
            row = rows.setdefault(
                (r["suite"], cell), {"suite": r["suite"], "cell": cell, **dict.fromkeys(COUNTED, 0)}
            )
            row |= {name: row[name] + int(r[name]) for name in COUNTED}
            row |= {"seconds": float(r["seconds"]), "published_best": r["published_best"]}
        return {"rows": list(rows.values()), "note": str(about["note"]), "command": str(about["command"])}
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise NALMError(f"{path} cannot be read: {error}.") from None


def _composed(where: Path) -> dict[str, Any] | None:
    """The trials of compositions shipped with the results, if any: a row per suite and formula, a cell per method."""
    path = where / "beyond" / "composition.json"
    if not path.exists():
        return None
    try:
        about = json.loads(path.read_text(encoding="utf-8"))
        rows: dict[tuple[str, str], dict[str, Any]] = {}
        for r in about["totals"]:
            rate = stats.wilson(int(r["right"]), int(r["problems"]))
            cell = {
                "right": r["right"],
                "problems": r["problems"],
                "rate": interval(rate),
                "seconds": r["seconds"],
            }
            row = rows.setdefault((r["suite"], r["cell"]), {"suite": r["suite"], "cell": r["cell"]})
            row |= {r["method"]: cell} | ({"formula": r["formula"]} if r["method"] == "composition" else {})
        return {"rows": list(rows.values()), "note": str(about["note"]), "command": str(about["command"])}
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise NALMError(f"{path} cannot be read: {error}.") from None


def embedded(data: Any) -> str:
    """Compressed JSON as letters and digits, which can stand inside a script element whatever names it holds."""
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    return base64.b64encode(gzip.compress(text.encode(), 9, mtime=0)).decode()


def content(found: Sequence[Study], with_landscapes: bool = True) -> dict[str, Any]:
    """Everything the page shows, as plain values."""
    names: dict[Case, str] = {}
    for study in found:
        names = study.labels | names  # of a case that stands in two experiments, the first's
    looks = figures.colours([name for study in found for name in study.labels.values()])
    curves = SEEDS[sum(len(study.outcomes) for study in found) > MOST]
    return {
        "glance": [_glance(key, ranges, names) for key, ranges in best(found).items()],
        "operations": list(dict.fromkeys(s.case.operation for study in found for s in study.summaries)),
        "experiments": [_experiment(study, looks, curves, held(found)) for study in found],
        "ladder": None,
        "contest": None,
        "ode": None,
        "composed": None,
        "landscapes": [figures.thinned(compute(name).json()) for name in LANDSCAPES]
        if with_landscapes
        else [],
        "looks": {name: list(look) for name, look in looks.items()},
    }


def _glance(key: tuple[str, int], ranges: dict[str, list[Summary]], names: dict[Case, str]) -> dict[str, Any]:
    operation, inputs = key
    rows = []
    for name, group in ranges.items():
        first = group[0]
        equal = [s for s in group if s.success.estimate == first.success.estimate]
        rows.append(
            {
                "range": name,
                "units": [names[s.case] for s in equal[:3]] if first.success.estimate > 0 else [],
                "more": max(0, len(equal) - 3) if first.success.estimate > 0 else 0,
                "success": interval(first.success),
                "case": first.case.key,
            }
        )
    return {
        "operation": operation,
        "sign": figures.OPERATIONS.get(operation, operation),
        "inputs": inputs,
        "rows": rows,
    }


def held(found: Sequence[Study], most: int = HELD) -> int:
    """How many runs of each case a page holds: all, unless that would be too many for a browser."""
    counts = [len(runs) for study in found for runs in study.runs.values()]
    return max(counts, default=0) if sum(counts) <= most else max(1, most // len(counts))


def _experiment(study: Study, looks: dict[str, tuple[str, str]], curves: int, most: int) -> dict[str, Any]:
    blocks = figures.curves(study, curves)
    moving = {key for key, block in blocks["cases"].items() if block["moving"]}
    groups = [
        {
            "operation": operation,
            "sign": figures.OPERATIONS.get(operation, operation),
            "inputs": inputs,
            "figure": figures.panels(group, study.labels, study.places, looks),
            "cells": [_cell(s, study) for s in group],
            "curves": any(s.case.key in blocks["cases"] for s in group),
            "paths": any(s.case.key in moving for s in group),
        }
        for (operation, inputs), group in study.groups().items()
    ]
    return {
        "name": study.name,
        "maps": [figures.thinned(surface.json()) for surface in maps.drawn(study)],
        "pictures": heim.pictures(study),
        "tables": heim.tables(study),
        "title": study.title,
        "groups": groups,
        "compositions": compositions.rows(study.outcomes),
        "images": images(study),
        "sequences": (told := sequences(study)),
        "unmeasured": lengths.WITHOUT if lengths.of_sequences(study.outcomes) and not told else "",
        "localised": localised(study),
        "claims": sorted(map(_claim, study.verdicts), key=lambda c: ORDER.index(c["verdict"])),
        "failures": classify.failures(study.outcomes),
        "cost": cost(study),
        "about": {
            k: study.about[k]
            for k in ("command", "nalm", "torch", "device", "engine", "date")
            if k in study.about
        },
        "missing": study.missing,
        "shorter": study.shorter,
        "unfinished": study.unfinished,
        "held": min(most, max(map(len, study.runs.values()), default=0)),
        "partly": any(len(runs) > most for runs in study.runs.values()),
        "runs": {s.case.key: _runs(study, s, most) for s in study.summaries},
        "curves": blocks,
    }


def _cell(s: Summary, study: Study) -> dict[str, Any]:
    if s.case.task.used == s.case.inputs:  # the operands are the same for every seed
        spelled = [found for text, n in s.formulas for found in [right(s.case, 0, text)] * n]
    else:
        spelled = [right(o.case, o.seed, o.formula) for o in study.runs[s.case.key]]
    return {
        "case": s.case.key,
        "unit": study.labels[s.case],
        "model": unit_of(s.case),
        "range": study.places[s.case],
        "success": interval(s.success),
        "solved_at": interval(s.solved_at),
        "median": interval(s.median),
        "sparsity": interval(s.sparsity),
        "right": interval(stats.success_rate(spelled)),
        "formulas": [[formula or "(no formula)", count] for formula, count in s.formulas[:5]],
        "diverged": s.diverged,
    }


def interval(i: Interval) -> dict[str, Any]:
    """An interval as the page holds it; what is not a finite number becomes null."""
    ends = {n: _number(getattr(i, n)) for n in ("estimate", "low", "high")}
    return {**ends, "n": i.n, "method": i.method}


def _number(value: float | None) -> float | None:
    return None if value is None or value != value or abs(value) == float("inf") else float(f"{value:.9g}")


def _runs(study: Study, s: Summary, most: int) -> list[list[Any]]:
    rows = []
    for o in study.runs[s.case.key][:most]:
        values = [getattr(o, name) for name in RUNS]
        plain = [_number(v) if isinstance(v, float) else v for v in values]
        rows.append([*plain, o.formula, classify.outcome(o)])
    return rows


def _claim(v: Verdict) -> dict[str, Any]:
    c = v.claim
    return {
        "what": c.metric.replace("_", " "),
        "unit": c.unit,
        "operation": c.operation,
        "where": c.where,
        "value": _number(c.value),
        "low": _number(c.low),
        "high": _number(c.high),
        "source": c.source,
        "place": c.place,
        "note": c.note,
        "ours": interval(v.ours) if v.ours is not None else None,
        "verdict": v.verdict,
        "why": v.why,
    }


def cost(study: Study) -> dict[str, Any]:
    """What the runs cost, and what they would cost with the published code, where that was measured."""
    steps = sum(o.steps for o in study.outcomes)
    seconds = sum(o.seconds for o in study.outcomes)
    return {
        "runs": len(study.outcomes),
        "run_steps": steps,
        "seconds": _number(seconds),
        "authors": None
        if any(o.measures or o.case.task.images for o in study.outcomes)
        else _number(steps * AUTHORS),
    }
