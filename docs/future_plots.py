"""What the figures of future-work.md are drawn with: panels, points with intervals, and the legend above them."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from nalm.report.figures import WIDTH, colours
from nalm.report.static import MARKERS
from nalm.stats import Interval

INCHES = 7.0  # the width of all figures
STYLE = {"font.size": 8, "axes.titlesize": 9, "svg.hashsalt": "nalm"}  # the salt: equal data, equal files
LIMIT = "threshold"  # the series that is drawn as a mark between the others
Point = tuple[str, str, str, Interval]  # panel, series, row and value


def dots(
    points: Sequence[Point], label: str, log: bool = False, ends: Mapping[str, float] | None = None
) -> Figure:
    """Draw values and their intervals: panels beside each other, a line per row, a colour and symbol per series.

    An axis that is not logarithmic goes from 0 to the end of its panel, which is 1 if no other is given.
    Without points, as before a study is shipped, the figure says so.
    """
    if not points:
        return blank("No runs are shipped yet.")
    titles, series, rows = (list(dict.fromkeys(point[i] for point in points)) for i in range(3))
    looks = colours(series)
    figure, panels = canvas(len(titles), max(0.2, 0.085 * len(series)) * len(rows) + 1.1)
    for axes, title in zip(panels, titles, strict=True):
        for k, name in enumerate(series):
            own = {row: value for panel, line, row, value in points if (panel, line) == (title, name)}
            shift = (k - (len(series) - 1) / 2) * WIDTH / len(series) if name != LIMIT else 0
            style = {"color": looks[name][0], "fmt": MARKERS[looks[name][1]], "ms": 4}
            style |= {"color": "black", "fmt": "|", "ms": 14} if name == LIMIT else {}
            x, y = [value.estimate for value in own.values()], [rows.index(row) + shift for row in own]
            axes.errorbar(x, y, xerr=whiskers(own.values()), label=name, lw=1.2, **style)
        end = (ends or {}).get(title, 1)
        if log:
            axes.set_xscale("log")
        else:
            ticks = np.linspace(0, end, 5)
            axes.set_xlim(-0.03 * end, 1.03 * end)
            axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
        axes.set(title=title, ylim=(len(rows) - 0.5, -0.5))
        axes.set_yticks(range(len(rows)), [row.replace("`", "") for row in rows])
        axes.grid(axis="x", alpha=0.25)
        for row in range(1, len(rows)):
            axes.axhline(row - 0.5, color="#dddddd", lw=0.5)
    legend(figure, panels, label)
    return figure


def canvas(panels: int, height: float) -> tuple[Figure, Sequence[Axes]]:
    """Return a figure with panels beside each other, which pyplot does not keep open."""
    figure = Figure(figsize=(INCHES, height), layout="constrained")
    return figure, figure.subplots(1, panels, squeeze=False, sharey=True)[0]


def blank(words: str) -> Figure:
    """Return a figure without panels that has a sentence in place of numbers."""
    figure = Figure(figsize=(INCHES, 1.0))
    figure.text(0.5, 0.5, words, ha="center", va="center")
    return figure


def whiskers(found: Iterable[Interval]) -> Any:
    """Return how far intervals reach below and above their estimates, as error bars need it."""
    return np.array([(i.estimate - i.low, i.high - i.estimate) for i in found]).reshape(-1, 2).clip(0).T


def legend(figure: Figure, panels: Sequence[Axes], label: str) -> None:
    """Write the names of the series above the panels, and the label of their common axis below them."""
    drawn, names = panels[0].get_legend_handles_labels()
    if len(names) > 1:
        names = [name.replace("`", "") for name in names]
        figure.legend(drawn, names, loc="outside upper center", ncols=4, frameon=False)
    figure.supxlabel(label, fontsize="medium")
