"""The style of every table on a terminal: a line below the titles, and no frame."""

from rich import box
from rich.table import Table


def grid(*titles: str, title: str | None = None, footer: bool = False) -> Table:
    """Return an empty table with columns of these titles; others can be added to it."""
    return styled(Table(*titles, title=title, title_justify="left", show_footer=footer))


def styled(table: Table) -> Table:
    """Set the style that all tables have, and return the table."""
    table.box, table.pad_edge, table.padding = box.SIMPLE_HEAD, False, (0, 1, 0, 0)
    return table
