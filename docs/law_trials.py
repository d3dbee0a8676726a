"""Tables of the trials of searches: noise, outliers, printed digits and historical tables, from the shipped results."""

import json
from pathlib import Path
from typing import Any

from tables import table

Row = dict[str, Any]
BEYOND = Path(__file__).parents[1] / "results" / "beyond"


def totals(name: str) -> list[Row]:
    """Return the totals of a shipped benchmark."""
    found: list[Row] = json.loads((BEYOND / f"{name}.json").read_text("utf-8"))["totals"]
    return found


def noise() -> str:
    """Return what is found and said under noise, beside Operon and gplearn."""
    ours = [row for row in totals("noisy") if not row["outliers"]]
    rivals = {(row["method"], row["noise"], row["rows"]): row["right"] for row in totals("noisy-rivals")}
    lines = [
        (
            f"{100 * row['noise']:g}%, {row['rows']:,}",
            f"{row['right']} of {row['laws']}",
            str(row["named"]),
            str(row["consistent"]),
            str(row["consistent_right"]),
            *(str(rivals[method, row["noise"], row["rows"]]) for method in ("operon", "gplearn")),
        )
        for row in ours
    ]
    head = ("noise, rows", "nalm finds", "finds or names", "`consistent`", "of these right or named")
    return table((*head, "Operon finds", "gplearn finds"), lines)


def outliers() -> str:
    """Return the laws that are still found if some rows are far off, and how many of these rows are named."""
    lines = [
        (
            f"{100 * row['noise']:g}%, {row['rows']:,}",
            f"{row['kept']} of {row['of']}",
            f"{100 * row['kept'] / row['of']:.0f}%",
            f"{100 * row['caught']:.0f}%",
            f"{row['consistent_right']} of {row['consistent']}",
        )
        for row in totals("noisy")
        if row["outliers"]
    ]
    head = ("noise, rows", "laws kept", "share", "outliers named", "`consistent` and right or named")
    return table(head, lines)


def printed() -> str:
    """Return the verdicts on rounded tables, of laws and of functions that no law equals."""
    lines = [
        (
            "Feynman laws that are exact in float64" if row["kind"] == "law" else f"no law: {row['kind']}",
            str(row["exact_unrounded"] if row["kind"] == "law" else row["tables"]),
            str(row["printed"]),
            str(row["false"]),
        )
        for row in totals("rounded")
    ]
    return table(("tables", "number", "`exact` or `exact to the printed digits`", "false"), lines)


def historical() -> str:
    """Return how often the textbook law stands first on historical tables and draws of them."""
    kinds = {"table": "the table", "rows": "rows drawn again", "redraw": "noise drawn again"}
    lines = [
        (
            row["table"].replace("_", " "),
            kinds[row["kind"]],
            f"{row['right']} of {row['draws']}",
            str(row["none"]),
            f"{row['slowest']:.1f} s",
        )
        for row in totals("empirical")
    ]
    return table(("table", "of what", "textbook law first", "verdict `none`", "slowest"), lines)


TABLES = {
    "laws_noise": noise,
    "laws_outliers": outliers,
    "laws_printed": printed,
    "laws_historical": historical,
}
