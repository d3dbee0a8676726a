"""Tables in Markdown, as the computed parts of the site have them."""

from collections.abc import Iterable, Sequence


def table(head: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """Return a table in Markdown; a bar within a cell, as in the range U[-2,-1)|[1,2), is no border."""
    rows = [head, ["---"] * len(head), *lines]
    cells = [[cell.replace("|", r"\|") for cell in row] for row in rows]
    return "".join(f"| {' | '.join(row)} |\n" for row in cells).replace(" of ", "\u00a0of\u00a0")


def equals(p: float) -> str:
    """Return "p = 0.02", or "p < 1e-300" where it is too small for a number."""
    return f"p = {p:.2g}" if p else "p < 1e-300"
