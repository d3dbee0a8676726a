"""Tests of a published number against our runs: against SciPy, enumeration and hand-made examples."""

import itertools
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from intervals import quick
from scipy import stats as reference

from nalm import stats
from nalm.stats.comparison import POWER
from nalm.stats.two_counts import counted
from nalm.stats.two_medians import below
from nalm.stats.two_rates import fisher, runs_needed


@given(st.integers(1, 30), st.integers(1, 30), st.data())
@quick
def test_fishers_p_is_that_of_scipy(m, n, data):
    k, y = data.draw(st.integers(0, m)), data.draw(st.integers(0, n))
    expected = reference.fisher_exact([[k, m - k], [y, n - y]]).pvalue
    assert fisher(k, m, [y], n)[0] == pytest.approx(expected, rel=1e-6)
    greater = reference.fisher_exact([[k, m - k], [y, n - y]], "greater").pvalue
    assert stats.at_least(k, m, y, n).p == pytest.approx(1.0 if y * m >= k * n else greater, rel=1e-6)


def test_so_many_runs_find_the_stated_difference():
    n = runs_needed(25, 25, 25)

    def power(runs):
        chance = reference.binom.pmf(np.arange(runs + 1), runs, 0.75)
        return chance[fisher(25, 25, np.arange(runs + 1), runs) < 0.05].sum()

    assert power(n) >= POWER > power(25) and n > 25
    assert runs_needed(2, 4, 25) is None  # four published runs tell nothing


def test_a_rate_is_close_if_newcombes_90_percent_interval_lies_within_the_stated_difference():
    assert stats.same_rate(25, 25, 25, 25).close and not stats.same_rate(25, 25, 21, 25).close
    assert stats.same_rate(12, 25, 480, 1_000).close and not stats.same_rate(12, 25, 9, 25).close


def test_the_runs_below_a_rank_by_enumeration():
    m, n, rank = 3, 4, 2
    counts = np.zeros(n + 1)
    for theirs in itertools.combinations(range(m + n), m):
        counts[theirs[rank - 1] - (rank - 1)] += 1
    assert below(rank, m, n) == pytest.approx(counts / comb(m + n, m))


def test_a_median_far_below_all_of_ours_differs_whatever_their_distribution():
    ours = [1.0, 2.0, np.inf, np.nan, 5.0, 9.0, 8.0, 7.0, 6.0, 5.5]
    found = stats.same_median(0.1, 10, ours, stats.Margin.factor(0.1))
    assert found.p == pytest.approx(2 * comb(15, 10) / comb(20, 10)) and not found.close
    assert stats.same_median(5.0, 10, ours, stats.Margin.factor(5.0)).p > 0.5


def test_students_test_has_the_larger_deviation_for_both():
    x, y = np.array([1.0, 2.0, 3.0, 4.0]), np.array([5.0, 7.0, 9.0, 11.0])
    found = stats.same_mean(stats.mean_of(x), stats.mean_of(y), stats.Margin.points(1))
    error = y.std(ddof=1) * (1 / 4 + 1 / 4) ** 0.5
    assert found.p == pytest.approx(2 * reference.t.sf((y.mean() - x.mean()) / error, 6))
    pooled = reference.ttest_ind(x, y).pvalue
    assert found.p >= pooled
    alone = stats.same_mean(stats.Mean(2.5, np.nan, None), stats.mean_of(y), stats.Margin.points(1))
    assert alone.p == 1 and not alone.close  # published without an error
    assert stats.same_mean(stats.Mean(8.0, np.nan, None), stats.mean_of(y), stats.Margin.points(9)).close


def test_predictions_are_distributions_and_follow_the_rate():
    for pairs, m in ((stats.Paired(3, 1, 25), 20), (stats.Paired(30, 10, 250), 400)):
        leads = stats.predicted_leads(pairs, m)
        assert leads.sum() == pytest.approx(1) and np.argmax(leads) > m  # the first leads
        mean = (leads * np.arange(-m, m + 1)).sum() / m
        assert mean == pytest.approx((pairs.first - pairs.second) / (pairs.n + 1.5), abs=1e-3)
    rates = stats.predicted(stats.Rate(20, 25), 10)
    assert rates.sum() == pytest.approx(1) and (rates * np.arange(11)).sum() == pytest.approx(10 * 20.5 / 26)
    assert counted([0.2, 0.7]).tolist() == pytest.approx([0.24, 0.62, 0.14])


def test_the_spread_behind_a_fit_is_that_of_the_runs_or_unknown():
    rng = np.random.default_rng(0)
    x = rng.gamma(4.0, 1e5, 100)
    fit = stats.solved_at_published(x)
    assert stats.spread_behind(fit.low, fit.high, 100) == pytest.approx(x.std(ddof=1) / x.mean(), rel=0.1)
    far = np.where(np.arange(100) < 5, 4e6, 2e4) * rng.uniform(0.9, 1.1, 100)
    fit = stats.solved_at_published(far)
    assert np.isnan(stats.spread_behind(fit.low, fit.high, 100))
    assert stats.solved_at_estimate(far) == pytest.approx(fit.estimate)
    assert stats.spread_behind(5.0, 5.0, 10) == 0
