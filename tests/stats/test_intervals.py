"""Intervals: by hand, against independent computations, and by how often they cover; published ones elsewhere."""

import json
import math
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from intervals import ends, flags, quick
from scipy import optimize, special
from scipy import stats as reference

from nalm import stats
from nalm.stats import Interval

# -- the value itself --------------------------------------------------------------------------


def test_an_interval_holds_what_lies_between_its_ends():
    interval = Interval(0.5, 0.25, 0.75, 9, "by hand")
    assert 0.25 in interval and 0.75 in interval and 0.5 in interval
    assert 0.2 not in interval and 0.8 not in interval and math.nan not in interval


def test_an_interval_as_json_has_null_where_there_is_no_number():
    assert Interval(0.5, 0.25, math.inf, 9, "by hand").plain() == {
        **{"estimate": 0.5, "low": 0.25, "high": None, "n": 9, "method": "by hand"}
    }
    none = stats.Difference(0.0, math.nan, math.nan, 1, "", 1.0)
    assert 0.0 not in none
    assert json.loads(json.dumps(none.plain(), allow_nan=False))["low"] is None and none.plain()["p"] == 1.0


@pytest.mark.parametrize(
    ("interval", "text"),
    [
        (Interval(0.92, 0.868, 0.95, 100, ""), "0.92 [0.87, 0.95]"),
        (Interval(0.0362, 0.0351, 0.0374, 77, ""), "0.036 [0.035, 0.037]"),
        (Interval(161802.27, 145642.65, 178534.23, 100, ""), "161802 [145643, 178534]"),
        (Interval(4.2e-7, 3.9e-7, 4.5e-7, 98, ""), "4.2e-07 [3.9e-07, 4.5e-07]"),
        (Interval(0.0, 0.0, 0.0, 3, ""), "0.00 (all 3 equal)"),
        (Interval(3.0, 2.0, math.inf, 3, ""), "3.0e+00 [2.0e+00, inf]"),
        (Interval(1000.0, math.nan, math.nan, 1, ""), "1000 (no interval)"),
        (Interval(math.nan, math.nan, math.nan, 0, ""), "no values"),
    ],
)
def test_an_interval_prints_as_one_would_write_it(interval, text):
    assert str(interval) == text


def test_a_difference_is_an_interval_with_a_p():
    difference = stats.Difference(0.2, 0.06, 0.34, 50, "by hand", 0.01)
    assert 0.1 in difference and difference.p == 0.01 and str(difference) == "0.20 [0.06, 0.34]"


def test_importing_the_statistics_loads_neither_torch_nor_the_heavy_parts_of_scipy():
    code = "import sys, nalm.stats; print({'torch', 'scipy.stats', 'scipy.optimize'} & set(sys.modules))"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "set()"


# -- success rate ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("successes", "n", "low", "high"),
    [(25, 25, 0.8668, 1.0), (0, 25, 0.0, 0.1332), (93, 100, 0.862505, 0.965681), (1, 2, 0.094531, 0.905469)],
)
def test_wilson_by_hand(successes, n, low, high):
    interval = stats.wilson(successes, n)
    assert ends(interval) == pytest.approx((successes / n, low, high), abs=1e-4)
    assert interval.n == n and interval.method == "Wilson"


@given(flags)
@quick
def test_the_success_rate_is_the_wilson_interval_of_scipy(solved):
    expected = reference.binomtest(sum(solved), len(solved)).proportion_ci(method="wilson")
    interval = stats.success_rate(solved)
    assert (interval.low, interval.high) == pytest.approx((expected.low, expected.high), abs=1e-6)
    assert interval.estimate in interval and interval == stats.success_rate([int(s) for s in solved])


@given(st.integers(1, 200), st.data())
@quick
def test_one_more_success_raises_both_ends(n, data):
    k = data.draw(st.integers(0, n - 1))
    fewer, more = stats.wilson(k, n), stats.wilson(k + 1, n)
    assert fewer.low < more.low and fewer.high < more.high


def test_wilson_covers_95_percent_on_average_over_rates():
    rates, intervals = np.linspace(0.01, 0.99, 99), [stats.wilson(k, 25) for k in range(26)]
    chances = reference.binom.pmf(np.arange(26), 25, rates[:, None])
    covered = [
        sum(c for c, i in zip(row, intervals, strict=True) if p in i)
        for p, row in zip(rates, chances, strict=True)
    ]
    assert abs(np.mean(covered) - 0.95) < 0.01 and min(covered) > 0.83


# -- mean and median ---------------------------------------------------------------------------


def test_mean_by_hand():
    interval = stats.mean([1.0, 2.0, 3.0])  # deviation 1, quantile 4.3027
    assert ends(interval) == pytest.approx(
        (2, 2 - 4.3027 / math.sqrt(3), 2 + 4.3027 / math.sqrt(3)), abs=1e-4
    )
    assert stats.mean([1.0, 2.0, 3.0], bottom=0.0, top=4.0) == Interval(2.0, 0.0, 4.0, 3, "Student-t")


@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=30))
@quick
def test_the_mean_has_the_t_interval_of_scipy(values):
    assume(np.std(values) > 1e-6)
    expected = reference.ttest_1samp(values, 0.0).confidence_interval(0.95)
    assert ends(stats.mean(values)) == pytest.approx((np.mean(values), *expected), rel=1e-7, abs=1e-5)


# of the low end, from tables of the sign test
@pytest.mark.parametrize(("n", "rank"), [(6, 1), (8, 1), (9, 2), (10, 2), (25, 8), (100, 40)])
def test_the_median_lies_between_the_tabled_order_statistics(n, rank):
    values = np.random.default_rng(n).permutation(np.arange(1.0, n + 1))
    assert ends(stats.median(values)) == ((n + 1) / 2, rank, n + 1 - rank)


