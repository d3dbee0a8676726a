"""The benchmarks shipped under results/beyond: one reader of their one format, and a view of each.

A benchmark is NAME.json with ``about``, ``totals`` and possibly further tables, beside NAME.trials.csv
(benchmarks/harness.py writes both). A benchmark without a view here is shown as a plain table of its totals.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from nalm import stats
from nalm.errors import NALMError
from nalm.report import figures
from nalm.report.figures import interval
from nalm.report.html import safe

Row = dict[str, Any]
FOLDER, TRIALS = "beyond", ".trials.csv"


def benchmarks(where: Path) -> list[Row]:
    """Return the benchmarks shipped with the results, in the order of VIEWS; others follow."""
    found: dict[str, Row] = {}
    for path in sorted((where / FOLDER).glob("*.json")):
        if path.with_suffix(TRIALS).is_file():
            block = _read(path)
            found[block["kind"]] = block
    return [found.pop(kind) for kind in VIEWS if kind in found] + list(found.values())


def _read(path: Path) -> Row:
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        about = document["about"]
        kind = str(about["benchmark"])
        view = VIEWS.get(kind, plain)
        kind = kind if kind in VIEWS else path.stem  # one benchmark may have been run in several ways
        block = {"kind": kind, "note": str(about["note"]), "command": str(about["command"])}
        return {"link": path.stem} | block | view(about, document)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, IndexError) as error:
        raise NALMError(f"{path} cannot be read ({error!r}): write it again with its benchmark.") from None


def plain(about: Row, document: Row) -> Row:
    """Show the totals of any benchmark as a table."""
    rows = [{name: str(value) for name, value in row.items()} for row in document["totals"]]
    return {"view": "plain", "columns": list(rows[0]), "rows": rows}


# -- the ladder -----------------------------------------------------------------------------------

COUNTED = ("problems", "certified", "right", "networks")


def ladder(about: Row, document: Row) -> Row:
    """Show the trials of the ladder; one row for both precisions."""
    rows: dict[tuple[str, str], Row] = {}
    for r in document["totals"]:
        cell = r["cell"].removesuffix(" float64").removesuffix(" float32")
        empty = {"suite": r["suite"], "cell": cell, **dict.fromkeys(COUNTED, 0)}
        row = rows.setdefault((r["suite"], cell), empty)
        row |= {name: row[name] + int(r[name]) for name in COUNTED}
        row |= {"seconds": float(r["seconds"]), "published_best": r["published_best"]}
    return {"link": "the ladder", "view": "ladder", "rows": list(rows.values())}


# -- compositions ---------------------------------------------------------------------------------


def compositions(about: Row, document: Row) -> Row:
    """Show the trials of compositions: a row per suite and formula, a cell per method."""
    rows: dict[tuple[str, str], Row] = {}
    for r in document["totals"]:
        cell = {
            "right": int(r["right"]),
            "problems": int(r["problems"]),
            "rate": interval(stats.wilson(int(r["right"]), int(r["problems"]))),
            "seconds": float(r["seconds"]),
        }
        row = rows.setdefault((r["suite"], r["cell"]), {"suite": r["suite"], "cell": r["cell"]})
        row |= {r["method"]: cell} | ({"formula": r["formula"]} if r["method"] == "composition" else {})
    return {"link": "compositions", "view": "compositions", "rows": list(rows.values())}


# -- trajectories ---------------------------------------------------------------------------------

MEASURED = ("right", "trials", "exponent_error", "rate_error", "new_starts", "seconds")


def trajectories(about: Row, document: Row) -> Row:
    """Show the trials on known systems: a row per system and level of noise, a cell per method."""
    rows: dict[tuple[str, float], Row] = {}
    for r in document["totals"]:
        key = (str(r["system"]), float(r["noise"]))
        row = rows.setdefault(key, {"system": key[0], "noise": key[1], "cells": {}})
        row["cells"][str(r["method"])] = {name: _number(r[name]) for name in MEASURED}
        if r["method"] == "nalm.ode":
            row |= {"formula": str(r["formula"]), "restarts": str(r["restarts"])}
    return {
        "link": "trajectories",
        "view": "trajectories",
        "rows": list(rows.values()),
        "methods": sorted({m for row in rows.values() for m in row["cells"]}),
        "published": {str(k): float(v) for k, v in about["published"].items()},
    }


def _number(value: Any) -> float | None:
    return None if value is None else float(value)


# -- the contest ----------------------------------------------------------------------------------

FITS = ("problems", "exact", "near", "certified", "consistent", "false_exact", "false_consistent")


def laws(about: Row, document: Row) -> Row:
    """Show the contest: every rival, a row per suite, part and variant."""
    rivals = list(about["methods"])
    groups: dict[tuple[str, str, str], list[Row]] = {}
    for r in document["totals"]:
        groups.setdefault((r["suite"], r["part"], r["variant"]), []).append(r)
    rows = [_contest_row(key, group) for key, group in groups.items()]
    return {
        "link": "the contest",
        "view": "laws",
        "rivals": [{"name": name, "about": str(about["methods"][name])} for name in rivals],
        "rows": rows,
        "speed": [
            {k: s[k] for k in ("suite", "rival", "problems", "low", "median", "high")}
            for s in document["speed"]
        ],
        "skipped": [str(reason) for reason in about["skipped"].values()],
        "made": f"{about['date']}, {about['cores']} cores",
        "figures": [_success(rows, rivals), _times(rows, rivals)],
    }


def _contest_row(key: tuple[str, str, str], group: list[Row]) -> Row:
    """Make a row of the table: without noise exact fits count as success, with noise near fits."""
    counted = "near" if key[2].startswith("noise") else "exact"
    cells: dict[str, Row] = {}
    for r in group:
        cells[str(r["rival"])] = {name: int(r[name]) for name in FITS} | {
            "success": int(r[counted]),
            "seconds": _number(r["seconds"]),
            "seconds_exact": _number(r["seconds_exact"]),
            "error": _number(r["error"]),
        }
    best = max((c["success"] / c["problems"] for c in cells.values()), default=0.0)
    for c in cells.values():
        c["best"] = best > 0 and c["success"] / c["problems"] == best
    return {"suite": key[0], "part": key[1], "variant": key[2], "counted": counted, "cells": cells}


def _label(row: Row) -> str:
    return " ".join(filter(None, (row["suite"], row["part"], row["variant"])))


def _success(rows: list[Row], rivals: list[str]) -> Row:
    """Draw the share of problems solved by each rival, for every suite and variant that has laws to find."""
    shown = [row for row in rows if row["suite"] != "outside"]
    looks = figures.colours(rivals)
    data = []
    for name in rivals:
        mine = [row for row in shown if name in row["cells"]]
        cells = [row["cells"][name] for row in mine]
        counts = [
            f"{c['success']} of {c['problems']} {r['counted']}" for c, r in zip(cells, mine, strict=True)
        ]
        data.append(
            {
                "type": "bar",
                "name": safe(name),
                "x": [safe(_label(row)) for row in mine],
                "y": [round(c["success"] / c["problems"], 4) for c in cells],
                "text": counts,
                "textposition": "none",
                "hovertemplate": "%{x}: %{text}",
                "marker": {"color": looks[name][0]},
            }
        )
    return {"data": data, "layout": _layout("share exact (noise: near)", {"range": [0, 1.02]}, rivals)}


def _times(rows: list[Row], rivals: list[str]) -> Row:
    """Draw the median seconds of the exact fits."""
    looks = figures.colours(rivals)
    data = []
    for name in rivals:
        mine = [row for row in rows if name in row["cells"] and row["cells"][name]["seconds_exact"]]
        data.append(
            {
                "type": "scatter",
                "mode": "markers",
                "name": safe(name),
                "x": [safe(_label(row)) for row in mine],
                "y": [row["cells"][name]["seconds_exact"] for row in mine],
                "text": [f"{row['cells'][name]['exact']} exact fits" for row in mine],
                "hovertemplate": "%{x}: %{y:.3g} s, %{text}",
                "marker": {"color": looks[name][0], "symbol": looks[name][1], "size": 8},
            }
        )
    axis = {"type": "log", "exponentformat": "power"}
    return {"data": data, "layout": _layout("seconds to an exact fit", axis, rivals)}


def _layout(title: str, axis: Row, names: list[str]) -> Row:
    layout = {
        "height": 360,
        "margin": {"l": 64, "r": 12, "b": 110},
        "barmode": "group",
        "xaxis": {"tickangle": -35},
        "yaxis": {"title": {"text": title}, **axis},
    }
    return figures.with_legend(layout, names, width=1_000)


VIEWS: dict[str, Callable[[Row, Row], Row]] = {
    "compositions": compositions,
    "ladder": ladder,
    "laws": laws,
    "trajectories": trajectories,
}
