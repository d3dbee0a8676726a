"""Print tables on a terminal of any width: no name is cut; if the columns do not fit, a row takes several lines."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.table import Column, Table
    from rich.text import Text

LONGEST = 24  # characters of a word that is never broken; longer ones are formulas


def show(part: "RenderableType", console: "Console | None" = None) -> None:
    """Print a table or a sentence."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = console or Console()
    if isinstance(part, Text) and part.no_wrap:  # a line that is cut at the edge of the terminal
        console.print(part, no_wrap=True, overflow=part.overflow, crop=True)
        return
    if not isinstance(part, Table):
        console.print(part)
        return
    needs = [_needed(column) for column in part.columns]
    if sum(needs) + _frame_width(part, console) <= console.width:
        for column, need in zip(part.columns, needs, strict=True):
            column.overflow, column.min_width = "fold", need
        console.print(part)
        return
    for line in _records(part):
        console.print(line)


def say(sentence: str) -> None:
    """Print a sentence as it is, wrapped between words."""
    from rich.console import Console
    from rich.text import Text

    Console().print(Text(sentence))


def _text(cell: "RenderableType") -> "Text":
    """Return a cell without markup."""
    from rich.markup import render
    from rich.text import Text

    return render(cell) if isinstance(cell, str) else cell if isinstance(cell, Text) else Text(str(cell))


def _lines_of(column: "Column") -> list[str]:
    return [line for cell in (column.header, *column.cells) for line in _text(cell).plain.splitlines()]


def _widest(column: "Column") -> int:
    return max(map(len, _lines_of(column)), default=0)


def _needed(column: "Column") -> int:
    """Return the width that a column needs so that no word is broken, nor any line of a ``no_wrap`` column."""
    if column.no_wrap:
        return _widest(column)
    return min(LONGEST, max((len(word) for line in _lines_of(column) for word in line.split()), default=1))


def _frame_width(table: "Table", console: "Console") -> int:
    """Return the width of borders and padding of a table."""
    from rich.measure import Measurement

    whole = Measurement.get(console, console.options.update(width=10_000), table).maximum
    return whole - sum(max(_widest(column), column.min_width or 0) for column in table.columns)


def _records(table: "Table") -> "Iterator[RenderableType]":
    """Yield each row of a table as several lines: the first cell, then ``title: cell`` for each other."""
    from rich.padding import Padding
    from rich.text import Text

    if table.title:
        yield Text(_text(table.title).plain, style="italic")
    titles = [_text(column.header).plain for column in table.columns]
    for row in zip(*(column.cells for column in table.columns), strict=True):
        first, *rest = (_text(cell) for cell in row)
        yield Text(" ".join(first.plain.split()), style="bold", overflow="fold")
        for title, cell in zip(titles[1:], rest, strict=True):
            text = " ".join(cell.plain.split())
            if text:
                named = f"{title}: {text}" if title else text
                yield Padding(Text(named, overflow="fold"), (0, 0, 0, 2), expand=False)
