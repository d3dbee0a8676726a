"""The pictures of Heim 2020: errors over the plane and against parameters; and its Table A2."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from nalm.claims.rules.spreads import mean_spread, median_spread
from nalm.config import Claim
from nalm.experiments.heim2020_claims import LARGE_TASK
from nalm.experiments.published import claims
from nalm.operations import outputs
from nalm.report.figures import OPERATIONS, number
from nalm.report.html import safe
from nalm.report.sections.pareto import (
    Figure,
    by_model,
    headed,
    kept,
    logarithmic,
    paneled,
    published_points,
    rank,
    scattered,
)
from nalm.report.sections.surfaces import errors_over
from nalm.report.sections.systems import fits, pareto
from nalm.report.study import Study
from nalm.results.runs import Outcome

CLIP = (-4.0, 2.0)  # range of the logarithm of an error
ROOTS = 5.0  # largest input on the map of the root


def heim2020(study: Study) -> dict[str, list[Figure]]:
    """Return tables and pictures of an experiment of the paper; both are empty for other experiments."""
    return {"tables": tables(study), "pictures": pictures(study)}


def pictures(study: Study) -> list[Figure]:
    """Draw every picture of an experiment whose cases measure more than one error."""
    runs = [o for o in study.outcomes if o.measures]
    if not runs:
        return []
    if runs[0].case.task.fits_trajectory:
        return [pareto(runs), *fits(study, runs)]
    return [*_maps(study, runs), *([_sparse(runs)] if runs[0].case.task.counts else [])]


def tables(study: Study) -> list[Figure]:
    """List errors over grids with both statistics, beside the published ones (Heim 2020, Table A2)."""
    runs = [o for o in study.outcomes if o.case.task.grids]
    if not runs:
        return []
    names, found = outputs(runs[0].case.operation), by_model(runs)
    theirs = {
        (c.unit, c.operation): c for c in claims("simple arithmetic (2 in, 4 out)", places=("Table A2",))
    }
    rows = []
    for name in names:
        cells = []
        for called, group in found.items():
            values = [o.measures[name] for o in group]
            claim = theirs.get(({"iNALU": "INALU"}.get(called, called), name))
            cells.append([_spread(median_spread(values)), _spread(mean_spread(values)), _said(claim)])
        rows.append({"name": OPERATIONS.get(name, name), "cells": cells})
    note = "Mean absolute error over the grid: median ± MAD, mean ± standard error, and as published (in italics)."
    return [{"note": note, "columns": list(found), "rows": rows}]


def _spread(interval: Any) -> str:
    return f"{interval.estimate:.3g} ± {interval.high - interval.estimate:.2g}"


def _said(claim: Claim | None) -> str:
    return (
        "" if claim is None or claim.high is None else f"{claim.value:.4g} ± {claim.high - claim.value:.2g}"
    )


def _maps(study: Study, runs: Sequence[Outcome]) -> list[Figure]:
    """Draw the logarithm of the best run's error at every point: a row of maps per operation, a column per model."""
    found = by_model([o for o in runs if o.case.task.grids])
    if not found:
        return []
    names = [name for name, _ in next(iter(found.values()))[0].case.task.grids]
    data, layout = [], paneled(len(names), len(found), 170)
    for row, name in enumerate(names):
        for column, (called, group) in enumerate(found.items()):
            place = str(row * len(found) + column + 1) if row or column else ""
            best = min(group, key=lambda o: rank(o.measures[name]))
            layout["annotations"] += [headed(called, place)] if row == 0 else []
            layout[f"yaxis{place}"] = {
                "title": {"text": safe(OPERATIONS.get(name, name))} if column == 0 else {}
            }
            weights = kept(study, best)
            if not weights:
                continue
            points = dict(best.case.task.grids)[name]
            axis, errors = errors_over(
                best.case, weights, name, points.replace(high=ROOTS + 0.05) if name == "sqrt" else points
            )
            z = [[number(v, 4) for v in line] for line in np.log10(np.maximum(errors, 1e-30)).clip(*CLIP)]
            shown = {"type": "heatmap", "x": axis.round(4).tolist(), "y": axis.round(4).tolist(), "z": z}
            shown |= {"coloraxis": "coloraxis", "xaxis": f"x{place}", "yaxis": f"y{place}"}
            data.append(
                shown
                | {
                    "hovertemplate": f"{safe(called)}, seed {best.seed}<br>%{{x}}, %{{y}}: 10^%{{z:.2f}}<extra></extra>"
                }
            )
    layout["coloraxis"] = {
        "cmin": CLIP[0],
        "cmax": CLIP[1],
        "colorscale": "Viridis",
        "colorbar": {"title": {"text": "log10 error"}, "thickness": 10},
    }
    note = "The run with the least mean error of each model and operation. Lighter is worse (Heim 2020, Figure 6)."
    return [{"title": "Errors over the plane", "note": note, "data": data, "layout": layout}]


def _sparse(runs: Sequence[Outcome]) -> Figure:
    task = runs[0].case.operation
    size = f"nonzero {min(runs[0].case.task.counts):g}"
    wanted = {"reciprocal": ("reciprocal", "divide")}.get(task, (task,))
    points = [c for c in claims(LARGE_TASK, places=("Figure 7",)) if c.operation in wanted]
    data = [*scattered(by_model(runs), size), *published_points(points, "test_mse")]
    above = f"Parameters above {min(runs[0].case.task.counts):g}, and test error at the end"
    note = f"{above}; open marks are published (Heim 2020, Figure 7)."
    return {"title": "Test error against parameters", "note": note, "data": data, "layout": logarithmic()}
