"""Networks that read two digits: accuracies by fold and by epoch, weights, and confusions of digits."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from nalm.report.figures import colours, whisker, with_legend
from nalm.report.html import safe
from nalm.report.sections.epochs import has_published, outputs_over_epochs
from nalm.report.sections.folds import Folds
from nalm.report.sections.pictures import paired
from nalm.report.study import Study
from nalm.stats import Interval

Figure = dict[str, Any]
Looks = dict[str, tuple[str, str]]
PARTS = ("label1", "label2", "output")  # parts of a sample that are judged
WORDS = {"label1": "first digit", "label2": "second digit", "output": "output"}
SENSES = ("strict", "rounded", "decimals")
SETS = {"seen": "training", "test": "test"}
WIDTH = 0.6  # of the distance between two places on the axis, shared by the cases
GOLD = {"multiply": (1, 1), "divide": (1, -1)}


def two_digits(study: Study) -> list[dict[str, Any]]:
    """Return a block for every operation on two digits: figures and their table."""
    cases: dict[str, list[Folds]] = {}
    for s in study.summaries:
        if s.case.task.exact:
            found = Folds(study, s.case, study.labels[s.case])
            if found.runs:
                cases.setdefault(s.case.operation, []).append(found)
    looks = colours([c.name for group in cases.values() for c in group])
    return [_block(study, operation, group, looks) for operation, group in cases.items()]


def _block(study: Study, operation: str, group: Sequence[Folds], looks: Looks) -> dict[str, Any]:
    moving = [c for c in group if c.paths()]
    figures = [accuracies(group, looks), outputs_over_epochs(study, group, looks)]
    figures += [labels_over_epochs(group, looks)]
    figures += [violins(group, looks)] if group[0].exact == "decimals" else []
    figures += [trajectories(moving, looks, operation)] if moving else []
    figures += [digits(group, looks)]
    return {
        "operation": operation,
        "figures": figures,
        "confusions": [confusion(c) for c in group],
        "rows": [_row(c) for c in group],
        "missed": [told for c in group for told in c.missed()],
        "published": has_published(figures[1]),
        "jumps": bool(moving) and group[0].exact == "strict",
        "samples": paired(study, [(c.case, c.name) for c in group]),
        "right": {"strict": "equal to the last bit", "rounded": "equal when rounded"}.get(
            group[0].exact, "equal in five decimals"
        ),
    }


def _row(c: Folds) -> dict[str, Any]:
    cells = [c.mean(which, part) for which in SETS for part in PARTS]
    cells += [c.mean("test", "output", sense) for sense in SENSES]
    return {
        "name": c.name,
        "case": c.case.key,
        "epochs": c.case.recipe.steps // c.case.epoch,
        "cells": [{"estimate": i.estimate, "low": _finite(i.low), "high": _finite(i.high)} for i in cells],
    }


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def accuracies(group: Sequence[Folds], looks: Looks) -> Figure:
    """Draw the means over folds of right digits and outputs, in training and test (Mistry 2023, Figure 4.10)."""
    places = [(which, part) for which in SETS for part in PARTS]
    data = []
    for k, c in enumerate(group):
        found = [c.mean(*place) for place in places]
        shift = (k - (len(group) - 1) / 2) * WIDTH / len(group)
        data.append(
            _marks(c.name, looks)
            | {
                "mode": "markers",
                "x": [i + shift for i in range(len(places))],
                "y": [i.estimate for i in found],
            }
            | {"error_y": _whiskers(found), "customdata": [c.case.key] * len(places)}
            | {"hovertemplate": f"<b>{safe(c.name)}</b>: %{{y:.2f}}%, {len(c.runs)} folds<extra></extra>"}
        )
    ticks = [f"{SETS[which]}: {WORDS[part]}" for which, part in places]
    # a label that does not fit into the figure is not shown: steep ones need less room before the first place
    axis = {"tickvals": list(range(len(places))), "ticktext": ticks, "tickangle": -35, "zeroline": False}
    axis["range"] = [-0.6, len(places) - 0.4]
    layout = _layout("right, %", xaxis=axis, yaxis={"range": [-4, 104]})
    return {"data": data, "layout": with_legend(layout, (trace["name"] for trace in data))}


def violins(group: Sequence[Folds], looks: Looks) -> Figure:
    """Draw the right test outputs of every fold (Mistry 2023, Figures 5.17 and G.10)."""
    data = [
        {
            "type": "violin",
            "name": safe(c.name),
            "y": c.right("test", "output"),
            "points": "all",
            "pointpos": 0,
            "spanmode": "hard",
            "meanline": {"visible": True},
            "line": {"color": looks[c.name][0]},
            "text": [f"fold {o.seed}" for o, _ in c.runs],
            "showlegend": False,
        }
        for c in group
    ]
    return {"data": data, "layout": _layout("right test outputs, %", yaxis={"range": [-4, 104]})}


def labels_over_epochs(group: Sequence[Folds], looks: Looks) -> Figure:
    """Draw the digits read rightly in the test over the epochs (Mistry 2023, Figure F.5), the second one dotted."""
    data = []
    for c in group:
        for part, dash in (("label1", "solid"), ("label2", "dot")):
            x, found = c.epochs(part)
            data.append(
                _marks(c.name, looks)
                | {"mode": "lines", "line": {"color": looks[c.name][0], "dash": dash, "width": 1.5}}
                | {"x": x, "y": [i.estimate for i in found], "showlegend": part == "label1"}
                | {"legendgroup": c.name, "text": [_ends(i) for i in found]}
                | {
                    "hovertemplate": f"<b>{safe(c.name)}</b>, {WORDS[part]}: %{{y:.2f}}% %{{text}}<extra></extra>"
                }
            )
    axis = {"title": {"text": "epoch"}, "zeroline": False}
    layout = _layout("digits read, %", xaxis=axis, yaxis={"range": [-4, 104]})
    return {"data": data, "layout": with_legend(layout, (trace["name"] for trace in data))}


def trajectories(group: Sequence[Folds], looks: Looks, operation: str) -> Figure:
    """Draw the paths of the two weights, a line per fold (Mistry 2023, Figure 4.11)."""
    data: list[Figure] = []
    for c in group:
        for k, (seed, first, second) in enumerate(c.paths()):
            colour = looks[c.name][0]
            data.append(
                _marks(c.name, looks)
                | {"mode": "lines+markers", "x": first.tolist(), "y": second.tolist(), "showlegend": k == 0}
                | {"legendgroup": c.name, "line": {"color": colour, "width": 1}}
                | {"marker": {"color": colour, "size": [6, *[0] * (len(first) - 2), 9][-len(first) :]}}
                | {
                    "hovertemplate": f"<b>{safe(c.name)}</b>, fold {seed}: (%{{x:.4f}}, %{{y:.4f}})<extra></extra>"
                }
            )
    if operation in GOLD:
        gold = GOLD[operation]
        star = {"symbol": "star-open", "size": 16, "color": "#888888"}
        data.append(
            {
                "type": "scatter",
                "mode": "markers",
                "name": "solution",
                "x": [gold[0]],
                "y": [gold[1]],
                "marker": star,
            }
        )
    layout = _layout("second weight", xaxis={"title": {"text": "first weight"}})
    return {"data": data, "layout": with_legend(layout, (trace["name"] for trace in data))}


def digits(group: Sequence[Folds], looks: Looks) -> Figure:
    """Draw how often each digit was read rightly in the test of one fold (Mistry 2023, Figure F.1)."""
    data = []
    for c in group:
        _, counts = c.confusion()
        totals = counts.sum(-1)
        y = [100 * counts[d, d] / totals[d] if totals[d] else None for d in range(10)]
        data.append(
            _marks(c.name, looks)
            | {
                "mode": "lines+markers",
                "line": {"width": 1, "color": looks[c.name][0]},
                "x": list(range(10)),
                "y": y,
            }
            | {"hovertemplate": f"<b>{safe(c.name)}</b>, digit %{{x}}: %{{y:.2f}}%<extra></extra>"}
        )
    axis = {"title": {"text": f"digit (fold {group[0].confusion()[0]})"}, "dtick": 1, "zeroline": False}
    layout = _layout("read rightly, %", xaxis=axis, yaxis={"range": [-4, 104]})
    return {"data": data, "layout": with_legend(layout, (trace["name"] for trace in data))}


def confusion(c: Folds) -> Figure:
    """Draw how often a digit was read as another in the test of one fold (Mistry 2023, Figure F.2)."""
    seed, counts = c.confusion()
    ten = list(range(10))
    data = {
        "type": "heatmap",
        "x": ten,
        "y": ten,
        "z": np.log10(1 + counts).round(3).tolist(),
        "text": counts.astype(int).tolist(),
        "texttemplate": "%{text}",
        "textfont": {"size": 8},
        "colorscale": "Blues",
        "reversescale": True,
        "showscale": False,
        "hovertemplate": "%{y} read as %{x}: %{text}<extra></extra>",
    }
    across, down = {"title": {"text": "read as"}, "dtick": 1}, {"dtick": 1, "autorange": "reversed"}
    layout = _layout("digit", across, down)
    layout |= {"height": 330, "title": {"text": f"{safe(c.name)}, fold {seed}", "font": {"size": 13}}}
    return {"data": [data], "layout": layout | {"margin": {"l": 44, "r": 8, "t": 30, "b": 40}}}


def _marks(name: str, looks: Looks) -> Figure:
    colour, symbol = looks[name]
    marker = {"color": colour, "symbol": symbol, "size": 7}
    return {"type": "scatter", "name": safe(name), "marker": marker}


def _whiskers(found: Sequence[Interval]) -> Figure:
    up = [whisker(i.high - i.estimate) for i in found]
    down = [whisker(i.estimate - i.low) for i in found]
    return {"type": "data", "symmetric": False, "array": up, "arrayminus": down, "thickness": 1.2, "width": 2}


def _ends(i: Interval) -> str:
    return f"[{i.low:.2f}, {i.high:.2f}]" if np.isfinite(i.low) else ""


def _layout(title: str, xaxis: Figure | None = None, yaxis: Figure | None = None) -> Figure:
    return {
        "height": 380,
        "margin": {"l": 60, "r": 18, "t": 12, "b": 64},
        "hovermode": "closest",
        "xaxis": xaxis or {},
        "yaxis": {"title": {"text": title}, "zeroline": False, **(yaxis or {})},
    }
