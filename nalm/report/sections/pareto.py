"""Errors against parameters, and what the pictures of Heim 2020 share: names, looks and layouts of models."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from nalm.config import Case, Claim
from nalm.report.figures import COLOURS, SYMBOLS, number
from nalm.report.html import safe
from nalm.report.study import Study
from nalm.results.runs import Outcome

Figure = dict[str, Any]
CALLED = {"MLP": "Dense", "InputGatedINALU": "iNALU"}
MODELS = ("NPU", "RealNPU", "NMU", "NALU", "iNALU", "Dense", "NaiveNPU")


def model(case: Case) -> str:
    """Return the paper's name of a case's model: its one unit that is not a plain matrix."""
    unit = next((layer.unit for layer in case.model if layer.unit != "Linear"), case.model[0].unit)
    return CALLED.get(unit, unit)


def by_model(runs: Sequence[Outcome]) -> dict[str, list[Outcome]]:
    """Group runs by the paper's name of their model, in its order."""
    found: dict[str, list[Outcome]] = {}
    for o in runs:
        found.setdefault(model(o.case), []).append(o)
    return {name: found[name] for name in sorted(found, key=lambda n: (*MODELS, n).index(n))}


def look(name: str) -> tuple[str, str]:
    """Return the colour and symbol of a model."""
    i = MODELS.index(name) if name in MODELS else len(MODELS)
    return COLOURS[i], SYMBOLS[i]


def rank(value: float) -> float:
    """Return an error for comparisons; NaN is the largest."""
    return math.inf if math.isnan(value) else value


def kept(study: Study, o: Outcome) -> dict[str, np.ndarray]:
    """Return a run's final weights, flat; empty if they were not stored."""
    curves = study.curves.get((o.case.key, o.seed), {})
    return {n.removeprefix("weights."): v for n, v in curves.items() if n.startswith("weights.")}


def paneled(rows: int, columns: int, height: int) -> Figure:
    """Return the layout of a grid of small pictures."""
    return {
        "grid": {"rows": rows, "columns": columns, "pattern": "independent", "xgap": 0.25, "ygap": 0.25},
        "height": height * rows + 60,
        "margin": {"l": 60, "r": 10, "t": 30, "b": 30},
        "annotations": [],
        "showlegend": False,
    }


def headed(text: str, place: str) -> Figure:
    """Return a title above one picture of a grid."""
    return {
        "text": safe(text),
        "xref": f"x{place} domain",
        "yref": f"y{place} domain",
        "x": 0.5,
        "y": 1.04,
        "yanchor": "bottom",
        "showarrow": False,
    }


def scattered(found: dict[str, list[Outcome]], size: str) -> list[Figure]:
    """Draw the final test error against the number of parameters, one mark per run."""
    return [
        {
            "type": "scatter",
            "mode": "markers",
            "name": safe(name),
            "x": [o.measures[size] for o in group],
            "y": [number(o.measures["test"], 4) for o in group],
            "marker": {"color": look(name)[0], "symbol": look(name)[1], "size": 8},
            "text": [f"{safe(name)}, seed {o.seed}" for o in group],
            "hovertemplate": "%{text}<br>%{x} parameters, error %{y:.3g}<extra></extra>",
            "customdata": [o.case.key for o in group],
        }
        for name, group in found.items()
    ]


def published_points(points: Sequence[Claim], metric: str) -> list[Figure]:
    """Draw the published errors against parameters as open marks."""
    pairs: dict[str, dict[str, dict[str, float]]] = {}
    for c in points:
        name = "iNALU" if c.unit == "INALU" else c.unit
        pairs.setdefault(name, {}).setdefault(c.where, {})[c.metric] = c.value
    return [
        {
            "type": "scatter",
            "mode": "markers",
            "name": f"{safe(name)}, published",
            "x": [p["n_nonzero_params"] for p in both.values()],
            "y": [p[metric] for p in both.values()],
            "marker": {"color": look(name)[0], "symbol": f"{look(name)[1]}-open", "size": 7},
            "hovertemplate": f"{safe(name)}, published<br>%{{x}} parameters, error %{{y:.3g}}<extra></extra>",
        }
        for name, both in pairs.items()
        if all({"n_nonzero_params", metric} <= p.keys() for p in both.values())
    ]


def logarithmic() -> Figure:
    """Return the layout of errors against parameters."""
    return {
        "height": 460,
        "margin": {"l": 70, "r": 10, "t": 10, "b": 50},
        "xaxis": {"type": "log", "title": {"text": "parameters that are not 0"}},
        "yaxis": {"type": "log", "title": {"text": "mean squared error"}, "exponentformat": "power"},
        "hovermode": "closest",
    }


def front(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Return the lower left of the convex hull, from the fewest parameters to the least error.

    >>> front([(1, 9.0), (2, 4.0), (3, 3.5), (4, 1.0), (5, 2.0), (2, 8.0)])
    [(1, 9.0), (2, 4.0), (4, 1.0)]
    """
    hull: list[tuple[float, float]] = []
    for x, y in sorted(p for p in points if all(map(math.isfinite, p))):
        while len(hull) > 1 and _turn(hull[-2], hull[-1], (x, y)) <= 0:
            hull.pop()
        hull.append((x, y))
    least = min(range(len(hull)), key=lambda i: hull[i][1], default=-1)
    return hull[: least + 1]


def _turn(a: tuple[float, float], b: tuple[float, float], c: tuple[float, float]) -> float:
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
