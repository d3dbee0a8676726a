"""Small scatter plots of characters, for a terminal."""

from collections.abc import Sequence
from itertools import zip_longest

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]

# bits of the dots of a braille character, by row and column
DOTS = np.array([[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]])
DENSITY = " .:*#"  # one, few, many points in a place, where there is no braille
CURVE = "·", "-"  # a line, in places without points; the second where there is no braille


def scatter(
    x: ArrayLike,
    y: ArrayLike,
    *,
    curve: tuple[ArrayLike, ArrayLike] | None = None,
    title: str = "",
    width: int = 39,
    height: int = 10,
    braille: bool = True,
) -> list[str]:
    """Draw points in text, at most ``width`` wide: a title, ``height`` lines, and the ends of both axes.

    Points that are not finite are left out. ``curve`` is a line through many points, drawn behind the others.

    >>> print("\\n".join(scatter([0, 1, 2], [0, 1, 4], width=16, height=3, title="y over x")))
    y over x
     4 │           ⠈
       │
     0 │⡀     ⠁
       └────────────
        0          2
    """
    x, y = np.asarray(x, np.float64).ravel(), np.asarray(y, np.float64).ravel()
    shown = np.isfinite(x) & np.isfinite(y)
    if not shown.any():
        return [title[:width], "(no points)"[:width]]
    along, values = (np.asarray(v, np.float64).ravel() for v in curve or ((), ()))
    there = np.isfinite(along) & np.isfinite(values)
    along, values = along[there], values[there]
    (left, right), (low, high) = _ends(np.r_[x[shown], along]), _ends(np.r_[y[shown], values])
    ends = [f"{high:.3g}", f"{low:.3g}"]
    margin = max(map(len, ends)) + 1
    inner = width - margin - 2
    across, down = (
        _places(x[shown], left, right, inner, braille),
        _places(y[shown], low, high, height, braille, 4),
    )
    field = _braille(across, down, inner, height) if braille else _signs(across, down, inner, height)
    if len(along):
        places = _places(along, left, right, inner, False), _places(values, low, high, height, False)
        field = _behind(field, *places, CURVE[not braille])
    bar, corner, line = ("│", "└", "─") if braille else ("|", "+", "-")
    labels = [ends[0], *[""] * (height - 2), ends[1]] if height > 1 else [ends[0]]
    if low == high:
        labels = [ends[0] if k == (height - 1) // 2 else "" for k in range(height)]
    lines = [f"{label:>{margin}} {bar}{row}".rstrip() for label, row in zip(labels, field, strict=True)]
    first, last = f"{left:.3g}", f"{right:.3g}"
    axis = first if left == right else f"{first}{last:>{max(inner - len(first), len(last) + 1)}}"
    return [title[:width], *lines, " " * (margin + 1) + corner + line * inner, " " * (margin + 2) + axis]


def _behind(field: list[str], across: NDArray[np.intp], down: NDArray[np.intp], sign: str) -> list[str]:
    """Draw signs where a field is empty."""
    cells = [list(row) for row in field]
    for i, j in zip((len(field) - 1 - down).tolist(), across.tolist(), strict=True):
        if cells[i][j] == " ":
            cells[i][j] = sign
    return ["".join(row) for row in cells]


def beside(left: Sequence[str], right: Sequence[str], width: int = 41) -> list[str]:
    """Put two plots on the same lines, the second from column ``width`` on.

    >>> beside(["a", "b"], ["c"], 4)
    ['a   c', 'b']
    """
    return [f"{a:<{width}}{b}".rstrip() for a, b in zip_longest(left, right, fillvalue="")]


def _ends(values: Array) -> tuple[float, float]:
    return float(values.min()), float(values.max())


def _places(
    values: Array, low: float, high: float, cells: int, braille: bool, dots: int = 2
) -> NDArray[np.intp]:
    """Return the dot, or the character, that each value falls on; the middle one if both ends are equal."""
    count = cells * dots if braille else cells
    if low == high:
        return np.full(len(values), count // 2, np.intp)
    share = (values / 2 - low / 2) / (high / 2 - low / 2)  # halved: the span of two numbers may overflow
    return np.rint(share * (count - 1)).astype(np.intp)


def _braille(across: NDArray[np.intp], down: NDArray[np.intp], width: int, height: int) -> list[str]:
    down = 4 * height - 1 - down
    cells = np.zeros((height, width), np.int64)
    np.bitwise_or.at(cells, (down // 4, across // 2), DOTS[down % 4, across % 2])
    return ["".join(chr(0x2800 + c) if c else " " for c in row) for row in cells.tolist()]


def _signs(across: NDArray[np.intp], down: NDArray[np.intp], width: int, height: int) -> list[str]:
    counts = np.zeros((height, width), np.int64)
    np.add.at(counts, (height - 1 - down, across), 1)
    level = np.minimum(np.ceil(np.log2(counts + 1)).astype(int), len(DENSITY) - 1)
    return ["".join(DENSITY[k] for k in row) for row in level.tolist()]
