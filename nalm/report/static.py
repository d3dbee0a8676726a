"""The figures of the page for papers, drawn by matplotlib, and their tables in LaTeX."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from nalm.config import Case
from nalm.errors import NALMError
from nalm.landscapes import LANDSCAPES, Curves, Surface, compute
from nalm.report.figures import PANELS, WIDTH, colours, span
from nalm.report.sections import surfaces
from nalm.report.study import Study, require, studies
from nalm.results import source
from nalm.results.summary import Summary
from nalm.stats import Interval

FORMATS = ("pdf", "svg", "png")
MARKERS = dict(
    zip(
        ("circle", "square", "diamond", "triangle-up", "x", "star", "cross", "hexagon", "triangle-down"),
        "osD^x*Phv",
        strict=True,
    )
)


def write(
    where: Path | str, folder: Path, kind: str, experiment: str = "", other: Path | str = ""
) -> list[Path]:
    """Write each figure of the results as a file, with its table beside it, and return the paths.

    Shipped results have the landscapes too, which are computed without runs. The cases that an ``other`` folder has of
    the same experiments are shown beside.
    """
    if kind not in FORMATS:
        raise NALMError(f"The format {kind!r} is not known: use {', '.join(FORMATS)}.")
    found = studies(where, experiment, other)
    require(found)
    looks = colours([study.labels[s.case] for study in found for s in study.summaries])
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise NALMError(f"The folder {folder} could not be created: {error.strerror}.") from None
    paths = []
    for study in found:
        for (operation, inputs), group in study.groups().items():
            name = re.sub(r"[^A-Za-z0-9]+", "-", f"{study.name}-{operation}-{inputs}").strip("-")
            paths.append(save(_panels(group, study, looks), folder / f"{name}.{kind}"))
            paths.append(save(_curves(study, group, looks), folder / f"{name}-curves.{kind}"))
            paths.append(folder / f"{name}.tex")
            paths[-1].write_text(latex(group, study.labels, study.places), encoding="utf-8")
        for i, surface in enumerate(surfaces.drawn(study)):
            name = re.sub(r"[^A-Za-z0-9]+", "-", f"{study.name}-{surface.name}-{i}").strip("-")
            paths.append(save(_landscape(surface), folder / f"{name}.{kind}"))
    for name in () if experiment or source.kind(where) == "store" else LANDSCAPES:
        paths.append(save(_landscape(compute(name)), folder / f"{name.replace('/', '-')}.{kind}"))
    return paths


def _landscape(found: Surface | Curves) -> Any:
    """Draw a surface as a map with its minima, or curves."""
    figure, axis = pyplot().subplots(figsize=(4.5, 3.6))
    axis.set(title=found.title, xlabel=found.x_label, ylabel=found.y_label)
    if isinstance(found, Curves):
        for name, values in found.series.items():
            axis.plot(found.x, values, label=name)
        axis.legend(fontsize=7)
        return figure
    z = np.array(found.z, dtype=float)
    if found.clip is not None:
        z = z.clip(*found.clip)
    z = np.log10(z.clip(1e-12)) if found.log else z
    picture = axis.pcolormesh(found.x, found.y, z, shading="nearest", rasterized=True)
    figure.colorbar(picture, label="log10" if found.log else "")
    for m in found.minima:
        axis.plot(m.x, m.y, "x", color="#d55e00")
    for box in found.boxes:
        size = box.high - box.low
        axis.add_patch(pyplot().Rectangle((box.low, box.low), size, size, fill=False, ec=box.colour))
    if found.arrows is not None:
        x, y, to_x, to_y = found.arrows.T
        axis.quiver(
            x, y, to_x - x, to_y - y, angles="xy", scale_units="xy", scale=1, width=0.002, color="#d55e00"
        )
    return figure


def pyplot() -> Any:
    """Return matplotlib's pyplot without a window; raise an error with the remedy if it is missing."""
    try:
        import matplotlib
    except ImportError:
        raise NALMError("Figures need matplotlib: pip install 'nalm[report]'.") from None
    matplotlib.use("Agg")
    from matplotlib import pyplot

    return pyplot


def save(figure: Any, path: Path) -> Path:
    """Write a figure, without the date, and close it."""
    plain = {"pdf": {"CreationDate": None}, "svg": {"Date": None}}.get(path.suffix[1:], {})
    figure.savefig(path, bbox_inches="tight", dpi=160, metadata=plain)
    pyplot().close(figure)
    return path


