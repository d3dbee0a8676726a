"""The page of one fit: the law, what is proven of it, and how it lies in the data; one offline HTML file."""

import importlib.resources
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import nalm
from nalm.errors import NALMError
from nalm.files import json_number

Array = NDArray[np.float64]

POINTS = 2_000  # drawn, at most
COLOUR, LINE = "#2f8fce", "#888"


def needed() -> None:
    """Say at once if the page cannot be made here."""
    try:
        import jinja2  # noqa: F401
        import plotly.offline  # noqa: F401
    except ImportError as error:
        raise NALMError(f"Pages need {error.name}: pip install 'nalm[report]'.") from None


def write(page: dict[str, Any], path: Path) -> Path:
    """Write the page of a fit; ``page`` is what the template shows, with the figures of each law."""
    text = render(page)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise NALMError(f"The page {path} could not be written: {error.strerror}.") from None
    return path


def render(page: dict[str, Any]) -> str:
    """The page as text; whatever a table calls its columns stays text."""
    needed()
    import jinja2
    from plotly.offline import get_plotlyjs

    files = importlib.resources.files("nalm.report")
    environment = jinja2.Environment(
        autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=jinja2.StrictUndefined
    )
    template = environment.from_string(files.joinpath("fit.html").read_text(encoding="utf-8"))
    return template.render(
        page=page,
        version=nalm.__version__,
        plotly=get_plotlyjs(),
        style=files.joinpath("page.css").read_text(encoding="utf-8"),
    )


def mathml(law: Any) -> str:
    """A SymPy expression as browsers set it, without any script; dots part names of several letters."""
    from sympy.printing.mathml import mathml as printed

    return str(printed(law, printer="presentation", mul_symbol="dot"))


def figures(target: str, y: Array, predicted: Array) -> dict[str, Any]:
    """What Plotly draws: the law and what it leaves, over y; the largest residuals are never thinned out."""
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


def safe(text: str) -> str:
    """Text for a label: Plotly reads a little HTML there."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


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