def test_five_values_are_too_few_for_an_interval_of_the_median():
    interval = stats.median([5.0, 1.0, 4.0, 2.0, 3.0])
    assert interval.estimate == 3.0 and math.isnan(interval.low) and math.isnan(interval.high)


def test_the_median_counts_unsolved_runs_as_infinite():
    interval = stats.median([1.0, 2.0, 3.0, 4.0, math.inf, math.inf, math.inf])
    assert ends(interval) == (4.0, 1.0, math.inf)
    assert stats.median([math.inf] * 6).estimate == math.inf


@given(st.lists(st.integers(-50, 50), min_size=1, max_size=30))
@quick
def test_the_median_follows_every_increasing_change_of_its_values(values):
    plain, cubed = stats.median(values), stats.median([v**3 for v in values])
    if len(values) % 2:
        assert cubed.estimate == plain.estimate**3
    if len(values) >= 6:
        assert (cubed.low, cubed.high) == (plain.low**3, plain.high**3)


@pytest.mark.parametrize("n", [6, 25])
def test_the_median_covers_at_least_95_percent_of_any_distribution(n):
    x = np.random.default_rng(0).exponential(size=(2000, n))
    covered = np.mean([math.log(2) in stats.median(row) for row in x])
    exact = 1 - 2 * special.bdtr({6: 0, 25: 7}[n], n, 0.5)
    assert exact > 0.95 and abs(covered - exact) < 0.015


# -- solved at ---------------------------------------------------------------------------------


def slow_gamma(x: np.ndarray, drop: float) -> tuple[float, float, float]:
    """Estimate and interval from scipy's density alone, one minimisation inside another."""

    def loss(u: float) -> float:  # at the mean exp(u)
        def of_shape(s: float) -> float:
            return -reference.gamma.logpdf(x, math.exp(s), scale=math.exp(u - s)).sum()

        return optimize.minimize_scalar(of_shape, (-1.0, 1.0), tol=1e-10).fun

    best = optimize.minimize_scalar(loss, (math.log(x.mean()) - 1, math.log(x.mean()) + 1), tol=1e-8)
    sides = (
        optimize.brentq(lambda u: loss(u) - best.fun - drop, best.x, best.x + d, xtol=1e-8) for d in (-4, 4)
    )
    return (math.exp(best.x), *(math.exp(u) for u in sides))


@pytest.mark.parametrize(("shape", "n"), [(0.6, 7), (3.0, 25), (200.0, 5)])
def test_the_gamma_interval_is_the_profile_likelihood_found_slowly(shape, n):
    x = np.random.default_rng(n).gamma(shape, 1000 / shape, n)
    drop = n / 2 * math.log1p(reference.t.ppf(0.975, n - 1) ** 2 / (n - 1))
    interval = stats.solved_at(x)
    assert ends(interval) == pytest.approx(slow_gamma(x, drop), rel=1e-5)
    assert interval.estimate == pytest.approx(x.mean()) and interval.method == "gamma"


def test_the_drop_of_the_likelihood_tends_to_that_of_chi_squared():
    x = np.random.default_rng(0).gamma(2.0, 1.0, 2000)
    assert ends(stats.solved_at(x)) == pytest.approx(slow_gamma(x, stats.CHI), rel=1e-4)


def test_nearly_equal_steps_have_the_interval_of_student():
    x = 1e6 * (1 + 1e-6 * np.random.default_rng(0).normal(size=9))
    assert ends(stats.solved_at(x)) == pytest.approx(ends(stats.mean(x)), rel=1e-11)
    assert stats.solved_at(x).method == "gamma"


@given(
    st.lists(st.floats(1e-50, 1e50), min_size=2, max_size=12), st.sampled_from([1e-200, 0.001, 3.0, 2.0**600])
)
@quick
def test_the_gamma_interval_scales_with_its_steps(x, factor):
    plain, other = stats.solved_at(x), stats.solved_at([v * factor for v in x])
    assert other.method == plain.method
    assert ends(other) == pytest.approx([v * factor for v in ends(plain)], rel=1e-6)


@given(st.lists(st.integers(1, 5000), min_size=3, max_size=20))
@quick
def test_all_steps_later_means_both_ends_later(x):
    assume(len(set(x)) > 1)
    early, late = stats.solved_at(x), stats.solved_at([2 * v for v in x])
    assert early.low < late.low and early.high < late.high


@pytest.mark.parametrize(("shape", "n"), [(1.0, 2), (0.5, 5), (1.0, 25), (10.0, 10)])
def test_the_gamma_interval_covers_95_percent_even_of_few_runs(shape, n):
    x = np.random.default_rng(n).gamma(shape, 1 / shape, (800, n))
    covered = np.mean([1.0 in stats.solved_at(row) for row in x])
    assert abs(covered - 0.95) < 0.025  # three standard errors of the simulation


def test_a_step_of_zero_gets_the_interval_of_student_above_zero():
    interval = stats.solved_at([0.0, 1000.0, 0.0])
    assert interval == stats.mean([0.0, 1000.0, 0.0], bottom=0.0)
    assert interval.low == 0.0 and interval.method == "Student-t"


@pytest.mark.parametrize("rate", [stats.solved_at, stats.solved_at_published])
def test_equal_steps_have_an_interval_without_width(rate):
    assert rate([1003000.0] * 3) == Interval(1003000.0, 1003000.0, 1003000.0, 3, "Student-t")


def test_equal_steps_are_printed_as_equal_and_not_as_certain():
    assert str(stats.solved_at([2_000, 2_000])) == "2000 (all 2 equal)"
    assert "[" in str(stats.solved_at([1_000, 2_000]))
