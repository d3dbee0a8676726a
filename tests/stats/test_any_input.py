"""Properties of every estimator: for any numbers, for none, for one, and for what is refused."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from intervals import OF_NUMBERS, ends, errors, numbers, positive, quick, steps

from nalm import stats
from nalm.errors import NALMError


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
def test_values_that_are_not_a_row_of_numbers_are_refused(summary, values):
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
