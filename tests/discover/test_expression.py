"""Expressions: values, the rounding bound, slopes, and the forms they can be brought to."""

import numpy as np
import pytest

from benchmarks.ladder import random_law
from nalm.discover.fit.least_squares import tangent
from nalm.discover.law.expression import (
    Input,
    Power,
    Sum,
    bounded,
    evaluate,
    numbers,
    powered,
    renumbered,
    roles,
    size,
    used,
    weighted,
)
from nalm.discover.law.tidy import tidied

A, B, C = Input(0), Input(1), Input(2)
NESTED = Power((Sum((A, Power((B, C), (2.0, -1.0), 3.0)), (1.5, 2.0), 0.5), C), (2.0, -0.5), 0.7)


@pytest.fixture
def x() -> np.ndarray:
    return np.random.default_rng(0).uniform(1, 2, (50, 5))


def test_a_value_is_that_of_the_formula(x):
    a, b, c = x.T[:3]
    np.testing.assert_allclose(evaluate(NESTED, x), 0.7 * (1.5 * a + 6 * b**2 / c + 0.5) ** 2 / np.sqrt(c))


def test_a_law_has_no_finite_value_where_it_divides_by_zero():
    assert not np.isfinite(evaluate(Power((A, B), (1.0, -1.0)), np.array([[1.0, 0.0]]))).any()


def test_a_whole_power_of_a_negative_number_has_its_sign():
    assert evaluate(Power((A,), (3.0,)), np.array([[-2.0]])) == [-8.0]


@pytest.mark.parametrize("seed", range(40))
def test_the_bound_covers_the_rounding_of_float32(seed):
    rng = np.random.default_rng(seed)
    law = random_law(rng, 4)
    x = rng.uniform(-2, 2, (200, 5)).astype(np.float32).astype(np.float64)
    with np.errstate(all="ignore"):
        exact, bound = bounded(law, x, 2.0**-24)
        rounded = np.nan_to_num(float32(law, x.astype(np.float32)))
        exact = np.where(np.isfinite(exact), exact, 0.0)
    fine = (exact != 0) & (bound < 1e-3 * np.abs(exact))  # a first-order bound is for small errors
    assert (np.abs(rounded - exact)[fine] <= 2 * bound[fine]).all()


def float32(node, x):
    """The law with every step rounded to float32."""
    match node:
        case Input(index):
            return x[:, index]
        case Sum(terms, weights, bias):
            total = np.full(len(x), bias, np.float32)
            for t, w in zip(terms, weights, strict=True):
                total += np.float32(w) * float32(t, x)
            return total
        case Power(factors, exponents, coefficient):
            product = np.full(len(x), coefficient, np.float32)
            for f, p in zip(factors, exponents, strict=True):
                product *= float32(f, x) ** np.float32(p)
            return product


def test_the_bound_grows_where_a_difference_cancels():
    x = np.array([[1.0, 1.0 - 1e-9], [1.0, -1.0]])
    value, bound = bounded(Sum((A, B), (1.0, -1.0)), x, 2.0**-53)
    assert bound[0] / value[0] > 1e-8
    assert bound[1] / value[1] < 1e-15


def test_numbers_are_put_back_where_they_were_found():
    assert renumbered(NESTED, numbers(NESTED)) == NESTED
    assert len(roles(NESTED)) == len(numbers(NESTED))


def test_slopes_are_those_of_finite_differences(x):
    values = np.array(numbers(NESTED))
    _, slopes = tangent(NESTED, x)
    for i in range(len(values)):
        step = np.zeros(len(values))
        step[i] = 1e-6
        high, low = (evaluate(renumbered(NESTED, values + s), x) for s in (step, -step))
        np.testing.assert_allclose(slopes[:, i], (high - low) / 2e-6, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("seed", range(60))
def test_tidying_changes_the_form_and_not_the_value(seed):
    rng = np.random.default_rng(seed)
    law = random_law(rng, 5)
    x = rng.uniform(1, 2, (20, 5))
    with np.errstate(all="ignore"):
        before, after = evaluate(law, x), evaluate(tidied(law), x)
    fine = np.isfinite(before) & (np.abs(before) < 1e6)
    np.testing.assert_allclose(after[fine], before[fine], rtol=1e-9, atol=1e-9)
    assert size(tidied(law)) <= size(law) + 1  # a sign may move out of a sum


def test_tidying_joins_sums_and_products_and_drops_zeros():
    inner = Sum((A, B), (1.0, 1.0))
    assert tidied(Sum((inner, B, C), (1.0, -1.0, 0.0))) == A
    assert tidied(Power((Power((A, B), (1.0, 1.0)), B), (1.0, -1.0))) == A
    assert tidied(Power((Sum((A, B), (-1.0, -1.0)),), (1.0,))) == Power((inner,), (1.0,), -1.0)


def test_the_root_of_a_square_stays_what_it_is():
    root = Power((Power((A,), (2.0,)),), (0.5,))
    assert evaluate(tidied(root), np.array([[-3.0]])) == [3.0]


def test_plain_sums_and_products_of_one_are_that_one():
    assert weighted([A, B], [1.0, 0.0]) == A
    assert powered([A, B], [0.0, 1.0]) == B


def test_size_counts_what_is_written():
    assert [size(n) for n in (A, Sum((A, B), (1.0, -1.0)), Power((A,), (2.0,)), Sum((A,), (1.0,), 2.0))] == [
        1,
        3,
        3,
        3,
    ]
    assert used(NESTED) == {0, 1, 2}
