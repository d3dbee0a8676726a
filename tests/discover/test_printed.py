"""Printed digits: read off the numbers, and laws that hold to half a unit of the last place."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import special

from nalm.discover import search
from nalm.discover.certificate.lack_of_fit import SIGNIFICANT
from nalm.discover.digits import Printed, last_places, printed_as, significant
from nalm.discover.law.expression import Input, Power, Sum, numbers
from nalm.discover.problem import Problem
from nalm.discover.selection.evidence import fit
from nalm.discover.selection.printed import (
    holds,
    resolved,
    trend,
    with_nice_numbers,
)
from nalm.discover.selection.rows import NoiseKind, Observations
from nalm.errors import NALMError


def to_digits(values, digits):
    return np.array([float(f"{v:.{digits - 1}e}") for v in values.ravel()]).reshape(values.shape)


def test_decimals_and_significant_digits_are_told_apart():
    rng = np.random.default_rng(0)
    values = 10 ** rng.uniform(-2, 3, 50)
    assert (last_places(np.round(values, 2)) == 0.01).all()
    assert last_places(to_digits(values, 4)) == pytest.approx(significant(values, 4))
    mostly_below_one = np.array([0.1234, 0.2571, 0.9102, 0.4417, 1.104])  # four digits, not four decimals
    assert last_places(mostly_below_one)[-1] == pytest.approx(1e-3)
    assert last_places(values) is None
    assert not last_places(np.arange(20.0)).any()


@pytest.mark.parametrize(
    "digits", [4, pytest.param(3, marks=pytest.mark.slow), pytest.param(6, marks=pytest.mark.slow)]
)
def test_a_law_holds_to_the_printed_digits_of_all_columns(digits):
    x = np.random.default_rng(1).uniform(1, 5, (60, 3))
    y = 0.5 * x[:, 0] * x[:, 1] ** 2 / x[:, 2]
    found = search(to_digits(x, digits), to_digits(y, digits), stages=["additive", "power", "ratio"])
    assert str(found.law) == "a*b**2/(2*c)"
    assert found.certificate.verdict == "exact to the printed digits" and found.certificate


def test_numbers_near_nice_ones_become_nice_where_the_digits_allow_it():
    x = to_digits(np.random.default_rng(4).uniform(1, 5, (80, 2)), 4)
    y = to_digits(x[:, 0] / (2 * (x[:, 1] + 1)), 4)
    rows = Observations(x, y, NoiseKind.ADDITIVE, np.ones(80))
    law = Power((Input(0), Sum((Input(1),), (1.0,), 1.002)), (1.0, -1.001), 0.501)
    free = np.array([False, True, True, False, True])
    units = significant(x, 4), significant(y, 4)
    loose = holds(fit(law, rows, free, "test"), *units)
    nice = with_nice_numbers(loose, *units)
    assert nice.count == 0 and numbers(nice.node) == [1.0, -1.0, 0.5, 1.0, 1.0]
    assert with_nice_numbers(nice, *units) is nice


def test_noise_above_the_last_place_is_not_called_printed():
    rng = np.random.default_rng(2)
    x = np.round(rng.uniform(1, 5, (60, 2)), 3)
    y = np.round(x[:, 0] * x[:, 1] + 0.02 * rng.standard_normal(60), 3)
    found = search(x, y, stages=["additive", "power"])
    assert str(found.law) == "a*b" and found.certificate.verdict == "consistent"


@pytest.mark.slow
def test_what_is_no_law_of_the_table_is_not_called_printed():
    rng = np.random.default_rng(3)
    x = to_digits(rng.uniform(1, 3, (60, 2)), 4)
    for y in (np.exp(np.sin(x[:, 0])) + x[:, 1], np.maximum(x[:, 0], x[:, 1])):
        found = search(x, to_digits(y, 4), stages=["additive", "power", "ratio", "product", "powersum"])
        assert found.certificate.verdict != "exact to the printed digits"


def test_digits_can_be_given():
    x = np.random.default_rng(1).uniform(1, 5, (40, 2))
    y = 2.5 * x[:, 0] / x[:, 1]
    found = search(to_digits(x, 4), to_digits(y, 4), stages=["power"], digits=4)
    assert found.certificate.verdict == "exact to the printed digits"


def test_a_special_function_on_a_short_range_is_no_law_to_the_printed_digits():
    a = to_digits(np.linspace(5, 9, 60), 4)
    y = to_digits(special.k0e(0.1 + a) / (1 + a**2), 4)
    fitted = fit(
        Sum((Power((Input(0),), (-4.0,)), Power((Input(0),), (-2.5,))), (-0.93, 1.25)),
        Observations(a[:, None], y, NoiseKind.ADDITIVE, np.ones(60)),
        np.array([True, True, False, False, False, False]),
        "",
    )
    units = significant(a, 4)[:, None], significant(y, 4)
    law = holds(fitted, *units)
    assert law is not None and not resolved(law, *units)


def test_the_beginning_of_a_series_is_no_law_to_the_printed_digits():
    a, e = to_digits(np.random.default_rng(5).uniform(-2, 2, (2, 75)), 4)
    y = to_digits(np.arctan(0.02 * a) / (1 + e**2), 4)
    over = Power((Input(0),), (-1.0,))
    below = Sum((Input(0), Power((Input(1), Input(0)), (2.0, -1.0)), over), (2.4e-4, 1.0, 1.0))
    law = Power((below,), (-1.0,), 0.02)
    rows = Observations(np.stack([a, e], 1), y, NoiseKind.ADDITIVE, np.ones(75))
    free = np.array([v in (2.4e-4, 0.02) for v in numbers(law)])
    units = significant(rows.x, 4), significant(y, 4)
    found = holds(fit(law, rows, free, "test"), *units)
    assert found is not None and not resolved(found, *units)
    line, y = Sum((Input(0), Input(1)), (0.5, 1.0)), to_digits(0.5123 * a + e, 4)
    units = units[0], significant(y, 4)
    found = holds(fit(line, replace(rows, y=y), np.array([True, False]), "test"), *units)
    assert found is not None and resolved(found, *units)


@pytest.mark.parametrize(("end", "seed"), [(3, 0), (3, 1), (4, 0), (4, 1)])
def test_what_a_law_leaves_of_printed_digits_has_no_trend(end, seed):
    x = to_digits(np.random.default_rng(seed).uniform(1, end, (75, 2)), 4)
    free, law = np.array([False, False, True]), Power((Input(0), Input(1)), (1.0, 1.0), 4.9e-4)
    for clean, straight in ((np.log1p(0.0005 * x[:, 0]) * x[:, 1], False), (4.98e-4 * x.prod(1), True)):
        y = to_digits(clean, 4)
        rows = Observations(x, y, NoiseKind.ADDITIVE, np.ones(75))
        units = significant(x, 4), significant(y, 4)
        found = holds(fit(law, rows, free, "test"), *units)
        assert found is not None and resolved(found, *units)
        assert (trend(found, Problem.from_table(x, y), *units) >= SIGNIFICANT) == straight


def test_a_number_next_to_a_digit_stands_for_a_missing_term():
    x = to_digits(np.random.default_rng(4).uniform(0.1, 1, (75, 2)), 4)
    free, law = np.array([False, False, True]), Power((Input(0), Input(1)), (1.0, 1.0), 0.3)
    for number, plain in ((0.3, True), (0.29993, False), (0.297, True)):
        y = to_digits(number * x.prod(1), 4)
        rows = Observations(x, y, NoiseKind.ADDITIVE, np.ones(75))
        units = significant(x, 4), significant(y, 4)
        found = holds(fit(law, rows, free, "test"), *units)
        assert found is not None and resolved(found, *units) == plain


@pytest.mark.parametrize(
    ("texts", "wanted"),
    [
        (["12.00", "3.00"], Printed(decimals=2)),
        (["0.10", "-3.25", "0.00"], Printed(decimals=2)),
        (["1.200e-3", "4.560e2"], Printed(significant=4)),
        (["0.0450", "1.20", "789"], Printed(significant=3)),
        (["0.0450", "1.20", "780"], None),  # the last place of 780 is not known
        (["1.0", "2.0", "35.0"], None),  # what programs write for whole numbers
        (["1", "20", "300"], None),
        (["1.5", "2", "3.25"], None),
        (["1.50", "n"], None),
        ([], None),
    ],
)
def test_the_text_of_a_column_shows_how_it_was_printed(texts, wanted):
    assert printed_as(texts) == wanted


def test_a_column_with_many_digits_was_not_rounded():
    assert last_places(np.array([0.5, 0.25]), Printed(decimals=12)) is None
    np.testing.assert_allclose(last_places(np.array([0.5, 12.25]), Printed(significant=3)), [0.001, 0.1])


def test_zeros_at_the_end_count_where_the_text_is_known():
    """x is printed as 1.00, 2.00, ...: taken as whole numbers, they would be exact, and the law would not hold."""
    rng = np.random.default_rng(3)
    shown = np.arange(1.0, 41)[:, None]
    y = (3 * (shown[:, 0] + rng.uniform(-0.005, 0.005, 40)) ** 2).round(2)
    assert str(search(shown, y, ["x"]).certificate.verdict) != "exact to the printed digits"
    found = search(shown, y, ["x"], digits=[Printed(decimals=2), Printed(decimals=2)])
    assert str(found.law) == "3*x**2" and str(found.certificate.verdict) == "exact to the printed digits"


@pytest.mark.parametrize("digits", [0, "3", [Printed(decimals=2)], [2, 2]])
def test_digits_that_cannot_be_are_refused(digits):
    with pytest.raises(NALMError, match="digits"):
        search(np.arange(1.0, 11)[:, None], np.arange(1.0, 11), ["x"], digits=digits)
