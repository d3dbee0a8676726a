"""Differences between two cases with the same seeds, against hand-made examples and SciPy."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from intervals import ends, quick
from scipy import stats as reference

from nalm import stats


def test_the_rate_difference_of_newcombe_by_hand():
    a, b = [1] * 36 + [1] * 12 + [0] * 2, [1] * 36 + [0] * 12 + [1] * 2  # 36 solved by both
    difference = stats.rate_difference(a, b)
    assert ends(difference) == pytest.approx((0.2, 0.0569, 0.3404), abs=5e-5)
    assert difference.p == pytest.approx(2 * (1 + 14 + 91) / 2**14)  # at most 2 of 14 heads, either side
    assert difference.n == 50 and difference.method == "Newcombe 10; p McNemar"


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=40))
@quick
def test_swapping_the_cases_negates_a_rate_difference(pairs):
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
