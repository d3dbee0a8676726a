"""The contest of equation discovery as the page shows it: every rival, wins and losses alike."""

import json
from pathlib import Path
from typing import Any

from nalm.errors import NALMError
from nalm.report import figures

NUMBERS = ("problems", "exact", "near", "certified", "consistent", "false_exact", "false_consistent")
Row = dict[str, Any]


def contest(where: Path) -> dict[str, Any] | None:
    """The contest shipped with the results, if there is one."""
    path = where / "beyond" / "laws.json"
    if not path.exists():
        return None
    try:
        about = json.loads(path.read_text(encoding="utf-8"))
        rivals = list(about["rivals"])
        rows = [_row(key, group) for key, group in _groups(about["totals"]).items()]
        return {
            "rivals": [{"name": name, "about": str(about["rivals"][name])} for name in rivals],
            "rows": rows,
            "speed": [
                {k: s[k] for k in ("suite", "rival", "problems", "low", "median", "high")}
                for s in about["speed"]
            ],
            "skipped": [str(reason) for reason in about["skipped"].values()],
            "note": str(about["note"]),
            "command": str(about["command"]),
            "made": f"{about['date']}, {about['cores']} cores",
            "figures": [success(rows, rivals), times(rows, rivals)],
        }
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise NALMError(f"{path} cannot be read: {error}.") from None


def _groups(totals: list[Row]) -> dict[tuple[str, str, str], list[Row]]:
    found: dict[tuple[str, str, str], list[Row]] = {}
    for r in totals:
        found.setdefault((r["suite"], r["part"], r["variant"]), []).append(r)
    return found


def _row(key: tuple[str, str, str], group: list[Row]) -> Row:
    """One line of the table: without noise a success is an exact fit, under noise a near one."""
    counted = "near" if key[2].startswith("noise") else "exact"
    cells: dict[str, dict[str, Any]] = {}
    for r in group:
        cells[str(r["rival"])] = {name: int(r[name]) for name in NUMBERS} | {
            "success": int(r[counted]),
            "seconds": _number(r["seconds"]),
            "seconds_exact": _number(r["seconds_exact"]),
            "error": _number(r["error"]),
        }
    best = max((c["success"] / c["problems"] for c in cells.values()), default=0.0)
    for c in cells.values():
        c["best"] = best > 0 and c["success"] / c["problems"] == best
    return {"suite": key[0], "part": key[1], "variant": key[2], "counted": counted, "cells": cells}


def _number(value: Any) -> float | None:
    return None if value is None else float(value)


def _label(row: Row) -> str:
    return " ".join(filter(None, (row["suite"], row["part"], row["variant"])))


def success(rows: list[Row], rivals: list[str]) -> dict[str, Any]:
    """Share of problems solved by rival, for every suite and variant that has laws to find."""
    shown = [row for row in rows if row["suite"] != "outside"]
    looks = figures.colours(rivals)
    data = []
    for name in rivals:
        mine = [row for row in shown if name in row["cells"]]
        cells = [row["cells"][name] for row in mine]
        data.append(
            {
                "type": "bar",
                "name": figures.safe(name),
                "x": [figures.safe(_label(row)) for row in mine],
                "y": [round(c["success"] / c["problems"], 4) for c in cells],
                "text": [
                    f"{c['success']} of {c['problems']} {r['counted']}"
                    for c, r in zip(cells, mine, strict=True)
                ],
                "textposition": "none",
                "hovertemplate": "%{x}: %{text}",
                "marker": {"color": looks[name][0]},
            }
        )
    return {"data": data, "layout": _layout("share exact (noise: near)", {"range": [0, 1.02]}, rivals)}


def times(rows: list[Row], rivals: list[str]) -> dict[str, Any]:
    """Median seconds of the exact fits."""
    looks = figures.colours(rivals)
    data = []
    for name in rivals:
        mine = [row for row in rows if name in row["cells"] and row["cells"][name]["seconds_exact"]]
        data.append(
            {
                "type": "scatter",
                "mode": "markers",
                "name": figures.safe(name),
                "x": [figures.safe(_label(row)) for row in mine],
                "y": [row["cells"][name]["seconds_exact"] for row in mine],
                "text": [f"{row['cells'][name]['exact']} exact fits" for row in mine],
                "hovertemplate": "%{x}: %{y:.3g} s, %{text}",
                "marker": {"color": looks[name][0], "symbol": looks[name][1], "size": 8},
            }
        )
    axis = {"type": "log", "exponentformat": "power"}
    return {"data": data, "layout": _layout("seconds to an exact fit", axis, rivals)}


def _layout(title: str, axis: dict[str, Any], names: list[str]) -> dict[str, Any]:
    layout = {
        "height": 360,
        "margin": {"l": 64, "r": 12, "b": 110},
        "barmode": "group",
        "xaxis": {"tickangle": -35},
        "yaxis": {"title": {"text": title}, **axis},
    }
    return figures.with_legend(layout, names, width=1_000)
