"""The search for minima on surfaces whose minima are known."""

import math

import numpy as np
import pytest

from nalm.landscapes.grid import axis
from nalm.landscapes.minima import search

AXIS = axis(-2, 2, 40)


def found_in(function, known=None):
    known = {(0.0, 0.0): "solution"} if known is None else known
    return search(lambda p: np.stack(function(p[:, 0], p[:, 1]), -1), AXIS, AXIS, known)


def test_isolated_zeros_are_found_between_grid_points():
    low, high = sorted(found_in(lambda x, y: (x**2 - 0.5, y - 0.123)), key=lambda m: m.x)
    assert (low.x, low.y, low.z) == pytest.approx((-math.sqrt(0.5), 0.123, 0), abs=1e-8)
    assert (high.x, high.y, high.z) == pytest.approx((math.sqrt(0.5), 0.123, 0), abs=1e-8)
    assert {m.kind for m in (low, high)} == {"alternative"}


def test_a_curve_of_zeros_is_one_valley_at_known_weights():
    circle = {(0.6, 0.8): "solution"}
    (ring,) = found_in(lambda x, y: (x**2 + y**2 - 1,), circle)
    assert (ring.x, ring.y, ring.kind, ring.shape) == (0.6, 0.8, "solution", "valley")
    (ring,) = found_in(lambda x, y: (x**2 + y**2 - 1,))
    assert (math.hypot(ring.x, ring.y), ring.kind) == (pytest.approx(1, abs=1e-12), "alternative")


def test_a_minimum_above_zero_is_local_and_exact():
    (dip,) = found_in(lambda x, y: (2 + (x - 0.31) ** 2 + (y + 0.77) ** 4 + (y + 0.77) ** 2 + x * y / 9,))
    slopes = 2 * (dip.x - 0.31) + dip.y / 9, 4 * (dip.y + 0.77) ** 3 + 2 * (dip.y + 0.77) + dip.x / 9
    assert slopes == pytest.approx((0, 0), abs=1e-8)
    assert (dip.kind, dip.shape) == ("local", "point")


def test_a_narrow_sloping_valley_has_one_minimum_and_not_one_per_grid_point():
    (only,) = found_in(lambda x, y: (20 * (y - 0.37 * x - 0.011), 0.3 * (x - 0.9)))
    assert (only.x, only.y, only.z) == pytest.approx((0.9, 0.344, 0), abs=1e-8)


def test_a_flat_stretch_is_one_plateau():
    (flat,) = found_in(lambda x, y: (1 + y**2 + 0 * x,))
    assert (flat.y, flat.z, flat.shape) == (0, 1, "plateau")
    assert found_in(lambda x, y: (1 + 0 * x,))[0].shape == "plateau"


def test_a_jump_over_zero_is_no_minimum():
    def height(x, y):
        return 3 - x + y**2 / 9 - y / 99

    plain = found_in(lambda x, y: (height(x, y),))
    assert [m.x for m in plain] == [2]
    assert found_in(lambda x, y: (np.where(x > 0.05, 1, -1) * height(x, y),)) == plain


def test_the_edge_of_the_window_can_hold_a_minimum():
    (corner,) = found_in(lambda x, y: (5 - x - y, 0 * x))
    assert (corner.x, corner.y, corner.z, corner.kind) == (2, 2, pytest.approx(1), "local")
