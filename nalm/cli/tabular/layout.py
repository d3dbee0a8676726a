"""The layout of a file of text: the lines above its header, the separator, and how decimals are written."""

import re

POINT = re.compile(r"[+-]?\d*\.\d+([eE][+-]?\d+)?")
COMMA = re.compile(r"[+-]?\d*,\d+([eE][+-]?\d+)?|[+-]?\d{1,3}(\.\d{3})+,\d+")
GROUPS = re.compile(r"[+-]?\d{1,3}(\.\d{3})+")  # thousands, where decimals follow a comma
FEWEST = 4  # lines of a table below a preamble


def separator(lines: list[str], ending: str) -> str:
    """Guess the separator: the character that occurs equally often on every line, if there is one."""
    if ending in (".tsv", ".tab"):
        return "\t"
    bare = [re.sub(r'"[^"]*"', "", line) for line in lines]
    for sign in "\t;,":
        if bare[0].count(sign) and all(line.count(sign) == bare[0].count(sign) for line in bare):
            return sign
    most = max(";,\t", key=bare[0].count)
    if most in bare[0]:
        return most
    return " " if any(" " in line.strip() for line in bare) else ","


def preamble(lines: list[str]) -> int:
    """Return how many lines stand above a header: all lines below have as many cells as it, and numbers.

    >>> preamble(["Device: X", "a,b", "1,2", "3,4", "5,6"]), preamble(["a,b", "1,2", "3,4", "5,6"])
    (1, 0)
    """
    bare = [re.sub(r'"[^"]*"', "", line) for line in lines]
    for sign in "\t;,":
        count = bare[-1].count(sign)
        above = next(
            (k for k in range(len(bare)) if all(b.count(sign) == count for b in bare[k:])), len(bare)
        )
        rows = [re.split(sign, line.strip()) for line in lines[above:]]
        if not count or not above or len(rows) < FEWEST:
            continue
        if any(is_number(c, False) for c in rows[0]):
            continue
        if all(any(is_number(c.strip('"'), sign == ";") for c in row) for row in rows[2:]):
            return above
    return 0


def only_commas(cells: list[str]) -> bool:
    """Return whether decimals follow a comma in these cells."""
    points = [c for c in cells if POINT.fullmatch(c) and not GROUPS.fullmatch(c)]
    return any(map(COMMA.fullmatch, cells)) and not points


def is_number(text: str, comma: bool) -> bool:
    """Return whether a cell of a header is a number."""
    try:
        float(text.replace(",", ".") if comma else text)
    except ValueError:
        return False
    return text.casefold() not in ("nan", "inf", "infinity")  # these may be names
