"""What a fit says: as plain values, as text for a terminal, and for its page."""

import re
import shutil
import sys
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from nalm.cli import screen

if TYPE_CHECKING:
    import numpy as np

    from nalm.cli.tabular import Table
    from nalm.discover.regressor import NALMRegressor

SHOWN = 5  # candidates beside the law
MEANING = {
    "exact": "On every row the law differs from the data by no more than rounding, also on rows the search "
    "never saw, and a further term of natural size would have shown. Outside the ranges it was tested for "
    "it is an extrapolation.",
    "consistent": "What the law leaves looks like noise: no further term was found in it. This is weaker than "
    "exact: another law may fit as well, above all with few rows.",
    "none": "Nothing is proven: this is the best of the laws that were tried. Do not trust it beyond these rows.",
}


def plain(found: "NALMRegressor", table: "Table", data: Path) -> dict[str, Any]:
    """A fit as JSON: of one target the law's fields lie at the top, of several in a list called laws."""
    laws = [_law(found, table, k) for k in range(len(found.laws_))]
    return {
        "file": data.name,
        **(laws[0] if len(laws) == 1 else {"laws": laws}),
        "columns": list(table.names),
        "rows": len(table.x),
        "warnings": table.warnings,
        "dropped": table.dropped,
        "seconds": round(float(found.seconds_), 3),
    }


def _law(found: "NALMRegressor", table: "Table", k: int) -> dict[str, Any]:
    law, certificate = found.laws_[k], found.found_[k].certificate
    columns = dict(zip(found.names_, table.names, strict=True))
    return {
        "target": table.targets[k],
        "formula": str(law),
        "latex": law.latex(),
        "python": law.python(),
        "verdict": certificate.verdict,
        "tested": certificate.tested,
        "meaning": MEANING[certificate.verdict],
        "held_out": certificate.rows,
        "domain": {name: list(ends) for name, ends in certificate.domain.items()},
        "renamed": {n: columns[n] for n in law.inputs if columns[n] != n},
        "r2": r2(*_values(found, table, k)),
        "candidates": _others(found, k),
    }


def _others(found: "NALMRegressor", k: int) -> list[dict[str, Any]]:
    """What else was considered, best first; of laws that differ in late digits only the first."""
    seen, others = {short(str(found.laws_[k]))}, []
    for e in found.found_[k].equations:
        if short(e.formula) not in seen:
            seen.add(short(e.formula))
            others.append({"formula": e.formula, "size": e.size, "error": _finite(e.error), "stage": e.stage})
    return others[:SHOWN]


def short(formula: str) -> str:
    """A formula with at most six digits per number, for tables.

    >>> short("2.0060666807*sqrt(x1) - 0.5")
    '2.00607*sqrt(x1) - 0.5'
    """
    return re.sub(r"\b\d+\.\d+(e[+-]?\d+)?", lambda m: f"{float(m[0]):.6g}", formula)


def _finite(value: float) -> float | None:
    return float(value) if abs(value) < float("inf") else None  # nor is NaN below it


def _values(found: "NALMRegressor", table: "Table", k: int) -> "tuple[np.ndarray, np.ndarray]":
    """The target, and what the law makes of the rows; NaN where that is too large to compare."""
    import numpy as np

    assert table.y is not None  # a fit has a target
    with np.errstate(all="ignore"):
        y, predicted = table.y.reshape(len(table.x), -1)[:, k], found.laws_[k].predict(table.x)
        return y, np.where(np.isfinite(y - predicted), predicted, np.nan)


def r2(y: "np.ndarray", predicted: "np.ndarray") -> float | None:
    """The share of the variance of y that the law explains; None where there is none."""
    import numpy as np

    with np.errstate(all="ignore"):
        spread = np.square(y - y.mean()).sum()
        share = float(1 - np.square(y - predicted).sum() / spread) if spread > 0 else np.nan
    return _finite(share)


