"""Right outputs over the epochs, beside the published numbers, for the section two_digits."""

from collections.abc import Iterator, Sequence
from typing import Any

from nalm.config import Claim
from nalm.experiments import EXPERIMENTS
from nalm.report.figures import with_legend
from nalm.report.html import safe
from nalm.report.sections.folds import Folds
from nalm.report.study import Study

Figure = dict[str, Any]
METRICS = {"rounded": "test_output_accuracy_rounded"}  # by what counts as right; otherwise METRIC
METRIC = "test_output_accuracy"


def outputs_over_epochs(study: Study, group: Sequence[Folds], looks: dict[str, tuple[str, str]]) -> Figure:
    """Draw the right test outputs over the epochs, a mean over folds; the published number is a dashed line."""
    data: list[Figure] = []
    for c in group:
        x, found = c.epochs("output")
        colour = looks[c.name][0]
        common = {"type": "scatter", "mode": "lines", "legendgroup": c.name}
        mean = f"<b>{safe(c.name)}</b>, epoch %{{x}}: %{{y:.2f}}%, {len(c.runs)} folds<extra></extra>"
        data.append(
            common
            | {"name": safe(c.name), "x": x, "y": [i.estimate for i in found], "hovertemplate": mean}
            | {"line": {"color": colour, "width": 1.5}}
        )
        for claim in published(study, c):
            told = f"<b>{safe(c.name)}</b>, published: {claim.value:g}% ({safe(claim.place)})<extra></extra>"
            data.append(
                common
                | {"name": f"{safe(c.name)}, published", "x": [x[0], x[-1]], "y": [claim.value] * 2}
                | {"line": {"color": colour, "width": 1, "dash": "dash"}, "showlegend": False}
                | {"hovertemplate": told}
            )
    layout = {
        "height": 380,
        "margin": {"l": 60, "r": 18, "t": 12, "b": 64},
        "hovermode": "closest",
        "xaxis": {"title": {"text": "epoch"}, "zeroline": False},
        "yaxis": {"title": {"text": "right test outputs, %"}, "zeroline": False, "range": [-4, 104]},
    }
    named = (trace["name"] for trace in data if trace.get("showlegend", True))
    return {"data": data, "layout": with_legend(layout, named)}


def has_published(figure: Figure) -> bool:
    """Return whether a figure has a dashed line, which is a published number."""
    return any(trace["line"].get("dash") == "dash" for trace in figure["data"])


def published(study: Study, folds: Folds) -> Iterator[Claim]:
    """Yield the published shares of right outputs of a case, whatever its number of epochs; each number once.

    Only numbers of the share that the lines show: of outputs that are right as the case counts them.
    """
    if study.name not in EXPERIMENTS:
        return
    trunk, metric = folds.case.trunk, METRICS.get(folds.exact, METRIC)
    same = {case.hash for case in EXPERIMENTS[study.name].cases if case.trunk == trunk}
    told: set[float] = set()
    for verdict in study.verdicts:
        claim = verdict.claim
        if claim.metric == metric and same & set(claim.cases) and claim.value not in told:
            told.add(claim.value)
            yield claim
