"""Figures as plain values for Plotly: panels of success, solved-at and sparsity error; curves; surfaces."""

import base64
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from nalm.config import Case
from nalm.report.html import safe
from nalm.report.study import Study
from nalm.results.summary import Summary
from nalm.stats import Interval

COLOURS = (  # distinguishable with colour blindness
    *("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8a6d3b", "#7f3c8d"),
    *("#a5aa00", "#e73f74", "#3969ac", "#11a579"),
)
SYMBOLS = ("circle", "square", "diamond", "triangle-up", "x", "star", "cross", "hexagon", "triangle-down")
SIDE = 81  # points of a surface along an axis
MANY = 8  # fewer runs have wide intervals, whose upper ends do not stretch the axis
WIDTH = 0.6  # of the distance between two ranges on the axis, shared by the units of a range
ICONS = 20  # pixels at the top of a figure for the icons of Plotly, less the space above the first row of a legend
TOP = 16  # pixels below a legend; with less, Plotly moves a plot for the label at its upper end, again and again
PANELS = (
    ("success", "share of runs solved"),
    ("solved_at", "solved at step"),
    ("sparsity", "sparsity error"),
)
OPERATIONS = {"add": "a + b", "subtract": "a − b", "multiply": "a × b", "divide": "a ÷ b"}


def colours(names: Sequence[str]) -> dict[str, tuple[str, str]]:
    """Assign a colour and a symbol to each name, the same on the whole page."""
    order = list(dict.fromkeys(names))
    return {n: (COLOURS[i % len(COLOURS)], SYMBOLS[i % len(SYMBOLS)]) for i, n in enumerate(order)}