def _panels(group: Sequence[Summary], study: Study, looks: dict[str, tuple[str, str]]) -> Any:
    """Draw success, solved-at and sparsity error over the axis, with 95% intervals."""
    names, places = study.labels, study.places
    figure, axes = pyplot().subplots(3, 1, figsize=(7, 7), sharex=True)
    ranges = list(dict.fromkeys(places[s.case] for s in group))
    units = list(dict.fromkeys(names[s.case] for s in group))
    for axis, (name, title) in zip(axes, PANELS, strict=True):
        for k, unit in enumerate(units):
            shown = [s for s in group if names[s.case] == unit and getattr(s, name).n > 0]
            shift = (k - (len(units) - 1) / 2) * WIDTH / len(units)
            x = [ranges.index(places[s.case]) + shift for s in shown]
            found: list[Interval] = [getattr(s, name) for s in shown]
            y = np.array([i.estimate for i in found])
            ends = np.array([[i.estimate - i.low, i.high - i.estimate] for i in found]).reshape(-1, 2).T
            colour, symbol = looks[unit]
            style = {"fmt": MARKERS[symbol], "color": colour, "ms": 4, "lw": 1, "capsize": 1.5}
            axis.errorbar(x, y, np.nan_to_num(ends.clip(0), posinf=0), label=unit, **style)
        axis.set_ylabel(title)
        axis.grid(alpha=0.25)
        axis.set_ylim(*((-0.05, 1.05) if name == "success" else span(group, name)))
    axes[0].legend(ncols=4, fontsize=8, loc="lower center", bbox_to_anchor=(0.5, 1.0), frameon=False)
    axes[-1].set_xticks(range(len(ranges)), ranges, rotation=35, ha="right")
    return figure


def _curves(study: Study, group: Sequence[Summary], looks: dict[str, tuple[str, str]]) -> Any:
    """Draw the test error of every run: a panel per place on the axis, a colour per unit, a thin line per seed."""
    ranges = list(dict.fromkeys(study.places[s.case] for s in group))
    rows = -(-len(ranges) // 3)
    figure, axes = pyplot().subplots(
        rows, 3, figsize=(9.5, 2.4 * rows), sharex=True, squeeze=False, layout="constrained"
    )
    for axis, name in zip(axes.flat, ranges, strict=False):
        for s in group:
            key = s.case.key
            mine = [study.curves.get((key, o.seed)) for o in study.runs[key]]
            if study.places[s.case] == name:
                for curve in mine:
                    if curve is not None:
                        axis.plot(
                            curve["steps"],
                            curve["test"],
                            lw=0.4,
                            alpha=0.6,
                            color=looks[study.labels[s.case]][0],
                        )
                axis.plot([], [], color=looks[study.labels[s.case]][0], label=study.labels[s.case])
        axis.set_title(name, fontsize=9)
        axis.set_yscale("log")
        axis.grid(alpha=0.2)
    for axis in axes.flat[len(ranges) :]:
        axis.axis("off")
    axes.flat[0].legend(fontsize=6)
    figure.supxlabel("step", fontsize=9)
    figure.supylabel("test error", fontsize=9)
    return figure


def latex(group: Sequence[Summary], names: dict[Case, str], places: dict[Case, str]) -> str:
    """Format the table of the panels in LaTeX; it needs booktabs."""
    head = r"unit & trained on, or with & solved & solved at & sparsity error & $n$ \\"
    lines = [r"\begin{tabular}{llrrrr}", r"\toprule", head, r"\midrule"]
    for s in group:
        cells = [
            f"{s.success.estimate:.2f} [{s.success.low:.2f}, {s.success.high:.2f}]",
            _cell(s.solved_at, ".0f"),
            _cell(s.sparsity, ".1e"),
        ]
        words = [escaped(names[s.case]), escaped(places[s.case]), *cells, str(s.success.n)]
        lines.append(" & ".join(words) + r" \\")
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}"]) + "\n"


def _cell(i: Interval, form: str) -> str:
    if i.n == 0:
        return "--"
    ends = (
        f" [{i.low:{form}}, {i.high:{form}}]" if np.isfinite([i.low, i.high]).all() and i.low < i.high else ""
    )
    return f"{i.estimate:{form}}{ends}"


def escaped(text: str) -> str:
    """Escape text for LaTeX."""
    names = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    return "".join(names.get(c, f"\\{c}" if c in "&%$#_{}" else c) for c in text)
