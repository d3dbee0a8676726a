"""Polynomials and rational functions of high degree: found where they are the law, never where they are a series."""

import numpy as np
import pytest

from nalm.discover import search
from nalm.discover.law.expression import Sum, evaluate
from nalm.discover.stages.basis import Chebyshev, count

STAGES = ["chebyshev", "rational", "separable"]


def test_the_basis_is_converted_to_powers_without_loss():
    x = np.random.default_rng(0).uniform(3, 5, (50, 2))
    basis = Chebyshev(x, [0, 1], 4)
    assert basis.values.shape == (50, count(2, 4)) == (50, 15)
    weights = np.random.default_rng(1).standard_normal(15)
    terms, numbers, bias = basis.powers(weights)
    law = Sum(tuple(terms), tuple(numbers), bias)
    np.testing.assert_allclose(evaluate(law, x), basis.values @ weights, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(
    ("low", "high", "rows", "law", "expected"),
    [
        (1, 5, 200, lambda a, b: sum(a**k for k in range(1, 7)), "a**6 + a**5 + a**4 + a**3 + a**2 + a"),
        (-3, 3, 200, lambda a, b: (a + 1) ** 3 / (a * a - a + 1), "(a**3 + 3*a**2 + 3*a + 1)/(a**2 - a + 1)"),
        (-1, 1, 200, lambda a, b: 1.3 * b**8 - 0.7 * b**5 + 2.25 * b, "13*b**8/10 - 7*b**5/10 + 9*b/4"),
    ],
)
def test_high_degrees_are_found_among_other_columns(low, high, rows, law, expected):
    x = np.random.default_rng(1).uniform(low, high, (rows, 2))
    found = search(x, law(*x.T), noise=0.0, stages=STAGES)
    assert (str(found.law), found.certificate.verdict) == (expected, "exact")


@pytest.mark.parametrize("rate", [0.01, 1.0])
@pytest.mark.parametrize("function", [np.exp, np.tanh])
def test_the_series_of_a_function_is_never_exact(function, rate):
    x = np.random.default_rng(0).uniform(1, 2, (300, 2))
    found = search(x, function(rate * x[:, 0]) * x[:, 1], noise=0.0, stages=STAGES)
    assert found.certificate.verdict == "none"