def with_legend(layout: dict[str, Any], names: Iterable[str], width: int = 500) -> dict[str, Any]:
    """Put the legend above the plot and below Plotly's icons, with as much space as its columns of equal width need.

    Its place is measured from the top of the figure: with more rows the plot gets smaller.
    """
    shown = list(dict.fromkeys(names))
    columns = max(1, width // (45 + 7 * max(map(len, shown), default=0)))
    height = layout["height"] + ICONS + 20 * -(-len(shown) // columns)
    return layout | {
        "height": height,
        "margin": layout["margin"] | {"t": TOP},
        "legend": {"orientation": "h", "yref": "container", "y": 1 - ICONS / height, "yanchor": "top"},
    }


def panels(
    group: Sequence[Summary],
    names: dict[Case, str],
    places: dict[Case, str],
    looks: dict[str, tuple[str, str]],
) -> dict[str, Any]:
    """Draw success rate, solved-at and sparsity error over the axis; one colour per unit, intervals as whiskers."""
    ranges = list(dict.fromkeys(places[s.case] for s in group))
    units = list(dict.fromkeys(names[s.case] for s in group))
    traces = []
    for k, unit in enumerate(units):
        shift = (k - (len(units) - 1) / 2) * WIDTH / max(len(units), 1)
        mine = [s for s in group if names[s.case] == unit]
        for row, (name, _) in enumerate(PANELS):
            shown = [s for s in mine if getattr(s, name).n > 0]
            traces.append(
                _trace(unit, name, shown, [ranges.index(places[s.case]) + shift for s in shown], looks)
            )
            axis = "" if row == 0 else str(row + 1)
            traces[-1] |= {
                "yaxis": f"y{axis}",
                "xaxis": f"x{axis}",
                "showlegend": row == 0,
                "legendgroup": unit,
            }
    layout: dict[str, Any] = {
        "grid": {"rows": len(PANELS), "columns": 1, "pattern": "independent", "ygap": 0.08},
        "height": 640,
        "margin": {"l": 64, "r": 12, "b": 80},
        "hovermode": "closest",
    }
    layout = with_legend(layout, units, width=1_000)
    for row, (name, title) in enumerate(PANELS):
        axis = "" if row == 0 else str(row + 1)
        last = row == len(PANELS) - 1
        ticks = {
            "tickvals": list(range(len(ranges))),
            "ticktext": [safe(r) for r in ranges],
            "range": [-0.6, len(ranges) - 0.4],
        }
        layout[f"xaxis{axis}"] = ticks | {"showticklabels": last, "tickangle": -35, "zeroline": False}
        layout[f"yaxis{axis}"] = {"title": {"text": title}, "rangemode": "tozero", "zeroline": False}
        layout[f"yaxis{axis}"]["range"] = [-0.04, 1.06] if name == "success" else span(group, name)
    return {"data": traces, "layout": layout}


def span(group: Sequence[Summary], name: str) -> list[float]:
    """Return the range of an axis from 0 to a little above all marks, and above the whiskers of 8 or more runs."""
    found: list[Interval] = [getattr(s, name) for s in group if getattr(s, name).n > 0]
    tops = [i.high if i.n >= MANY and np.isfinite(i.high) else i.estimate for i in found]
    top = max(tops, default=1.0) or 1e-9
    return [-0.06 * top, 1.12 * top]


def _trace(
    unit: str, name: str, shown: Sequence[Summary], places: Sequence[float], looks: dict[str, tuple[str, str]]
) -> dict[str, Any]:
    colour, symbol = looks[unit]
    found: list[Interval] = [getattr(s, name) for s in shown]
    hover = [_hover(unit, s, i) for s, i in zip(shown, found, strict=True)]
    return {
        "type": "scatter",
        "mode": "markers",
        "name": safe(unit),
        "x": list(places) or [None],  # Plotly does not draw the axes of an empty panel
        "y": [i.estimate for i in found] or [None],
        "error_y": {
            "type": "data",
            "symmetric": False,
            "array": [whisker(i.high - i.estimate) for i in found],
            "arrayminus": [whisker(i.estimate - i.low) for i in found],
            "thickness": 1.2,
            "width": 2,
        },
        "marker": {"color": colour, "symbol": symbol, "size": 7},
        "text": hover,
        "hovertemplate": "%{text}<extra></extra>",
        "customdata": [s.case.key for s in shown],
    }


def number(value: float | None, digits: int = 9) -> float | None:
    """Round to significant digits; None, which JSON can hold, for what is not finite."""
    return None if value is None or not np.isfinite(value) else float(f"{value:.{digits}g}")


def interval(i: Interval) -> dict[str, Any]:
    """Return an interval as plain values; an end that is not finite becomes None."""
    return {**{n: number(getattr(i, n)) for n in ("estimate", "low", "high")}, "n": i.n, "method": i.method}


def whisker(value: float) -> float:
    """Return the length of a whisker; 0 if it has no end."""
    return float(value) if np.isfinite(value) else 0.0


def _hover(unit: str, s: Summary, i: Interval) -> str:
    ends = f" [{i.low:.4g}, {i.high:.4g}]" if np.isfinite(i.low) else ""
    lines = [f"<b>{safe(unit)}</b> {safe(s.case.operation)} {safe(str(s.case.train))}"]
    lines += [f"{i.estimate:.4g}{ends}", f"n = {i.n} ({safe(i.method)})", "click for the runs"]
    return "<br>".join(lines)


def kept(study: Study, key: str, most: int) -> list[int]:
    """Return the seeds of a case whose curves a page holds."""
    return [o.seed for o in study.runs[key] if (key, o.seed) in study.curves][:most]


def curves(study: Study, most: int) -> dict[str, Any]:
    """Return test errors of at most ``most`` runs of each case as blocks of float32 (runs x points), with steps."""
    steps: list[list[float]] = []
    blocks = {}
    for s in study.summaries:
        key = s.case.key
        seeds = kept(study, key, most)
        if not seeds:
            continue
        found = [study.curves[key, seed] for seed in seeds]
        length = min(len(f["test"]) for f in found)
        at = [float(v) for v in found[0]["steps"][:length]]
        if at not in steps:
            steps.append(at)
        moving = {}
        for seed, f in zip(seeds, found, strict=True):
            paths = [f[n][:length] for n in f if "[" in n]
            if paths:
                moving[str(seed)] = packed(np.stack(paths))
        names = next(([n for n in f if "[" in n] for f in found if any("[" in n for n in f)), [])
        blocks[key] = {
            "seeds": seeds,
            "steps": steps.index(at),
            "test": packed(np.stack([f["test"][:length] for f in found])),
            "weights": names,
            "moving": moving,
        }
    return {"steps": steps, "cases": blocks}


def packed(values: np.ndarray) -> str:
    """Encode rows of numbers as base64 of little-endian float32, rounded to a thousandth so that they compress well."""
    bits = np.ascontiguousarray(values, dtype="<f4").view("<u4") & 0xFFFFE000
    return base64.b64encode(bits.tobytes()).decode()


def thinned(surface: dict[str, Any]) -> dict[str, Any]:
    """Thin a landscape to at most about eighty points a side, which is all that a page can show."""
    if "z" not in surface:
        return surface
    columns, rows = (max(1, -(-len(surface[axis]) // SIDE)) for axis in "xy")
    z = [row[::columns] for row in surface["z"][::rows]]
    return surface | {"x": surface["x"][::columns], "y": surface["y"][::rows], "z": z}
