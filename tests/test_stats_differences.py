"""Sparsity errors, two cases with the same seeds, and any input at all; the rest of statistics: test_stats."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from intervals import OF_NUMBERS, ends, errors, numbers, positive, quick, steps
from scipy import optimize, special
from scipy import stats as reference

from nalm import stats
from nalm.errors import NALMError
from nalm.stats import Interval

# -- sparsity ----------------------------------------------------------------------------------


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


# -- two cases with the same seeds -------------------------------------------------------------


def test_the_rate_difference_of_newcombe_by_hand():
    a, b = [1] * 36 + [1] * 12 + [0] * 2, [1] * 36 + [0] * 12 + [1] * 2  # 36 solved by both
    difference = stats.rate_difference(a, b)
    assert ends(difference) == pytest.approx((0.2, 0.0569, 0.3404), abs=5e-5)
    assert difference.p == pytest.approx(2 * (1 + 14 + 91) / 2**14)  # at most 2 of 14 heads, either side
    assert difference.n == 50 and difference.method == "Newcombe 10; p McNemar"


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=40))
@quick
def test_a_rate_difference_turns_round_with_its_cases(pairs):
    a, b = zip(*pairs, strict=True)
    there, back = stats.rate_difference(a, b), stats.rate_difference(b, a)
    assert ends(back) == pytest.approx((-there.estimate, -there.high, -there.low)) and back.p == there.p
    assert -1 - 1e-12 <= there.low <= there.estimate <= there.high <= 1 + 1e-12
    discordant = sum(x != y for x, y in pairs)
    lead = sum(x and not y for x, y in pairs)
    expected = reference.binomtest(lead, discordant).pvalue if discordant else 1.0
    assert there.p == pytest.approx(expected)


def test_the_rate_difference_covers_95_percent():
    rng = np.random.default_rng(0)
    luck = rng.random((2000, 25))  # what seeds have in common
    a, b = (0.5 * luck + 0.5 * rng.random(luck.shape) < limit for limit in (0.6, 0.45))
    truth = a.mean() - b.mean()
    covered = np.mean([truth in stats.rate_difference(x, y) for x, y in zip(a, b, strict=True)])
    assert 0.935 < covered < 0.98


def test_a_paired_difference_by_hand():
    difference = stats.paired_difference([1, 2, 3, 4, 5, 6], [0, 0, 0, 0, 0, 0])
    assert difference.estimate == 3.5 and difference.p == 2 / 2**6
    assert ends(difference) == ends(stats.mean([1, 2, 3, 4, 5, 6]))
    assert stats.paired_difference([1, 2], [1, 2]).p == 1.0


@given(st.lists(st.integers(-6, 6).filter(bool), min_size=1, max_size=9))
@quick
def test_the_signed_rank_p_counts_all_signs(gain):
    ranks = reference.rankdata(np.abs(gain))
    sums = [abs(np.dot(ranks, signs)) for signs in itertools.product((-1, 1), repeat=len(gain))]
    expected = np.mean(np.array(sums) >= abs(np.dot(ranks, np.sign(gain))) - 1e-9)
    assert stats.paired_difference(gain, [0] * len(gain)).p == pytest.approx(expected)


@pytest.mark.parametrize("n", [100, 501])
def test_the_signed_rank_p_of_many_pairs_is_that_of_scipy(n):
    gain = np.random.default_rng(n).normal(0.1, 1, n)
    expected = reference.wilcoxon(gain, method="asymptotic", correction=True).pvalue
    assert stats.paired_difference(gain, np.zeros(n)).p == pytest.approx(expected, rel=0.03)


def test_holm_by_hand():
    assert stats.holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert stats.holm([0.9, 0.8]) == [1.0, 1.0] and stats.holm([]) == []


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
@quick
def test_holm_raises_p_keeps_their_order_and_leaves_a_single_one(p):
    adjusted = stats.holm(p)
    assert all(a <= b <= 1 for a, b in zip(p, adjusted, strict=True))
    assert [b for _, b in sorted(zip(p, adjusted, strict=True))] == sorted(adjusted)
    assert stats.holm(p[:1]) == p[:1] and min(adjusted) == min(1.0, min(p) * len(p))


# -- any input ---------------------------------------------------------------------------------


@given(numbers, steps, positive, errors)
@settings(quick, max_examples=60)
def test_an_interval_contains_its_estimate(values, whole, wide, close):
    given_to = {stats.mean: [values], stats.median: [values], stats.sparsity: [close]}
    given_to |= {stats.solved_at: [whole, wide], stats.solved_at_published: [whole, wide]}
    given_to |= {stats.sparsity_published: [close]}
    for summary, rows in given_to.items():
        for row in rows:
            interval = summary(row)
            assert interval.n == len(row) and math.isfinite(interval.estimate) and str(interval)
            few = len(row) < (6 if summary is stats.median else 2)
            assert (
                math.isnan(interval.low) and math.isnan(interval.high)
                if few
                else interval.estimate in interval
            )


@pytest.mark.parametrize("summary", OF_NUMBERS)
def test_the_order_of_the_runs_does_not_matter(summary):
    x = np.random.default_rng(0).gamma(1.0, 0.1, 20)
    assert ends(summary(x)) == pytest.approx(ends(summary(x[::-1])), rel=1e-9)


@pytest.mark.parametrize("summary", [*OF_NUMBERS, stats.success_rate])
def test_no_runs_have_no_estimate(summary):
    interval = summary([])
    assert all(math.isnan(v) for v in ends(interval)) and interval.n == 0 and str(interval) == "no values"


@pytest.mark.parametrize("difference", [stats.rate_difference, stats.paired_difference])
def test_no_pairs_have_no_difference(difference):
    nothing = difference([], [])
    assert all(math.isnan(v) for v in ends(nothing)) and nothing.n == 0 and nothing.p == 1.0


@pytest.mark.parametrize("summary", OF_NUMBERS)
def test_one_run_has_no_interval(summary):
    interval = summary([0.25])
    assert interval.estimate == 0.25 and math.isnan(interval.low) and math.isnan(interval.high)


@pytest.mark.parametrize("summary", OF_NUMBERS)
@pytest.mark.parametrize(
    "values", [[1.0, math.nan], [1000, None], "abc", 3.0, [[1.0, 2.0]], [-math.inf, 1.0]]
)
def test_what_is_no_row_of_numbers_is_refused(summary, values):
    with pytest.raises(NALMError, match="leave out the runs"):
        summary(values)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: stats.mean([1.0, math.nan]),
            "Values are finite numbers, got nan; leave out the runs without one.",
        ),
        (
            lambda: stats.mean([math.inf]),
            "Values are finite numbers, got inf; leave out the runs without one.",
        ),
        (
            lambda: stats.solved_at([5.0, -1.0]),
            "not negative, got -1.0; leave out the runs that were not solved.",
        ),
        (
            lambda: stats.sparsity([math.nan]),
            "not negative, got nan; leave out the runs that were not solved.",
        ),
        (
            lambda: stats.success_rate([0.5, 1]),
            "Outcomes are True or False, got 0.5; give one for every run.",
        ),
        (lambda: stats.success_rate([2]), "Outcomes are True or False, got 2.0; give one for every run."),
        (lambda: stats.wilson(3, 2), "There cannot be 3 successes in 2 runs; count both over the same runs."),
        (lambda: stats.rate_difference([1], [1, 0]), "equally many values, got 1 and 2; match their seeds."),
        (lambda: stats.paired_difference([1], []), "equally many values, got 1 and 0; match their seeds."),
        (lambda: stats.paired_difference([1e308], [-1e308]), "Values are finite numbers, got inf"),
        (lambda: stats.holm([1.5]), "A p-value lies between 0 and 1, got 1.5; give one for every test."),
    ],
)
def test_the_error_says_the_value_and_the_remedy(call, message):
    with pytest.raises(NALMError) as error:
        call()
    assert message in str(error.value)
