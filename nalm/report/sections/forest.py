"""Published numbers beside ours as forest plots: one figure for each kind of number, coloured by verdict."""

import math
from collections.abc import Sequence
from typing import Any

from nalm.claims import ClaimVerdict
from nalm.claims.rules.base import ORDER
from nalm.report.figures import whisker, with_legend
from nalm.report.html import safe
from nalm.report.study import Study
from nalm.stats import Interval

ROWS = 60  # of a figure at most
COLOURS = {"agrees": "#1c7c46", "differs": "#b3372f", "cannot tell": "#8a8f94"}
DECADES = 30.0  # ratio of the largest to the smallest number from which an axis is logarithmic


def forest(study: Study) -> list[dict[str, Any]]:
    """Return a figure for each kind of published number that was judged."""
    kinds: dict[str, list[ClaimVerdict]] = {}
    for v in sorted(study.verdicts, key=lambda v: ORDER.index(v.verdict)):
        if v.verdict in COLOURS and v.ours is not None and math.isfinite(v.ours.estimate + v.claim.value):
            kinds.setdefault(v.claim.metric.replace("_", " "), []).append(v)
    return [
        {
            "kind": kind,
            "of": len(found),
            "shown": min(len(found), ROWS),
            "figure": _figure(kind, found[:ROWS]),
        }
        for kind, found in kinds.items()
    ]


def _figure(kind: str, shown: Sequence[ClaimVerdict]) -> dict[str, Any]:
    rows = list(range(len(shown)))
    claims = [v.claim for v in shown]
    theirs = [
        Interval(c.value, _or(c.low, c.value), _or(c.high, c.value), c.n or 0, "published") for c in claims
    ]
    ours = [v.ours for v in shown if v.ours is not None]
    colours = [COLOURS[v.verdict] for v in shown]
    traces = [
        _trace("published", theirs, [i - 0.16 for i in rows], ["#888"] * len(rows), "circle-open", shown),
        _trace("ours", ours, [i + 0.16 for i in rows], colours, "diamond", shown),
    ]
    numbers = [i.estimate for i in (*theirs, *ours)]
    wide = min(numbers) > 0 and max(numbers) > DECADES * min(numbers)
    labels = [safe(", ".join(filter(None, (v.claim.unit, v.claim.operation, v.claim.where)))) for v in shown]
    layout = {
        "height": 90 + 20 * len(rows),
        "margin": {"l": 10, "r": 12, "b": 40},
        "hovermode": "closest",
        "xaxis": {"title": {"text": safe(kind)}, "type": "log" if wide else "linear", "zeroline": False},
        "yaxis": {
            "tickvals": rows,
            "ticktext": labels,
            "range": [len(rows) - 0.4, -0.6],
            "zeroline": False,
            "tickfont": {"size": 10},
        },
    }
    return {"data": traces, "layout": with_legend(layout, ("published", "ours"))}


def _or(value: float | None, otherwise: float) -> float:
    return otherwise if value is None else value


def _trace(
    name: str,
    found: Sequence[Interval],
    rows: Sequence[float],
    colours: Sequence[str],
    symbol: str,
    shown: Sequence[ClaimVerdict],
) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "markers",
        "name": name,
        "x": [i.estimate for i in found],
        "y": list(rows),
        "marker": {"color": list(colours), "symbol": symbol, "size": 8},
        "error_x": {
            "type": "data",
            "symmetric": False,
            "array": [whisker(i.high - i.estimate) for i in found],
            "arrayminus": [whisker(i.estimate - i.low) for i in found],
            "thickness": 1.2,
            "width": 2,
            "color": "#888",
        },
        "text": [safe(f"{v.claim.source}, {v.claim.place}: {v.verdict}") for v in shown],
        "hovertemplate": f"{name} %{{x:.4g}}<br>%{{text}}<extra></extra>",
    }
