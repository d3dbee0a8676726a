"""Output of ``nalm fit``: as JSON, as text for a terminal, and as content of its page; parts serve ``nalm ode``."""

import re
import shutil
import sys
import textwrap
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from nalm.cli import screen
from nalm.files import json_number

if TYPE_CHECKING:
    import numpy as np

    from nalm.cli.tabular import Table
    from nalm.discover.regressor import NALMRegressor
    from nalm.discover.selection.intervals import FittedNumber

SHOWN = 8  # laws of the front beside the law


def to_json(found: "NALMRegressor", table: "Table", data: Path) -> dict[str, Any]:
    """Convert a fit to JSON; the fields of a single target are at the top level, several are in the list ``laws``."""
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
        "verdict": certificate.verdict.value,
        "tested": certificate.tested,
        "meaning": certificate.meaning,
        "held_out": certificate.rows,
        "domain": {name: list(ends) for name, ends in certificate.domain.items()},
        "renamed": {n: columns[n] for n in law.inputs if columns[n] != n},
        "r2": explained_share(*_values(found, table, k)),
        "constants": [_constant(c) for c in found.found_[k].equations[0].constants],
        "alternatives": list(certificate.alternatives),
        "candidates": _candidates(found, k),
    }


def _candidates(found: "NALMRegressor", k: int) -> list[dict[str, Any]]:
    """List the other laws of the front, best first."""
    return [
        {
            "formula": e.formula,
            "size": e.size,
            "error": json_number(e.error),
            "stage": e.stage,
            "worse": json_number(e.worse),
            "constants": [_constant(c) for c in e.constants],
        }
        for e in found.found_[k].equations[1 : SHOWN + 1]
    ]


def _constant(c: "FittedNumber") -> dict[str, Any]:
    ends = {name: json_number(getattr(c, name)) for name in ("error", "low", "high")}
    return {"name": c.name, "value": c.value, **ends}


def certainty(law: dict[str, Any]) -> list[str]:
    """Say how well each number of a law is known, and from which other forms the data cannot tell it."""
    sentences = []
    for c in law["constants"]:
        known = (
            f"in [{c['low']:.4g}, {c['high']:.4g}] with 95% confidence" if c["error"] else "not determined"
        )
        value = f"{c['name']} = {c['value']:.10g}" if c["name"] else f"{c['value']:.6g}"
        sentences.append(f"{value} is {known}.")
    if law["alternatives"]:
        sentences.append(f"The data cannot tell it from: {'; '.join(map(short, law['alternatives']))}.")
    return sentences


def short(formula: str) -> str:
    """Shorten the numbers of a formula to six digits, for tables.

    >>> short("2.0060666807*sqrt(x1) - 0.5")
    '2.00607*sqrt(x1) - 0.5'
    """
    return re.sub(r"\b\d+\.\d+(e[+-]?\d+)?", lambda m: f"{float(m[0]):.6g}", formula)


def _values(found: "NALMRegressor", table: "Table", k: int) -> "tuple[np.ndarray, np.ndarray]":
    """Return the target and the predictions of the law; NaN where their difference overflows."""
    import numpy as np

    assert table.y is not None  # a fit has a target
    with np.errstate(all="ignore"):
        y, predicted = table.y.reshape(len(table.x), -1)[:, k], found.laws_[k].predict(table.x)
        return y, np.where(np.isfinite(y - predicted), predicted, np.nan)


def explained_share(y: "np.ndarray", predicted: "np.ndarray") -> float | None:
    """Return the share of the variance of y that the law explains (R squared); None where y is constant."""
    import numpy as np

    with np.errstate(all="ignore"):
        spread = np.square(y - y.mean()).sum()
        share = float(1 - np.square(y - predicted).sum() / spread) if spread > 0 else np.nan
    return json_number(share)


def format_share(share: float | None) -> str:
    """Format a share of the variance as a sentence.

    >>> [format_share(0.123), format_share(0.99987), format_share(1.0), format_share(-3.0), format_share(None)]
    ['The law explains 12% of the variance.', 'The law explains 99.987% of the variance.',
     'The law explains all of the variance.', 'The law explains none of the variance.', '']
    """
    if share is None:
        return ""
    zeros = re.match("0*", f"{1 - share:.9f}"[2:])  # decimals of the unexplained share
    digits = len(zeros[0]) if zeros else 0
    word = "none" if share <= 0 else "all" if share > 1 - 1e-9 else f"{100 * share:.{digits}f}%"
    return f"The law explains {word} of the variance."


