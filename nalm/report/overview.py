"""The overview of a results site: which unit learns which operation on which range, as one table of shares."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from nalm.config.labels import unit_of
from nalm.report.figures import OPERATIONS, number
from nalm.report.study import Study

COLUMNS = 38  # of a table at most: more do not fit a screen
LEAST = 2  # units that a range needs to have a column
Cell = dict[str, Any]


def entry(study: Study) -> dict[str, Any]:
    """Return what the overview and the list of experiments say about an experiment, as plain values."""
    words = Counter(v.verdict for v in study.verdicts)
    return {
        "name": study.name,
        "title": study.title,
        "papers": sorted({v.claim.source.partition(" (")[0] for v in study.verdicts if v.claim.source}),
        "operations": list(dict.fromkeys(s.case.operation for s in study.summaries)),
        "units": sorted({unit_of(s.case).partition("@")[0] for s in study.summaries}),
        "runs": len(study.outcomes),
        "verdicts": {word: words[word] for word in ("agrees", "differs", "cannot tell")},
        "cells": [_cell(s, study.name) for s in study.summaries if s.success.n and not s.case.task.images],
    }


def _cell(s: Any, experiment: str) -> Cell:
    return {
        "unit": unit_of(s.case).partition("@")[0],
        "operation": s.case.operation,
        "inputs": s.case.inputs,
        "range": str(s.case.train),
        "share": number(s.success.estimate),
        "low": number(s.success.low),
        "high": number(s.success.high),
        "n": s.success.n,
        "case": s.case.key,
        "experiment": experiment,
    }


def tables(entries: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return one table for each number of inputs, the fullest first."""
    cells = [cell for e in entries for cell in e["cells"] if cell["share"] is not None]
    if any(cell["operation"] in OPERATIONS for cell in cells):
        cells = [cell for cell in cells if cell["operation"] in OPERATIONS]
    counts = Counter(cell["inputs"] for cell in cells)
    return [_table(inputs, [c for c in cells if c["inputs"] == inputs]) for inputs, _ in counts.most_common()]


def _table(inputs: int, cells: Sequence[Cell]) -> dict[str, Any]:
    best: dict[tuple[str, str, str], Cell] = {}
    for cell in sorted(cells, key=lambda c: (c["n"], c["low"])):  # the last one stays: that with most runs
        best[cell["unit"], cell["operation"], cell["range"]] = cell
    columns = _columns(best)
    units = {unit for unit, *column in best if tuple(column) in columns}
    mean = {
        unit: sum(best[unit, *c]["share"] if (unit, *c) in best else 0.0 for c in columns) for unit in units
    }
    order = sorted(units, key=lambda unit: (-mean[unit], unit))
    groups: dict[str, list[str]] = {}
    for operation, label in columns:
        groups.setdefault(operation, []).append(label)
    return {
        "inputs": inputs,
        "groups": [{"sign": OPERATIONS.get(name, name), "ranges": ranges} for name, ranges in groups.items()],
        "rows": [{"unit": unit, "cells": [best.get((unit, *c)) for c in columns]} for unit in order],
    }


def _columns(best: dict[tuple[str, str, str], Cell]) -> list[tuple[str, str]]:
    """Return the pairs of operation and range with most units, by operation; common ranges come first."""
    counts = Counter((operation, label) for _, operation, label in best)
    common = [column for column, n in counts.most_common(COLUMNS) if n >= LEAST] or list(counts)[:COLUMNS]
    known = list(dict.fromkeys([*OPERATIONS, *(operation for operation, _ in common)]))
    ranges = [label for label, _ in Counter(label for _, label in common).most_common()]
    return sorted(common, key=lambda column: (known.index(column[0]), ranges.index(column[1])))
