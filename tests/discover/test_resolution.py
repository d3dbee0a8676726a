"""Numbers with digits against the digits of the data: what stands for a series is not called exact."""

import numpy as np
import pytest
from scipy import special

from nalm.discover import search
from nalm.discover.certificate import certify
from nalm.discover.law.expression import Input, Power, Sum, evaluate
from nalm.discover.problem import Problem

A, B = Input(0), Input(1)
STAGES = ["additive", "power", "ratio", "powersum", "polynomial", "chebyshev", "rational"]


def verdict_of(node, low, high, columns=2):
    """Return the verdict on a law of a table of its own values."""
    x = np.random.default_rng(0).uniform(low, high, (300, columns))
    return certify(node, Problem.from_table(x, evaluate(node, x), noise=0.0)).verdict


@pytest.mark.parametrize("function", [np.sin, np.tanh, np.arctan, np.cosh])
@pytest.mark.parametrize("rate", [1e-2, 1e-3, 1e-4])
def test_the_first_terms_of_a_slow_function_are_not_exact(function, rate):
    x = np.random.default_rng(1).uniform(1, 2, (200, 1))
    found = search(x, function(rate * x[:, 0]), noise=0.0, stages=STAGES)
    assert found.certificate.verdict == "none"


@pytest.mark.parametrize(
    "law",
    [
        lambda a, b: special.airy(a)[0] * b,
        lambda a, b: special.zeta(1.5 + a) + b,
        lambda a, b: np.real(special.lambertw(a + 1)) * b,
    ],
)
def test_a_quotient_that_stands_for_a_special_function_is_not_exact(law):
    x = np.random.default_rng(7).uniform(1e-3, 2e-3, (300, 2))
    found = search(x, law(*x.T), noise=0.0, stages=STAGES)
    assert found.certificate.verdict == "none"


QUOTIENT = Power(
    (
        Sum((B, Power((A, B), (1.0, 1.0))), (1.0, -0.4155027805)),
        Sum((A, Power((A,), (2.0,))), (1.0, 0.7290107780), 3.1897076803),
    ),
    (1.0, -1.0),
    1.1324357102,
)


def test_a_quotient_with_four_digits_is_exact_where_its_numbers_show_and_not_where_they_drown():
    assert verdict_of(QUOTIENT, 1, 3) == "exact"
    assert verdict_of(QUOTIENT, 1e-3, 2e-3) == "none"


def test_a_small_term_is_exact_as_long_as_the_next_order_would_show():
    square = Power((A,), (2.0,))
    assert verdict_of(Sum((A, square), (1.0, 1.2345e-4)), 1, 2) == "exact"
    assert verdict_of(Sum((A, square), (1.0, 1.2345e-7)), 1, 2) == "none"
    assert verdict_of(Sum((A, square), (1.0, 1e-8)), 1, 2) == "none"  # a plain number, and as far away


def test_the_scale_of_a_law_may_be_its_leading_weight():
    square = Power((A,), (2.0,))
    assert verdict_of(Power((Sum((square,), (400.0,), 1.0),), (0.5,)), 1, 2) == "exact"
    assert verdict_of(Power((Sum((square,), (4e8,), 1.0),), (0.5,)), 1, 2) == "none"


def test_columns_of_different_size_set_no_scale():
    x = np.random.default_rng(0).uniform(1, 2, (300, 2)) * [1e5, 1e-4]
    assert certify(Sum((A, B), (1.0, 1.0)), Problem.from_table(x, x.sum(1), noise=0.0)).verdict == "exact"


def test_a_law_whose_exponents_are_no_usual_powers_must_show_their_digits():
    """(a^2 + 1)^0.005/(c^2 + 1), with powers of b that cancel: on these rows sqrt(1 + 0.01 a^2) is as near."""
    c = Input(2)
    inner = Power((B, Sum((B, Power((A, B), (-2.0, 1.0))), (1.0, 1.0))), (1.0, 1.0))
    below = Sum((A, Power((A, c), (1.0, -2.0))), (1.0, 1.0))
    law = Power((A, inner, B, c, below), (1.01, 0.005, -0.01, -2.0, -1.0))
    assert verdict_of(law, 0.001, 0.002, 3) == "none"
    assert verdict_of(Power((A, B), (0.37, -1.2), 3.1), 0.5, 3.0) == "exact"
