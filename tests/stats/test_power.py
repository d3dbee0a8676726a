"""The power of McNemar's test, by simulation."""

import numpy as np
import pytest

from nalm.stats import mcnemar_power, pairs_needed, rate_difference


@pytest.mark.parametrize(("gain", "loss", "pairs"), [(0.3, 0.1, 60), (0.5, 0.0, 10), (0.2, 0.2, 80)])
def test_it_is_the_share_of_simulated_trials_that_are_significant(gain, loss, pairs):
    draws = np.random.default_rng(0).random((1_000, pairs))
    won, lost = draws < gain, (draws >= gain) & (draws < gain + loss)
    found = np.mean([rate_difference(a, b).p < 0.05 for a, b in zip(won, lost, strict=True)])
    expected = mcnemar_power(gain, loss, pairs)
    assert found == pytest.approx(expected, abs=4 * np.sqrt(0.25 / 1_000))


def test_without_pairs_or_without_a_difference_nothing_is_found():
    assert mcnemar_power(0.3, 0.1, 0) == mcnemar_power(0.0, 0.0, 50) == 0
    assert mcnemar_power(1.0, 0.0, 5) == 0 and mcnemar_power(1.0, 0.0, 6) == pytest.approx(1)
    assert pairs_needed(0.2, 0.2, 10) is None


def test_the_needed_number_is_the_least_that_is_enough():
    n = pairs_needed(0.4, 0.1, 10)
    assert mcnemar_power(0.4, 0.1, n) >= 0.95 > mcnemar_power(0.4, 0.1, n - 1)
    assert pairs_needed(0.4, 0.1, 10, level=0.005) > n
