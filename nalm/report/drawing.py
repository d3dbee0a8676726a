"""Drawings of units as SVG, made from the contract: inputs, weights with their grid, operations, output."""

import inspect
from collections.abc import Sequence
from html import escape

from torch import Generator

from nalm.operations import OPERATIONS
from nalm.units.base import Unit
from nalm.units.spelling import letters

WIDTH, ROW, LETTER = 680, 20, 7  # at least this wide; a row of the list; a letter
LEFT, FIRST, APART = 34, 118, 96  # centres: the inputs, the first column of weights, the columns
TOP, GAP = 12, 72  # centres of the first input and of the next
LARGE = 1e6  # a gate beyond it is open or closed for every input
STYLE = "font-family: system-ui, sans-serif; font-size: 13px"


def draw(unit: type[Unit]) -> str:
    """Return the drawing of a unit with two inputs and one output; lines and text have the colour of the page.

    Below it stand the operations that the unit can represent, each with the weights that perform it and its formula.

    >>> from nalm.units import NMU
    >>> "{0, 1}" in draw(NMU)
    True
    """
    built = unit(2, 1, generator=Generator())
    shapes = {name: tuple(w.shape) for name, w in built.weights().items()}
    inner = [name for name, shape in shapes.items() if shape[-1] % 2 == 0]  # one weight per input, or several
    outer = [name for name in shapes if name not in inner]
    box = FIRST + APART * len(inner) - 20
    middle = TOP + GAP / 2
    rows = solved_rows(unit)
    longest = max(len(weights) + len(formula) for _, weights, formula in rows)
    width = max(WIDTH, box + 240, 140 + LETTER * longest)
    parts = []
    for row, letter in enumerate("ab"):
        y = TOP + 20 + GAP * row
        parts += [_line(LEFT, y, box, y), _circle(LEFT, y, letter)]
        for column, name in enumerate(inner):
            times = f" ×{shapes[name][-1] // 2}" if shapes[name][-1] > 2 else ""
            parts.append(_chip(FIRST + APART * column, y, name + times))
    for column, name in enumerate(inner):
        x = FIRST + APART * column
        parts.append(_text(x, middle + 25, _grid(built, name), anchor="middle", opacity=0.75))
    parts.append(_box(box, TOP - 10, 150, GAP + 60, unit.__name__, _symbols(unit)))
    parts += [_line(box + 150, middle + 20, box + 196, middle + 20), _circle(box + 214, middle + 20, "y")]
    bottom = TOP + GAP + 50
    for column, name in enumerate(outer):
        centre, foot = box + 75 + APART * (column - (len(outer) - 1) / 2), bottom + 34
        joint = box + 150 * (column + 1) / (len(outer) + 1)
        parts += [_line(joint, bottom, centre, foot - 12), _chip(centre, foot, name)]
        parts.append(_text(centre, foot + 26, _grid(built, name), anchor="middle", opacity=0.75))
    start = bottom + (90 if outer else 34)
    for index, (operation, weights, formula) in enumerate(rows):
        y = start + ROW * index
        parts += [
            _text(12, y, operation),
            _text(108, y, weights, opacity=0.75),
            _text(width - 12, y, formula, anchor="end"),
        ]
    height = start + ROW * len(rows)
    title = f"{unit.__name__}: {unit_sentence(unit)}"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" width="100%" role="img" '
        f'style="max-width: {width:g}px; {STYLE}" fill="currentColor"><title>{escape(title)}</title>'
        + "".join(parts)
        + "</svg>\n"
    )


def unit_sentence(unit: type[Unit]) -> str:
    """Return the first sentence of a unit's docstring."""
    return (inspect.getdoc(unit) or unit.__name__).split("\n\n")[0].split("\n")[0]


def solved_rows(unit: type[Unit]) -> list[tuple[str, str, str]]:
    """Return every operation that a unit can represent, with gold weights and the formula that they spell."""
    rows = []
    for name in unit.gold:
        arity = OPERATIONS[name].arity
        inputs = max(2, arity) if unit.ignores else arity
        symbols = letters(inputs, positive=True if unit.domain == "positive" else None)
        formula = str(unit.solved(name, inputs).formulas(symbols)[0])
        gold = unit.gold_weights(name, inputs)
        weights = ", ".join(f"{weight} {_numbers(value)}" for weight, value in gold.items())
        rows.append((name, weights, f"y = {formula}"))
    return rows


def _symbols(unit: type[Unit]) -> str:
    return " ".join(OPERATIONS[name].sign for name in unit.gold if name != "select")


def _grid(unit: Unit, name: str) -> str:
    grid = unit.grids.get(name)
    if grid is None:
        return "any number"
    values = [f"{value:g}" for value in grid]
    return "{" + ", ".join(values if len(values) < 4 else [values[0], "…", values[-1]]) + "}"


def _numbers(value: float | Sequence[float]) -> str:
    values = [value] if isinstance(value, int | float) else value
    text = ", ".join(
        "∞" if number > LARGE else "-∞" if number < -LARGE else f"{number:g}" for number in values
    )
    return text if len(values) == 1 else f"({text})"


def _text(x: float, y: float, text: str, anchor: str = "start", opacity: float = 1) -> str:
    look = "" if opacity == 1 else f' opacity="{opacity:g}"'
    return f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}"{look}>{escape(text)}</text>'


def _line(x1: float, y1: float, x2: float, y2: float) -> str:
    return f'<line x1="{x1:g}" y1="{y1:g}" x2="{x2:g}" y2="{y2:g}" stroke="currentColor" stroke-width="1.5"/>'


def _shape(tag: str) -> str:
    """Fill with the page's background, which furo names, and draw the outline in the colour of the text."""
    return f'<{tag} style="fill: var(--color-background-primary, white)" stroke="currentColor" stroke-width="1.5"/>'


def _circle(x: float, y: float, letter: str) -> str:
    shape = _shape(f'circle cx="{x:g}" cy="{y:g}" r="17"')
    return shape + _text(x, y + 4.5, letter, anchor="middle")


def _chip(x: float, y: float, text: str) -> str:
    shape = _shape(f'rect x="{x - 42:g}" y="{y - 12:g}" width="84" height="24" rx="12"')
    return shape + _text(x, y + 4.5, text, anchor="middle")


def _box(x: float, y: float, width: float, height: float, name: str, symbols: str) -> str:
    shape = _shape(f'rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="8"')
    middle = y + height / 2
    bold = _text(x + width / 2, middle - 4, name, anchor="middle").replace("<text", '<text font-weight="600"')
    return shape + bold + _text(x + width / 2, middle + 18, symbols, anchor="middle", opacity=0.75)
