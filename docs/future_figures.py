"""Figures of the page future-work.md: the answer of each study at a glance, from the numbers of its tables."""

import io
from collections.abc import Sequence
from typing import Any

import matplotlib
import numpy as np
from future_codes import COLUMNS, by_cell, read, reader, share_of
from future_coefficients import commonest, last_errors, modelled, weighed
from future_division import NAME, PENALISED
from future_measured import compared
from future_noise import distribution, noise_pairs
from future_own import best_published_pairs, chapter, computed, exchanges, sum_pairs
from future_plots import LIMIT, STYLE, Point, canvas, dots, legend, whiskers
from future_runs import counted
from future_scientific import FACTORS, scientific_cells
from future_selection import composed
from matplotlib.figure import Figure

from nalm.config.labels import loss_of, unit_of
from nalm.report.figures import COLOURS, colours
from nalm.report.static import MARKERS
from nalm.results.tally import Tally
from nalm.stats import Interval, mean, wilson

SOLVED, RUNS = "share of runs solved", "share of runs"
PARTS = dict.fromkeys(("centred", "log"), "centred or log")  # what the loss `paths` is made of
MIXED, RARER = "two codes", "rarer"  # of separate readers; of formulas that a tally does not keep
CODES = ("k", "c k", "-k", "c/k", "c k + d", "c k^p", MIXED, "another", "no number", RARER)
SMALLEST = 1e-8  # of errors on a logarithmic axis, which has a place for 0 below
GREYS = "#8c8c8c", "#404040", "#d9d9d9"
TINTS = dict(zip(CODES, (*(COLOURS[i] for i in (0, 5, 2, 1, 4, 3, 7)), *GREYS), strict=True))
Found = Sequence[Tally] | None  # made tallies; None is for the shipped ones


def noise() -> Figure:
    """Draw how much noise changes the share of solved runs; bold numbers are differences with p < 0.05."""
    pairs = noise_pairs()
    rows = sorted({(m.unit, m.inputs, distribution(m)) for _, m in pairs})
    ranges = list(dict.fromkeys(m.train for _, m in pairs))
    changes = np.zeros((len(rows), len(ranges)))
    figure, (axes,) = canvas(1, 0.26 * len(rows) + 1.1)
    for (o, m), (_, verdict) in zip(pairs, compared(pairs), strict=True):
        row, column = rows.index((m.unit, m.inputs, distribution(m))), ranges.index(m.train)
        changes[row, column] = change = m.success.estimate - o.success.estimate
        look = {"alpha": 0.6} if verdict == "no difference" else {"weight": "bold"}
        look["color"] = "white" if abs(change) > 0.6 else "black"
        words = f"{change:+.2f}" if abs(change) > 0.005 else "0"
        axes.text(column, row, words, ha="center", va="center", **look)
    drawn = axes.imshow(changes, vmin=-1, vmax=1, cmap="PuOr", aspect="auto")
    axes.set_xticks(range(len(ranges)), ranges, rotation=35, ha="right", rotation_mode="anchor")
    axes.set_yticks(range(len(rows)), [f"{unit}, {inputs} inputs, {kind}" for unit, inputs, kind in rows])
    figure.colorbar(drawn, label="change of the share solved")
    return figure


def division(found: Found = None) -> Figure:
    """Draw the median test errors of two layers without a penalty, and the thresholds."""
    points: list[Point] = []
    limits: list[Point] = []
    for t in counted(NAME) if found is None else found:
        unit, train, limit = unit_of(t.case), str(t.case.train), t.thresholds[0]
        points.append((unit, loss_of(t.case), train, t.errors["test"].median))
        limits.append((unit, LIMIT, train, Interval(limit, limit, limit, t.runs, "")))
    return dots([*points, *limits], "median test error", log=True)


def penalised(found: Found = None) -> Figure:
    """Draw the shares of two layers with a late penalty, by unit, loss and range."""
    tallies = counted(PENALISED) if found is None else found
    return dots([(unit_of(t.case), loss_of(t.case), str(t.case.train), t.success) for t in tallies], SOLVED)


