"""Networks on sequences: errors and success by length, beside the published shares."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from nalm import stats
from nalm.claims import lengths
from nalm.claims.lengths import Length, Row
from nalm.claims.rules.lengths import compare
from nalm.config import Claim
from nalm.report.figures import colours, with_legend
from nalm.report.html import safe
from nalm.report.study import Study

Figure = dict[str, Any]
WORDS = {"multiply": "products", "add": "sums", "count": "counts"}
FLOOR = 1e-12  # smallest error on a logarithmic axis


def sequences(study: Study) -> dict[str, Any]:
    """Return the blocks of an experiment on sequences, or a warning if there are runs but no reference runs."""
    blocks = by_length(study)
    lacking = lengths.of_sequences(study.outcomes) and not blocks
    return {"blocks": blocks, "warning": lengths.WITHOUT if lacking else ""}


def by_length(study: Study) -> list[dict[str, Any]]:
    """Return a block for every operation and length of training: two figures and their table."""
    found = lengths.by_length(study.outcomes, study.curves, study.name)
    titles = lengths.titles(found)
    judged = {v.claim: v.verdict for v in study.verdicts}
    return [
        {
            "what": titles[kind].replace(kind.operation, WORDS.get(kind.operation, kind.operation)),
            "figures": [errors(rows), success(rows)],
            "lengths": [r.length for r in rows[0].lengths],
            "limits": [r.limit for r in rows[0].lengths],
            "rows": [_row(row, judged) for row in rows],
        }
        for kind, rows in found.items()
    ]


def _row(row: Row, judged: Mapping[Claim, str]) -> dict[str, Any]:
    published = lengths.published(row.case)
    return {
        "name": row.name,
        "case": row.case.key,
        "epochs": row.epochs,
        "cells": [_cell(row, r, published.get(r.length), judged) for r in row.lengths],
    }


def _cell(row: Row, r: Length, claim: Claim | None, judged: Mapping[Claim, str]) -> dict[str, Any]:
    ours = r.success
    return {
        "solved": round(ours.estimate * ours.n),
        "n": ours.n,
        "low": ours.low,
        "high": ours.high,
        "step": stats.solved_at(r.solved_at).estimate if r.solved_at else None,
        "error": float(np.median(r.errors)) if np.isfinite(r.errors).all() else None,
        "right": float(np.median(r.right)),
        "published": None if claim is None else claim.value,
        "verdict": None if claim is None else judged.get(claim) or compare(claim, row, r).verdict,
    }


def errors(rows: Sequence[Row]) -> Figure:
    """Draw the median test error by length, with whiskers to the extremes, and the limit as a dashed line."""
    looks = colours([row.name for row in rows])
    data: list[Figure] = []
    for row in rows:
        at = [r for r in row.lengths if np.isfinite(r.errors).all()]
        middle = [max(float(np.median(r.errors)), FLOOR) for r in at]
        data.append(
            _marks(row.name, looks, [r.length for r in at], middle)
            | {
                "mode": "lines+markers",
                "line": {"width": 1, "color": looks[row.name][0]},
                "error_y": _whiskers(
                    [max(r.errors) - m for r, m in zip(at, middle, strict=True)],
                    [m - max(min(r.errors), FLOOR) for r, m in zip(at, middle, strict=True)],
                ),
                "text": [f"{len(r.errors)} runs, {np.median(r.right):.0%} of sequences right" for r in at],
                "hovertemplate": f"<b>{safe(row.name)}</b>, length %{{x}}: %{{y:.4g}}<br>%{{text}}<extra></extra>",
            }
        )
    first = rows[0].lengths
    data.append(
        {
            "type": "scatter",
            "mode": "lines",
            "name": "limit",
            "x": [r.length for r in first],
            "y": [max(r.limit, FLOOR) for r in first],
            "line": {"dash": "dash", "color": "#888888"},
            "hovertemplate": "limit, length %{x}: %{y:.4g}<extra></extra>",
        }
    )
    layout = _layout(rows, "squared error", {"type": "log", "exponentformat": "power"})
    return {"data": data, "layout": with_legend(layout, (trace["name"] for trace in data))}


def success(rows: Sequence[Row]) -> Figure:
    """Draw the share of runs below the limit by length; hovering and the table show Wilson's intervals.

    Published shares are open marks.
    """
    looks = colours([row.name for row in rows])
    data: list[Figure] = []
    for row in [row for row in rows if not lengths.is_reference(row.case)] or rows:
        found = [r.success for r in row.lengths]
        x = [r.length for r in row.lengths]
        told = [
            f"length {n}: {round(i.estimate * i.n)} of {i.n} runs [{i.low:.2f}, {i.high:.2f}]"
            for n, i in zip(x, found, strict=True)
        ]
        data.append(
            _marks(row.name, looks, x, [i.estimate for i in found])
            | {"mode": "lines+markers", "line": {"width": 1, "color": looks[row.name][0]}, "text": told}
            | {"hovertemplate": f"<b>{safe(row.name)}</b>, %{{text}}<extra></extra>"}
        )
        published = lengths.published(row.case)
        if published:
            name = f"{row.name}, published"
            open_marks = _marks(name, {name: looks[row.name]}, [], [])
            open_marks["marker"] |= {"symbol": f"{looks[row.name][1]}-open", "size": 10}
            values = [published[n].value for n in x if n in published]
            said = f"<b>{safe(row.name)}</b> published, length %{{x}}: %{{y}}<extra></extra>"
            data.append(
                open_marks
                | {"x": [n for n in x if n in published], "y": values, "visible": "legendonly"}
                | {"hovertemplate": said}
            )
    layout = _layout(rows, "share of runs solved", {"range": [-0.04, 1.06]})
    return {"data": data, "layout": with_legend(layout, (trace["name"] for trace in data))}


def _marks(
    name: str, looks: dict[str, tuple[str, str]], x: Sequence[float], y: Sequence[float]
) -> dict[str, Any]:
    colour, symbol = looks[name]
    marker = {"color": colour, "symbol": symbol, "size": 6}
    return {
        "type": "scatter",
        "mode": "markers",
        "name": safe(name),
        "x": list(x),
        "y": list(y),
        "marker": marker,
    }


def _whiskers(up: Sequence[float], down: Sequence[float]) -> dict[str, Any]:
    ends = {"array": [float(v) for v in up], "arrayminus": [float(v) for v in down]}
    return {"type": "data", "symmetric": False, **ends, "thickness": 1, "width": 2}


def _wide(rows: Sequence[Row]) -> bool:
    """Return whether lengths need a logarithmic axis."""
    return max(r.length for r in rows[0].lengths) > 100


def _layout(rows: Sequence[Row], title: str, axis: dict[str, Any]) -> dict[str, Any]:
    return {
        "height": 360,
        "margin": {"l": 64, "r": 12, "b": 44},
        "xaxis": {"title": {"text": "length of the sequences"}, "type": "log" if _wide(rows) else "linear"},
        "yaxis": {"title": {"text": title}, **axis},
    }
