"""Output of ``nalm fit`` on a terminal; parts serve ``nalm ode``."""

import shutil
import sys
import textwrap
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import typer

from nalm.cli import screen
from nalm.cli.fit_output import along_column, certainty, covered, values
from nalm.cli.fit_words import format_share, short

if TYPE_CHECKING:
    from nalm.cli.tabular import Table
    from nalm.discover.discovery import FittedLaw
    from nalm.discover.regressor import NALMRegressor

WIDE = 72  # columns of a terminal in which the verdicts of other laws have room


def print_warnings(table: "Table") -> None:
    """Print which rows were dropped, and the warnings about the columns."""
    for sentence in [f"{table.dropped}."] * bool(table.dropped) + table.warnings:
        typer.echo(f"Note: {sentence}", err=True)


def print_result(found: "NALMRegressor", table: "Table", result: dict[str, Any]) -> None:
    """Print the law, its certificate, the other candidates and two plots, at most 80 columns wide."""
    import numpy as np
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
        if law["groups"] is not None:
            print_groups(law["groups"], braille)
        if law["candidates"]:
            tested = ["verdict"] if columns() >= WIDE else []
            grid = Grid(
                "symbols",
                "error",
                "worse by",
                *tested,
                "other laws",
                box=box.SIMPLE if braille else box.ASCII,
            )
            for c in law["candidates"]:
                error, worse = ("-" if v is None else f"{v:.2g}" for v in (c["error"], c["worse"]))
                cells = [str(c["size"]), error, worse, *([c["verdict"] or "-"] if tested else [])]
                grid.add_row(*cells, Text(short(c["formula"]), overflow="fold"))
            screen.show(grid, Console(width=columns(), emoji=False))
        y, predicted = values(found, table, k)
        name = shown(law["target"])[:12]
        left = textplot.scatter(y, predicted, title=f"law over {name}", braille=braille)
        if (along := along_column(found, table, k)) is not None:
            i, rows = along
            title = f"{name} and law over {shown(table.names[i])}"
            with np.errstate(all="ignore"):
                curve = rows[:, i], found.found_[k].predict(rows)
            left = textplot.scatter(table.x[:, i], y, curve=curve, title=title, braille=braille)
        right = textplot.scatter(y, y - predicted, title=f"{name} - law, over {name}", braille=braille)
        side_by_side(left, right)
        if along is None and (sentence := covered(found, table, law, k)):
            typer.echo(fill(sentence))


def print_groups(groups: dict[str, list[dict[str, Any]]], boxes: bool) -> None:
    """Print a row of own constants for each group, with their intervals."""
    from rich import box
    from rich.console import Console
    from rich.table import Table as Grid
    from rich.text import Text

    names = [c["name"] for c in next(iter(groups.values()))]
    if not names:
        typer.echo("No number differs between the groups.")
        return
    grid = Grid("group", *names, box=box.SIMPLE if boxes else box.ASCII)
    for label, own in groups.items():
        cells = [f"{c['value']:.5g} [{c['low']:.4g}, {c['high']:.4g}]" for c in own]
        grid.add_row(Text(label, overflow="fold"), *cells)
    screen.show(grid, Console(width=columns(), emoji=False))


def print_code(code: str | list[str], found: "NALMRegressor | None" = None) -> None:
    """Print a law as source to paste, or the laws of several targets; of ``found`` say which cell is which column."""
    for k, text in enumerate([code] if isinstance(code, str) else code):
        above = "" if found is None else fill(cells(found.found_[k])) + "\n"
        typer.echo(f"\n{above}{text.rstrip()}")


def cells(found: "FittedLaw") -> str:
    """Return a sentence: which cells of a spreadsheet hold the columns and own constants of the formula."""
    from nalm.discover.law.code import excel_cells

    own = () if found.groups is None else found.groups.names
    where = {n: cell for n, cell in excel_cells(found.law).items() if n in found.law.inputs}
    listed = [
        f"{cell} is {n}" + (", the own constant of its group" if n in own else "")
        for n, cell in where.items()
    ]
    return f"In the formula {'; '.join(listed)}." if listed else "The formula has no column."


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
    """Return whether standard output can show these characters."""
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
