"""Fits of an epidemic (Heim 2020): error against parameters, the best trajectory, a fit as matrices."""

from collections.abc import Sequence

import numpy as np

from nalm.experiments.published import claims
from nalm.formulas.readout import PARTS
from nalm.report.figures import COLOURS, number
from nalm.report.html import safe
from nalm.report.sections.pareto import (
    Figure,
    by_model,
    front,
    headed,
    kept,
    logarithmic,
    look,
    model,
    paneled,
    published_points,
    rank,
    scattered,
)
from nalm.report.sections.surfaces import orbit
from nalm.report.study import Study
from nalm.results.curves import economical
from nalm.results.runs import Outcome
from nalm.tasks.epidemic import NAMES, START, published

SHOWN = [-2.3, 4.0]  # logarithms of the errors in the published figure: 0.005 to 10,000


def pareto(runs: Sequence[Outcome]) -> Figure:
    """Draw every fit by its error and its parameters, and the front of each model."""
    size = f"nonzero {min(runs[0].case.task.counts):g}"
    found = by_model(runs)
    data = [*scattered(found, size)]
    for name, group in found.items():
        corner = front([(o.measures[size], o.measures["test"]) for o in group])
        line = {"color": look(name)[0], "width": 2}
        data.append(
            {
                "type": "scatter",
                "mode": "lines",
                "name": f"{safe(name)}, front",
                "x": [p[0] for p in corner],
                "y": [p[1] for p in corner],
                "line": line,
                "hoverinfo": "skip",
            }
        )
    data += published_points(
        [c for c in claims("fSIR NODE", places=("Figure 4 left",)) if "front" not in c.unit], "mse"
    )
    layout = logarithmic()
    layout["yaxis"] |= {"range": SHOWN}
    note = "Parameters above 0.001; lines are the lower left of the convex hull; open marks: Heim 2020, Figure 4."
    return {
        "title": "Error of the fit against parameters",
        "note": note,
        "data": data,
        "layout": layout,
    }


def fits(study: Study, runs: Sequence[Outcome]) -> list[Figure]:
    """Draw the best trajectory, and the most economical RealNPU as matrices."""
    known = [o for o in runs if kept(study, o)]
    if not known:
        return []
    found = [_trajectory(study, min(known, key=lambda o: rank(o.measures["test"])))]
    real = [o for o in known if model(o.case) == "RealNPU"]
    return [*found, _matrices(study, min(real, key=economical))] if real else found


def _trajectory(study: Study, o: Outcome) -> Figure:
    times, truth = published()
    fitted = orbit(o.case, kept(study, o), START, int(times[-1]))
    data: list[Figure] = []
    for k, name in enumerate(NAMES):
        best = claims("fSIR trajectory", units=(f"best model {name}",))
        colour = {"color": COLOURS[k]}
        data += [
            {
                "type": "scatter",
                "mode": "lines",
                "name": f"true {name}",
                "x": times.round(3).tolist(),
                "y": truth[:, k].round(4).tolist(),
                "line": colour | {"width": 5},
                "opacity": 0.35,
            },
            {
                "type": "scatter",
                "mode": "lines",
                "name": f"ours {name}",
                "x": list(range(len(fitted))),
                "y": fitted[:, k].round(4).tolist(),
                "line": colour | {"width": 1.5},
            },
            {
                "type": "scatter",
                "mode": "markers",
                "name": f"published {name}",
                "x": [float(c.where.removeprefix("t=")) for c in best],
                "y": [c.value for c in best],
                "marker": colour | {"symbol": "circle-open", "size": 6},
            },
        ]
    layout = {
        "height": 380,
        "margin": {"l": 60, "r": 10, "t": 10, "b": 45},
        "xaxis": {"title": {"text": "time"}},
        "yaxis": {"title": {"text": "people"}},
    }
    said = f"{model(o.case)}, seed {o.seed}: the least error, {o.measures['test']:.3g}"
    note = f"{said}; circles are the published best fit (Heim 2020, Figure 4)."
    return {"title": "The best fit", "note": note, "data": data, "layout": layout}


def _matrices(study: Study, o: Outcome) -> Figure:
    """Draw the two matrices of a fit side by side with numbers in their cells, and list the gates."""
    w = kept(study, o)
    powers, sums = w[PARTS[0]].reshape(-1, len(NAMES)), w[PARTS[2]].reshape(len(NAMES), -1)
    order = np.argsort(-np.abs(sums).max(0))
    hidden = [f"h{k + 1}" for k in range(len(order))]
    rates = [f"d{name}/dt" for name in NAMES]
    layout = paneled(1, 2, 40 * len(order)) | {"height": 80 + 34 * max(len(order), 6)}
    layout["annotations"] = [headed("sums of products", ""), headed("powers of inputs", "2")]
    data = [_cells(sums[:, order], hidden, rates, ""), _cells(powers[order], list(NAMES), hidden, "2")]
    layout |= {"yaxis": {"autorange": "reversed"}, "yaxis2": {"autorange": "reversed"}}
    gates = ", ".join(f"{name} {g:.2f}" for name, g in zip(NAMES, w[PARTS[1]], strict=True))
    size = next(name for name in o.measures if name.startswith("nonzero"))
    note = (
        f"The RealNPU with the least product of error ({o.measures['test']:.3g}) and parameters "
        f"({o.measures[size]:.0f}), {o.case.model[0].out} hidden, seed {o.seed}. Gates: {gates}; an input x counts as "
        "g x + 1 - g, which the published reading of exponents leaves out (Heim 2020, Figure 5: S^0.62 I^0.57, R^0.64)."
    )
    return {"title": "A fit as matrices", "note": note, "formula": o.formula, "data": data, "layout": layout}


def _cells(values: np.ndarray, columns: list[str], rows: list[str], place: str) -> Figure:
    top = float(np.abs(values).max()) or 1.0
    return {
        "type": "heatmap",
        "x": columns,
        "y": rows,
        "z": [[number(v, 4) for v in row] for row in values],
        "text": [[f"{v:.2f}" if abs(v) > 1e-3 else "" for v in row] for row in values],
        "texttemplate": "%{text}",
        "zmin": -top,
        "zmax": top,
        "colorscale": "RdBu",
        "showscale": False,
        "xaxis": f"x{place}",
        "yaxis": f"y{place}",
        "hovertemplate": "%{y}, %{x}: %{z}<extra></extra>",
    }
