"""Noise that is additive and relative at once: recognised where it is there, and only there."""

import numpy as np
import pytest

from nalm.discover import search
from nalm.discover.law.known import plain_uncertainty, uncertainty_of
from nalm.discover.selection.both_kinds import floor_of

SIZES = 0.2, 0.05  # of the additive noise, and of the relative one


def table(rows, seed):
    """Rows of 3 x^(3/2) over five decades with noise of both kinds."""
    rng = np.random.default_rng(seed)
    x = 10 ** rng.uniform(-2, 2, (rows, 1))
    clean = 3 * x[:, 0] ** 1.5
    noise = rng.standard_normal((2, rows))
    return x, clean + SIZES[0] * noise[0] + SIZES[1] * clean * noise[1]


def test_the_law_and_both_parts_of_the_noise_are_found():
    x, y = table(150, 0)
    found = search(x, y, ["x"], stages=["power", "polynomial", "ratio"])
    assert str(found.law).endswith("x**(3/2)") and str(found.certificate.verdict) == "consistent"
    assert "additive noise of 0." in found.certificate.tested
    assert "and relative noise of" in found.certificate.tested
    known = found.candidates[0].uncertainty
    again = uncertainty_of(plain_uncertainty(known), len(known.spread))
    assert (again.noise, again.floor) == (known.noise, known.floor)
    assert known.scatter == pytest.approx(SIZES[1], rel=0.3)
    assert known.scatter * known.floor == pytest.approx(SIZES[0], rel=0.5)


def test_intervals_of_new_measurements_hold_for_small_and_large_values():
    x, y = table(150, 0)
    found = search(x, y, ["x"], stages=["power", "polynomial", "ratio"])
    more, measured = table(2_000, 1)
    low, high = found.candidates[0].uncertainty.interval(found.law.expression, more).T
    inside = (low <= measured) & (measured <= high)
    for part in (more[:, 0] < 0.1, more[:, 0] > 10):
        assert 0.9 < inside[part].mean() < 0.99


@pytest.mark.parametrize("sizes", [(0.2, 0.0), (0.0, 0.05)])
def test_one_kind_is_not_taken_for_both(sizes):
    rng = np.random.default_rng(2)
    value = 10 ** rng.uniform(-1, 3, (200, 60))
    noise = rng.standard_normal((2, *value.shape))
    left = sizes[0] * noise[0] + sizes[1] * value * noise[1]
    assert sum(floor_of(v, r) is not None for v, r in zip(value, left, strict=True)) <= 1
