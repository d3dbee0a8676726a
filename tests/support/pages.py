"""The page future-work.md as its tests read it: its sentences, and the cells of its tables."""

from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"


def sentences():
    """Return the text of the page, with one space between any two words."""
    return " ".join((DOCS / "future-work.md").read_text("utf-8").split())


def lines_of(table):
    """Return the cells of a table, row by row."""
    rows = [line for line in table.replace("\u00a0", " ").splitlines()[2:] if line.startswith("|")]
    return [row.strip("| ").split(" | ") for row in rows]


def columns_of(table):
    """Return the names of a table's columns."""
    return table.splitlines()[0].strip("| ").split(" | ")


def number(cell):
    """Return the first number of a cell, as 1000 of "1,000 of 1,000 [0.996, 1.000]"."""
    return int(cell.split(" ")[0].replace(",", ""))
