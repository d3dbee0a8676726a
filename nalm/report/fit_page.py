"""The page of one fit: the law, what was tested and shown about it, and how it fits the data; one offline HTML file."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nalm.files import json_number
from nalm.report import html
from nalm.report.html import needed as needed
from nalm.report.html import safe

Array = NDArray[np.float64]

POINTS = 2_000  # drawn, at most
COLOUR, LINE = "#2f8fce", "#888"


def write(page: dict[str, Any], path: Path) -> Path:
    """Write the page of a fit; ``page`` holds the values of the template, with the figures of each law."""
    return html.save(render(page), path)


def render(page: dict[str, Any]) -> str:
    """Return the page as text."""
    return html.render("fit.html", {"page": page})


def mathml(law: Any) -> str:
    """Format a SymPy expression as MathML, with dots between factors because names may have several letters."""
    from sympy.printing.mathml import mathml as printed

    return str(printed(law, printer="presentation", mul_symbol="dot"))


def figures(target: str, y: Array, predicted: Array) -> dict[str, Any]:
    """Return Plotly figures of the law and of its residuals over y; thinning keeps the largest residuals."""
    rows = np.flatnonzero(np.isfinite(predicted))
    with np.errstate(over="ignore"):
        left = y - predicted
    if len(rows) > POINTS:
        order = np.argsort(-np.abs(left[rows]))
        evenly = np.linspace(0, len(rows) - 1, POINTS // 2).astype(int)
        rows = np.union1d(rows[order[: POINTS // 2]], rows[evenly])
    name, x = safe(target), _numbers(y[rows])
    ends = [float(y[rows].min()), float(y[rows].max())] if len(rows) else []
    return {
        "drawn": len(rows),
        "rows": len(y),
        "fit": _figure(x, _numbers(predicted[rows]), name, f"{name} by the law", ends, ends),
        "residual": _figure(x, _numbers(left[rows]), name, f"{name} - law", ends, [0.0] * len(ends)),
    }


def _numbers(values: Array) -> list[float | None]:
    return [json_number(v) for v in values]


def _figure(
    x: Sequence[float | None],
    y: Sequence[float | None],
    across: str,
    up: str,
    ends: list[float],
    line: list[float],
) -> dict[str, Any]:
    points = {
        "type": "scatter",
        "mode": "markers",
        "x": x,
        "y": y,
        "marker": {"color": COLOUR, "size": 6, "opacity": 0.6},
        "hovertemplate": f"{across}: %{{x:.6g}}<br>{up}: %{{y:.6g}}<extra></extra>",
    }
    expected = {
        "type": "scatter",
        "mode": "lines",
        "x": ends,
        "y": line,
        "line": {"color": LINE, "width": 1, "dash": "dot"},
        "hoverinfo": "skip",
    }
    axis = {"zeroline": False, "exponentformat": "power", "nticks": 6}
    layout = {
        "height": 340,
        "margin": {"l": 70, "r": 12, "t": 12, "b": 48},
        "showlegend": False,
        "hovermode": "closest",
        "xaxis": axis | {"title": {"text": across}},
        "yaxis": axis | {"title": {"text": up}},
    }
    return {"data": [expected, points], "layout": layout}
