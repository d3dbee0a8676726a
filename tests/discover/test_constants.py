"""Numbers: which are recognised, and how they are written."""

import math

import numpy as np
import pytest
import sympy

from nalm.discover.law.constants import is_plain, recognised, to_sympy


@pytest.mark.parametrize(
    "value",
    [
        1.0,
        -2.0,
        0.5,
        1 / 3,
        22 / 7,
        6.674,
        9.81,
        1e-12,
        6.674e-11,
        math.pi,
        4 * math.pi / 3,
        math.sqrt(2) / 2,
        1 / (4 * math.pi),
    ],
)
def test_simple_numbers_are_recognised_within_an_error(value):
    off = value * (1 + 3e-12)
    assert recognised(off, 1e-11 * abs(value)) == pytest.approx(value, rel=1e-15)


def test_random_numbers_are_not_taken_for_simple_ones():
    values = np.random.default_rng(0).uniform(-10, 10, 2000)
    assert sum(recognised(v, 1e-9 * abs(v)) is not None for v in values) <= 6
    assert not any(is_plain(v) for v in values)


def test_a_number_that_is_hardly_known_is_not_recognised():
    assert recognised(3.1416, 0.1) is None


def test_a_number_within_its_error_of_zero_is_zero():
    assert recognised(1e-9, 1e-8) == 0.0


def test_numbers_that_are_not_finite_are_not_recognised():
    assert recognised(math.inf, 1.0) is None
    assert recognised(1.0, math.nan) is None


@pytest.mark.parametrize("value", [0.1, 1 / 17, 9.81, math.pi / 6, 0.7301927465, 6.02e23, -1.5, 0.0])
def test_a_number_in_sympy_has_the_same_double(value):
    assert float(to_sympy(value)) == pytest.approx(value, rel=5e-16, abs=0)


def test_short_decimals_stay_decimals_and_small_fractions_stay_fractions():
    assert str(to_sympy(1 / 17)) == "1/17"
    assert to_sympy(9.81).is_Float
    assert to_sympy(math.pi / 6) == sympy.pi / 6