def explained(share: float | None) -> str:
    """A share of the variance in a sentence.

    >>> [explained(0.123), explained(0.99987), explained(1.0), explained(-3.0), explained(None)]
    ['The law explains 12% of the variance.', 'The law explains 99.987% of the variance.',
     'The law explains all of the variance.', 'The law explains none of the variance.', '']
    """
    if share is None:
        return ""
    zeros = re.match("0*", f"{1 - share:.9f}"[2:])  # of what is not explained, behind the point
    digits = len(zeros[0]) if zeros else 0
    word = "none" if share <= 0 else "all" if share > 1 - 1e-9 else f"{100 * share:.{digits}f}%"
    return f"The law explains {word} of the variance."


def page(found: "NALMRegressor", table: "Table", told: dict[str, Any]) -> dict[str, Any]:
    """What the page of a fit shows."""
    from nalm.report import fit_page as pages

    laws = [
        law
        | {
            "explained": explained(law["r2"]),
            "mathml": pages.mathml(found.laws_[k].sympy()),
            "figures": pages.figures(law["target"], *_values(found, table, k)),
        }
        for k, law in enumerate(told.get("laws", [told]))
    ]
    return told | {"laws": laws}


def beware(table: "Table") -> None:
    """Print what was dropped and what to beware of."""
    for sentence in [f"{table.dropped}."] * bool(table.dropped) + table.warnings:
        typer.echo(f"Note: {sentence}", err=True)


def show(found: "NALMRegressor", table: "Table", told: dict[str, Any]) -> None:
    """Print the law, what is proven of it, what else was considered, and how it fits; at most 80 columns wide."""
    from rich import box
    from rich.console import Console
    from rich.table import Table as Grid
    from rich.text import Text

    from nalm.cli import tabular, textplot

    braille = can_print("⠿")
    for k, law in enumerate(told.get("laws", [told])):
        typer.echo(f"\n  {tabular.shown(law['target'])} = {law['formula']}\n")
        typer.echo(fill(f"{law['verdict']}: {law['tested']} {law['meaning']}"))
        ranges = [f"{n} in [{a:.4g}, {b:.4g}]" for n, (a, b) in law["domain"].items()]
        if ranges:
            typer.echo(fill(f"Tested for {', '.join(ranges)}."))
        for name, column in law["renamed"].items():
            typer.echo(f"{name} is the column {column!r}.")
        if law["r2"] is not None and law["verdict"] != "exact":
            typer.echo(explained(law["r2"]))
        if law["candidates"]:
            grid = Grid("symbols", "error", "other laws considered", box=box.SIMPLE if braille else box.ASCII)
            for c in law["candidates"]:
                error = "-" if c["error"] is None else f"{c['error']:.2g}"
                grid.add_row(str(c["size"]), error, Text(short(c["formula"]), overflow="fold"))
            screen.show(grid, Console(width=columns(), emoji=False))
        y, predicted = _values(found, table, k)
        name = tabular.shown(law["target"])[:12]
        left = textplot.scatter(y, predicted, title=f"law over {name}", braille=braille)
        right = textplot.scatter(y, y - predicted, title=f"{name} - law, over {name}", braille=braille)
        side_by_side(left, right)


def columns() -> int:
    """How wide a text is: as the terminal, up to 80 letters."""
    return min(80, shutil.get_terminal_size().columns)


def fill(text: str) -> str:
    """A paragraph, broken into lines between words."""
    return textwrap.fill(text, columns(), break_long_words=False, break_on_hyphens=False)


def side_by_side(left: list[str], right: list[str]) -> None:
    """Print two plots beside each other, or one below the other where the terminal is narrow."""
    from nalm.cli import textplot

    both = textplot.beside(left, right)
    typer.echo("\n".join(both if max(map(len, both)) <= columns() else [*left, *right]))


def can_print(text: str) -> bool:
    """Whether standard output can show these characters."""
    try:
        text.encode(getattr(sys.stdout, "encoding", None) or "ascii")
    except (UnicodeError, LookupError):
        return False
    return True
