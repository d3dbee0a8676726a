"""The page of one fit: the law, what was tested and shown about it, and how it fits the data; one offline HTML file."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nalm.operating_system import json_number
from nalm.report import html
from nalm.report.html import needed as needed
from nalm.report.html import safe

Array = NDArray[np.float64]

POINTS = 2_000  # drawn, at most
COLOUR, LINE = "#2f8fce", "#888"
LAW, SHADE = "#c2571a", "rgba(194, 87, 26, 0.15)"


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


@dataclass(frozen=True)
class Curve:
    """A law of one column, for drawing: the column on the rows, and the law with its interval on a grid."""

    column: str
    x: Array
    grid: Array
    law: Array
    ends: Array | None  # (grid, 2)


def figures(
    target: str,
    y: Array,
    predicted: Array,
    ends: Array | None = None,
    curve: Curve | None = None,
    front: Sequence[tuple[int, float | None, str]] = (),
) -> dict[str, Any]:
    """Return Plotly figures of the law and of its residuals over y; thinning keeps the largest residuals.

    ``ends`` are intervals of the predictions, drawn as bars; a law of one column is also drawn over it. ``front`` are
    symbols, error and formula of the listed laws.
    """
    rows = np.flatnonzero(np.isfinite(predicted))
    with np.errstate(over="ignore"):
        left = y - predicted
    if len(rows) > POINTS:
        order = np.argsort(-np.abs(left[rows]))
        evenly = np.linspace(0, len(rows) - 1, POINTS // 2).astype(int)
        rows = np.union1d(rows[order[: POINTS // 2]], rows[evenly])
    name, x = safe(target), _numbers(y[rows])
    span = [float(y[rows].min()), float(y[rows].max())] if len(rows) else []
    found: dict[str, Any] = {
        "drawn": len(rows),
        "rows": len(y),
        "intervals": ends is not None,
        "fit": _figure(x, _numbers(predicted[rows]), name, f"{name} by the law", span, span),
        "residual": _figure(x, _numbers(left[rows]), name, f"{name} - law", span, [0.0] * len(span)),
    }
    if ends is not None and len(rows):
        bars = {"type": "data", "symmetric": False, "color": COLOUR, "thickness": 0.7, "width": 0}
        above, below = _numbers(ends[rows, 1] - predicted[rows]), _numbers(predicted[rows] - ends[rows, 0])
        found["fit"]["data"][1]["error_y"] = bars | {"array": above, "arrayminus": below}
    if curve is not None and len(rows):
        across = safe(curve.column)
        found["curve"] = _figure(_numbers(curve.x[rows]), x, across, name, curve.grid, curve.law)
        found["curve"]["data"][0]["line"] = {"color": LAW, "width": 2}
        found["curve"]["data"][:0] = _band(curve)
    known = [
        (size, error, safe(formula)) for size, error, formula in front if error is not None and error > 0
    ]
    if len(known) > 1:
        found["front"] = _front(known)
    return found


def _band(curve: Curve) -> list[dict[str, Any]]:
    """Return the interval of a law of one column as an area."""
    if curve.ends is None:
        return []
    grid = _numbers(curve.grid)
    area = {"type": "scatter", "mode": "lines", "hoverinfo": "skip", "line": {"width": 0}, "x": grid}
    below, above = _numbers(curve.ends[:, 0]), _numbers(curve.ends[:, 1])
    return [area | {"y": below}, area | {"y": above, "fill": "tonexty", "fillcolor": SHADE}]


def _front(laws: Sequence[tuple[int, float | None, str]]) -> dict[str, Any]:
    """Return a figure of the error of laws over their size, the law itself first."""
    sizes, errors, formulas = zip(*laws, strict=True)
    figure = _figure(sizes, errors, "symbols", "error", [], [])
    marks = {"text": formulas, "hovertemplate": "%{text}<br>%{x} symbols, error %{y:.3g}<extra></extra>"}
    colours = [LAW] + [COLOUR] * (len(laws) - 1)
    figure["data"][1] |= marks | {"marker": {"color": colours, "size": 8}}
    figure["layout"]["yaxis"]["type"] = "log"
    return figure


def _numbers(values: Array | Sequence[float]) -> list[float | None]:
    return [json_number(v) for v in values]


def _figure(
    x: Sequence[float | None],
    y: Sequence[float | None],
    across: str,
    up: str,
    ends: Array | Sequence[float],
    line: Array | Sequence[float],
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
        "x": _numbers(ends),
        "y": _numbers(line),
        "line": {"color": LINE, "width": 1, "dash": "dot"},
        "hoverinfo": "skip",
    }
    axis = {"zeroline": False, "exponentformat": "power", "nticks": 6}
    layout = {
        "height": 340,
        "margin": {"l": 70, "r": 12, "t": 32, "b": 48},
        "showlegend": False,
        "hovermode": "closest",
        "xaxis": axis | {"title": {"text": across}},
        "yaxis": axis | {"title": {"text": up}},
    }
    return {"data": [expected, points], "layout": layout}