def scientific() -> Figure:
    """Draw the shares of logarithms and of scientific encoding, by loss and range, and of a hundred factors."""
    found = [m for cell in scientific_cells() for m in cell.values()]
    points = [(f"loss {m.recipe.loss}", m.unit, m.train, m.success) for m in found]
    points += [
        (f"loss {t.case.recipe.loss}", unit_of(t.case), f"{t.case.train}, 100 factors", t.success)
        for t in counted(FACTORS)
    ]
    return dots(points, SOLVED)


def selection(found: Found = None) -> Figure:
    """Draw the mean number of compositions that a way of selecting solves, and the share of seeds that solve all."""
    points: list[Point] = []
    ends: dict[str, float] = {}
    for way, (own, counts) in composed(counted("beyond/selection") if found is None else found).items():
        solved, whole = f"compositions solved of {len(own)}", f"share of seeds that solve all {len(own)}"
        ends[solved] = len(own)
        points.append((solved, "", way, mean(counts)))
        points.append((whole, "", way, wilson(sum(count == len(own) for count in counts), len(counts))))
    return dots(points, "", ends=ends)


def coefficients(found: Found = None) -> Figure:
    """Draw how often models with coefficients are solved, and how often they end at their commonest formula."""
    points: list[Point] = []
    for t in counted("beyond/coefficients") if found is None else found:
        operation, units, penalty, train = modelled(t.case)
        key = units if penalty == "none" else f"{units} with {penalty}", f"{operation}, {train}"
        points.append(("solved", *key, t.success))
        if count := commonest(t)[1]:
            points.append(("have the commonest formula", *key, wilson(count, t.runs)))
    return dots(points, RUNS)


def discreteness(found: Found = None) -> Figure:
    """Draw the median test error against the noise of the training targets."""
    lines: dict[str, dict[str, dict[float, Interval]]] = {}
    for t in counted("beyond/discreteness") if found is None else found:
        operation, unit, weights = weighed(t.case)
        line = lines.setdefault(operation, {}).setdefault(f"{unit}, weights {weights}", {})
        line[t.case.task.noise] = last_errors(t) or t.errors["test"].median
    figure, panels = canvas(len(lines), 3.0)
    looks = colours([name for own in lines.values() for name in own])
    for axes, (operation, own) in zip(panels, lines.items(), strict=True):
        for k, (name, values) in enumerate(own.items()):
            x = np.array(list(values)) * 1.1**k  # lines side by side
            y = [interval.estimate for interval in values.values()]
            style = {"color": looks[name][0], "marker": MARKERS[looks[name][1]], "ms": 5, "lw": 1.2}
            axes.errorbar(x, y, whiskers(values.values()), label=name, **style)
        axes.set(title=operation, xscale="log")
        axes.set_yscale("symlog", linthresh=SMALLEST)
        axes.grid(alpha=0.25)
    panels[0].set_ylim(-SMALLEST / 2, 2)
    panels[0].set_ylabel("median test error")
    legend(figure, panels, "noise of the training targets, in their standard deviations")
    return figure


def invalid(found: Found = None) -> Figure:
    """Draw how often units learn to divide where some rows divide by 0, and how often they end in no number."""
    points: list[Point] = []
    for t in counted("beyond/invalid-outputs") if found is None else found:
        key = f"whole numbers {t.case.train}", f"{unit_of(t.case)}, loss {loss_of(t.case)}"
        lost = dict(t.formulas).get("", 0)
        points += [("solved", *key, t.success), ("ended in not-a-number", *key, wilson(lost, t.runs))]
    return dots(points, RUNS)


