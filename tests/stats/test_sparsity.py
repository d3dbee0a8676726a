"""Sparsity errors: the interval of a beta distribution, and where Student's t replaces it."""

import math

import numpy as np
import pytest
from intervals import ends
from scipy import optimize, special
from scipy import stats as reference

from nalm import stats
from nalm.stats import Interval


def slow_beta(y: np.ndarray, drop: float) -> tuple[float, float]:
    """Ends of the profile likelihood interval of the mean, from scipy's density alone."""

    def loss(t: float) -> float:  # at the mean 1 / (1 + exp(-t))
        def of_sum(s: float) -> float:
            return -reference.beta.logpdf(
                y, special.expit(t) * math.exp(s), special.expit(-t) * math.exp(s)
            ).sum()

        return optimize.minimize_scalar(of_sum, (0.0, 3.0), tol=1e-10).fun

    best = optimize.minimize_scalar(loss, (-1.0, 1.0), tol=1e-8)
    low, high = (
        optimize.brentq(lambda t: loss(t) - best.fun - drop, best.x, best.x + d, xtol=1e-8) for d in (-6, 6)
    )
    return special.expit(low), special.expit(high)


@pytest.mark.parametrize(("a", "b", "n"), [(0.4, 0.4, 10), (2.0, 9.0, 25), (1.0, 1000.0, 6)])
def test_the_beta_interval_is_the_profile_likelihood_of_the_doubled_errors(a, b, n):
    y = np.random.default_rng(n).beta(a, b, n)
    drop = n / 2 * math.log1p(reference.t.ppf(0.975, n - 1) ** 2 / (n - 1))
    interval = stats.sparsity(y / 2)
    assert (2 * interval.low, 2 * interval.high) == pytest.approx(slow_beta(y, drop), rel=1e-5)
    assert interval.estimate == pytest.approx(y.mean() / 2) and interval.method == "beta"


@pytest.mark.parametrize(("a", "b", "n"), [(0.5, 0.5, 10), (1.0, 4.0, 25), (1.0, 1e7, 3)])
def test_the_beta_interval_covers_95_percent_even_of_few_runs(a, b, n):
    x = np.random.default_rng(n).beta(a, b, (300, n)) / 2
    covered = np.mean([a / (a + b) / 2 in stats.sparsity(row) for row in x])
    assert abs(covered - 0.95) < 0.03


def test_tiny_errors_have_the_interval_of_a_gamma():
    x = np.random.default_rng(0).gamma(2.0, 1e-13, 25)
    assert ends(stats.sparsity(x)) == pytest.approx(ends(stats.solved_at(x)), rel=1e-6)


def test_errors_above_one_half_count_as_one_half():
    assert stats.sparsity([0.1, 0.2, 252.0, math.inf]) == stats.sparsity([0.1, 0.2, 0.5, 0.5])


def test_equal_errors_have_an_interval_without_width():
    assert stats.sparsity([0.0] * 25) == Interval(0.0, 0.0, 0.0, 25, "Student-t")
    assert stats.sparsity([7.0] * 3) == Interval(0.5, 0.5, 0.5, 3, "Student-t")


def test_errors_whose_mean_contradicts_the_beta_get_the_interval_of_student():
    x = [0.0] * 20 + [0.5] * 5
    assert stats.sparsity(x) == stats.mean(x, 0.0, 0.5)
