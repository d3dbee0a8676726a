"""Tables on a terminal of any width: no name is cut, and where columns do not fit a row is told line by line."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.table import Column, Table
    from rich.text import Text

LONGEST = 24  # letters of a word that is not broken; a formula may be longer


def show(part: "RenderableType", console: "Console | None" = None) -> None:
    """Print a table or a sentence."""
    from rich.console import Console
    from rich.table import Table

    console = console or Console()
    if not isinstance(part, Table):
        console.print(part)
        return
    needs = [_needed(column) for column in part.columns]
    if sum(needs) + _between(part, console) <= console.width:
        for column, need in zip(part.columns, needs, strict=True):
            column.overflow, column.min_width = "fold", need
        console.print(part)
        return
    for line in _records(part):
        console.print(line)


def _text(cell: "RenderableType") -> "Text":
    """A cell as it is read."""
    from rich.markup import render
    from rich.text import Text

    return render(cell) if isinstance(cell, str) else cell if isinstance(cell, Text) else Text(str(cell))


def _lines_of(column: "Column") -> list[str]:
    return [line for cell in (column.header, *column.cells) for line in _text(cell).plain.splitlines()]


def _widest(column: "Column") -> int:
    return max(map(len, _lines_of(column)), default=0)


def _needed(column: "Column") -> int:
    """Letters that a column needs so that it breaks no word, nor a line that is to stay whole."""
    if column.no_wrap:
        return _widest(column)
    return min(LONGEST, max((len(word) for line in _lines_of(column) for word in line.split()), default=1))


def _between(table: "Table", console: "Console") -> int:
    """Letters that a table takes beside its cells."""
    from rich.measure import Measurement

    whole = Measurement.get(console, console.options.update(width=10_000), table).maximum
    return whole - sum(max(_widest(column), column.min_width or 0) for column in table.columns)


def _records(table: "Table") -> "Iterator[RenderableType]":
    """A table whose columns do not fit: each row by its name, and every other cell behind its title."""
    from rich.padding import Padding
    from rich.text import Text

    if table.title:
        yield Text(_text(table.title).plain, style="italic")
    titles = [_text(column.header).plain for column in table.columns]
    for row in zip(*(column.cells for column in table.columns), strict=True):
        first, *rest = (_text(cell) for cell in row)
        yield Text(" ".join(first.plain.split()), style="bold", overflow="fold")
        for title, cell in zip(titles[1:], rest, strict=True):
            said = " ".join(cell.plain.split())
            if said:
                named = f"{title}: {said}" if title else said
                yield Padding(Text(named, overflow="fold"), (0, 0, 0, 2), expand=False)