def codes(found: Found = None) -> Figure:
    """Draw the codes that readers learnt before a unit as parts of all runs, with the solved runs beside."""
    found = counted("beyond/code-before-unit") if found is None else found
    found = sorted(found, key=lambda tally: tally.case.operation)
    figure, (axes,) = canvas(1, 0.22 * len(found) + 1.0)
    drawn: dict[str, Any] = {}
    for row, tally in enumerate(found):
        told = read(tally)
        told[RARER] = tally.runs - told.total()
        told[MIXED] = sum(told.pop(code) for code in list(told) if code not in CODES)
        left = 0.0
        for code in (code for code in CODES if told[code]):
            width = told[code] / tally.runs
            drawn[code] = axes.barh(row, width, left=left, color=TINTS[code], edgecolor="white", lw=0.5)
            left += width
        axes.text(1.02, row, f"{tally.solved:,} of {tally.runs:,} solved", va="center")
    axes.set_yticks(range(len(found)), [", ".join(reader(t.case)).replace("`", "") for t in found])
    axes.set(xlim=(0, 1), ylim=(len(found) - 0.5, -0.5), xlabel=RUNS)
    axes.spines[["top", "right"]].set_visible(False)
    shown = [code for code in CODES if code in drawn]
    style = {"loc": "outside upper center", "handlelength": 1, "columnspacing": 1.2, "frameon": False}
    figure.legend([drawn[code] for code in shown], shown, ncols=len(shown), **style)
    return figure


def architectures(found: Found = None, usual: Found = None) -> Figure:
    """Draw how often readers of each size read the digits, and how often they are solved, before every unit."""
    cells = by_cell(found, usual)
    points: list[Point] = []
    for column in COLUMNS:  # first, so that the legend has their order
        series = column if column == COLUMNS[0] else f"{column} hidden units"
        for cell, own in cells.items():
            if column in own:
                key = series, ", ".join(cell)
                points.append(("read the digits", *key, share_of(own[column], "k")))
                points.append(("solved", *key, own[column].success))
    return dots(points, RUNS)


def own_unit() -> Figure:
    """Draw the cells in which the proposal and the best published unit differ with p < 0.05."""
    pairs = best_published_pairs()
    verdicts = [verdict for _, verdict in compared(pairs)]
    different = [pair for pair, verdict in zip(pairs, verdicts, strict=True) if verdict != "no difference"]
    points: list[Point] = []
    for o, m in sorted(different, key=lambda pair: pair[0].success.estimate):
        row = f"{computed(m)}, {m.inputs} inputs, {m.train} ({o.unit}, chapter {chapter(o)})"
        points += [("", "best published unit", row, o.success), ("", "NSPU", row, m.success)]
    return dots(points, SOLVED)


def sums() -> Figure:
    """Draw the shares of two layers that multiply sums: published, with the proposal, and with another loss."""
    points: list[Point] = []
    for o, ours, other in sum_pairs():
        shares = {
            "best published model": o,
            "NAU-NSPU, loss paths": ours,
            "NAU-NMU, loss projected": other,
        }
        points += [("", name, o.train, m.success) for name, m in shares.items()]
    return dots(points, SOLVED)


def losses() -> Figure:
    """Draw the shares of the NSPU and of published units with the losses of either, by operation and range."""
    found = exchanges()
    rivals = {m.operation: m.unit for m in found if m.unit != "NSPU"}
    points: list[Point] = []
    for m in found:
        panel, loss = f"{m.operation}\n({rivals[m.operation]})", PARTS.get(m.recipe.loss, m.recipe.loss)
        unit = "NSPU" if m.unit == "NSPU" else "published unit"
        points.append((panel, f"{unit}, {loss}", m.train, m.success))
    return dots(points, SOLVED)


FIGURES = {
    draw.__name__: draw
    for draw in (
        *(noise, division, penalised, scientific, selection, coefficients),
        *(discreteness, invalid, codes, architectures, own_unit, losses, sums),
    )
}


def svg(name: str) -> str:
    """Return a figure as SVG, the same text for the same data."""
    text = io.StringIO()
    with matplotlib.rc_context(STYLE):
        FIGURES[name]().savefig(text, format="svg", metadata={"Date": None})
    return text.getvalue()