def page_content(found: "NALMRegressor", table: "Table", result: dict[str, Any]) -> dict[str, Any]:
    """Return the content of the page of a fit."""
    from nalm.report import fit_page

    laws = [
        law
        | {
            "explained": format_share(law["r2"]),
            "mathml": fit_page.mathml(found.laws_[k].sympy()),
            "certainty": certainty(law),
            "figures": fit_page.figures(law["target"], *_values(found, table, k)),
        }
        for k, law in enumerate(result.get("laws", [result]))
    ]
    return result | {"laws": laws}


def print_warnings(table: "Table") -> None:
    """Print which rows were dropped, and the warnings about the columns."""
    for sentence in [f"{table.dropped}."] * bool(table.dropped) + table.warnings:
        typer.echo(f"Note: {sentence}", err=True)


def print_result(found: "NALMRegressor", table: "Table", result: dict[str, Any]) -> None:
    """Print the law, its certificate, the other candidates and two plots, at most 80 columns wide."""
    from rich import box
    from rich.console import Console
    from rich.table import Table as Grid
    from rich.text import Text

    from nalm.cli import textplot
    from nalm.discover.law.names import shown

    braille = can_print("⠿")
    for k, law in enumerate(result.get("laws", [result])):
        typer.echo(f"\n  {shown(law['target'])} = {law['formula']}\n")
        typer.echo(fill(f"{law['verdict']}: {law['tested']} {law['meaning']}"))
        ranges = [f"{n} in [{a:.4g}, {b:.4g}]" for n, (a, b) in law["domain"].items()]
        if ranges:
            typer.echo(fill(f"Tested for {', '.join(ranges)}."))
        for name, column in law["renamed"].items():
            typer.echo(f"{name} is the column {column!r}.")
        if law["r2"] is not None and law["verdict"] != "exact":
            typer.echo(format_share(law["r2"]))
        for sentence in certainty(law):
            typer.echo(fill(sentence))
        if law["candidates"]:
            head = "symbols", "error", "worse by", "other laws"
            grid = Grid(*head, box=box.SIMPLE if braille else box.ASCII)
            for c in law["candidates"]:
                error, worse = ("-" if v is None else f"{v:.2g}" for v in (c["error"], c["worse"]))
                grid.add_row(str(c["size"]), error, worse, Text(short(c["formula"]), overflow="fold"))
            screen.show(grid, Console(width=columns(), emoji=False))
        y, predicted = _values(found, table, k)
        name = shown(law["target"])[:12]
        left = textplot.scatter(y, predicted, title=f"law over {name}", braille=braille)
        right = textplot.scatter(y, y - predicted, title=f"{name} - law, over {name}", braille=braille)
        side_by_side(left, right)


def columns() -> int:
    """Return the width for text: that of the terminal, at most 80."""
    return min(80, shutil.get_terminal_size().columns)


def fill(text: str) -> str:
    """Break a paragraph into lines, between words only."""
    return textwrap.fill(text, columns(), break_long_words=False, break_on_hyphens=False)


def side_by_side(left: list[str], right: list[str]) -> None:
    """Print two plots beside each other, or one below the other where the terminal is narrow."""
    from nalm.cli import textplot

    both = textplot.beside(left, right)
    typer.echo("\n".join(both if max(map(len, both)) <= columns() else [*left, *right]))


def can_print(text: str) -> bool:
    """Tell whether standard output can show these characters."""
    try:
        text.encode(getattr(sys.stdout, "encoding", None) or "ascii")
    except (UnicodeError, LookupError):
        return False
    return True


@contextmanager
def elapsed_time(max_time: float, after: float = 2.0) -> Iterator[None]:
    """Show the elapsed time of a search on one line of a terminal, and wipe the line at the end."""
    done, began = threading.Event(), time.monotonic()

    def tick() -> None:
        if done.wait(after):
            return
        while not done.wait(0.5):
            sys.stderr.write(f"\rSearching: {time.monotonic() - began:.0f} s of at most {max_time:g} s ")
            sys.stderr.flush()
        sys.stderr.write("\r\x1b[K")

    thread = threading.Thread(target=tick, daemon=True)
    if sys.stderr.isatty():
        thread.start()
    try:
        yield
    finally:
        done.set()
        if thread.is_alive():
            thread.join()
