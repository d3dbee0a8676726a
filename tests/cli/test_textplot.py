"""Plots of characters: the right dots, within the width, whatever the numbers."""

import numpy as np
import pytest

from nalm.cli.textplot import CURVE, beside, scatter

BRAILLE = range(0x2801, 0x2900)


def dots(lines):
    return sum(bin(ord(c) - 0x2800).count("1") for line in lines for c in line if ord(c) in BRAILLE)


def test_every_point_is_a_dot_and_a_line_rises():
    lines = scatter(np.arange(20.0), np.arange(20.0), width=60, height=10)
    assert dots(lines) == 20
    firsts = [min(i for i, c in enumerate(line) if ord(c) in BRAILLE) for line in lines[1:11]]
    assert firsts == sorted(firsts, reverse=True)


def test_the_ends_of_the_axes_are_written():
    lines = scatter([1, 2.5], [-3, 4], title="law over y")
    assert lines[0] == "law over y"
    assert lines[1].split()[0] == "4" and lines[10].split()[0] == "-3"
    assert lines[-1].split() == ["1", "2.5"]


@pytest.mark.parametrize("braille", [True, False])
@pytest.mark.parametrize(
    "values",
    [
        [0.0],
        [3.0, 3.0],
        [-1.7976931348623157e308, 1.7976931348623157e308],
        [5e-324, 1e-323],
        [-1.23456e-300, 1.23456e300],
        list(range(1000)),
    ],
)
def test_any_numbers_fit_the_width(values, braille):
    lines = scatter(values, values, title="t" * 100, width=39, height=7, braille=braille)
    assert len(lines) == 10 and max(map(len, lines)) <= 39
    assert braille or all(line.isascii() for line in lines)


def test_what_is_not_finite_is_left_out():
    assert dots(scatter([1, 2, 3, 4], [1, np.nan, np.inf, 2])) == 2
    assert scatter([np.nan], [1.0])[1] == "(no points)" and scatter([], [])[1] == "(no points)"


def test_without_braille_many_points_are_darker():
    lines = scatter([0, 1, 1, 1, 1], [0, 1, 1, 1, 1], width=20, height=2, braille=False)
    assert lines[1].endswith("*") and "|." in lines[2]


def test_two_plots_stand_beside_each_other_in_80_columns():
    plot = scatter(np.arange(9.0), np.arange(9.0) * 1e-17)
    lines = beside(plot, plot)
    assert max(map(len, lines)) <= 80 and dots(lines) == 18


@pytest.mark.parametrize("braille", [True, False])
def test_a_curve_is_drawn_behind_the_points_and_within_the_ends_of_both(braille):
    x = np.linspace(0, 4, 300)
    lines = scatter([1, 2], [1, 4], curve=(x, x**2), braille=braille, width=30)
    sign = CURVE[not braille]
    field = [line[line.index("│" if braille else "|") + 1 :] for line in lines[1:11]]
    assert sum(line.count(sign) for line in field) > 15
    assert lines[1].split()[0] == "16" and max(map(len, lines)) <= 30
    assert sum(c not in (sign, " ") for line in field for c in line) == 2  # the points are seen
    assert braille or all(line.isascii() for line in lines)
    assert "(no points)" in scatter([], [], curve=([1], [1]))[1]
