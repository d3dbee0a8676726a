"""Weights of ten NMUs on their way to a formula, as an animated picture: docs/snapping.svg.

Each dot is one run that learns a * b from its two inputs. The penalty sets in at half of the training and moves the
weights to 0 or 1; a run that ends in the corner (1, 1) has learnt the formula.
"""

import sys
from pathlib import Path

import numpy as np

import nalm
from nalm.config import Arithmetic, Case, Layer, Ramp, Range, Recipe

STEPS, SEEDS, SECONDS = 40_000, 10, 8
SIZE, MARGIN = 260, 40
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00")


def trained() -> np.ndarray:
    """Train the runs; return their two weights at every evaluation, (runs, evaluations, 2)."""
    recipe = Recipe(steps=STEPS, lr=3e-5, penalties=(("weight", Ramp(10, STEPS // 2, STEPS * 3 // 4)),))
    case = Case((Layer("NMU"),), Arithmetic("multiply", Range(1, 2), Range(2, 6)), recipe)
    runs = nalm.train(case, seeds=range(SEEDS))
    return np.stack([run["0.weight"][:, 0] for run in runs.trajectories])


def drawn(paths: np.ndarray) -> str:
    """Draw the paths as an SVG picture that repeats for ever."""

    def places(values: np.ndarray, up: bool) -> str:
        pixels = MARGIN + SIZE * (1 - values if up else values)
        return ";".join(f"{p:.1f}" for p in pixels)

    timing = f'dur="{SECONDS}s" repeatCount="indefinite"'
    dots = [
        f'<circle r="5" fill="{COLOURS[i % len(COLOURS)]}" fill-opacity="0.8">'
        f'<animate attributeName="cx" values="{places(path[:, 0], False)}" {timing}/>'
        f'<animate attributeName="cy" values="{places(path[:, 1], True)}" {timing}/></circle>'
        for i, path in enumerate(paths)
    ]
    end = MARGIN + SIZE
    text = 'font-family="sans-serif" font-size="13" fill="#555"'
    corners = "".join(
        f'<text x="{x}" y="{y}" text-anchor="{anchor}" {text}>y = {formula}</text>'
        for x, y, anchor, formula in (
            (MARGIN, end + 20, "start", "1"),
            (end, end + 20, "end", "a"),
            (MARGIN, MARGIN - 10, "start", "b"),
            (end, MARGIN - 10, "end", "a*b"),
        )
    )
    frame = f'<rect x="{MARGIN}" y="{MARGIN}" width="{SIZE}" height="{SIZE}" fill="none" stroke="#aaa"/>'
    whole = SIZE + 2 * MARGIN
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{whole}" height="{whole}" viewBox="0 0 {whole} {whole}">'
        f"{frame}{corners}{''.join(dots)}</svg>\n"
    )


if __name__ == "__main__":
    path = Path(sys.argv[1] if len(sys.argv) > 1 else "docs/snapping.svg")
    path.write_text(drawn(trained()), encoding="utf-8")
    print(f"{path} shows the weights of {SEEDS} runs.")
