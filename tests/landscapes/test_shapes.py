"""Gradients of power units, shapes of penalties and weights, and the search for minima; the rest: test_landscapes."""

import math

import numpy as np
import pytest
from surfaces import EPS32, landscape, minima

from nalm.landscapes.gradients import samples
from nalm.landscapes.grid import axis
from nalm.landscapes.minima import search

# -- gradients ----------------------------------------------------------------------------------


def gradient_norm(w1, w2, gate, imaginary):
    """By hand: m = exp(w log r) cos(w k), and its slopes by real and imaginary weights at 0."""
    x = samples().numpy()
    g = np.array(gate)
    r, k = g * (np.abs(x) + EPS32) + 1 - g, np.pi * g * (x < 0)
    w = np.stack([w1, w2], -1)
    size, turn = np.exp(w @ np.log(r).T), w @ k.T  # (..., samples)
    error = 2 * (size * np.cos(turn) - x[:, 0]) / len(x)
    slopes = [
        ((error * size) * (np.log(r[:, i]) * np.cos(turn) - k[:, i] * np.sin(turn))).sum(-1) for i in (0, 1)
    ]
    if imaginary:
        slopes += [
            ((error * size) * (-k[:, i] * np.cos(turn) - np.log(r[:, i]) * np.sin(turn))).sum(-1)
            for i in (0, 1)
        ]
    return np.linalg.norm(slopes, axis=0)


PANELS = {
    "gradient-naivenpu": ((1.0, 1.0), False),
    "gradient-npu": ((0.5, 0.5), True),
    "gradient-npu-gated": ((1.0, 0.0), False),
}


@pytest.mark.parametrize("name", PANELS)
def test_gradient_norms_are_those_of_the_formula(name):
    found = landscape(f"landscapes/{name}")
    assert (len(found.x), len(found.y)) == (71, 61)
    np.testing.assert_allclose(
        found.z, gradient_norm(*np.meshgrid(found.x, found.y), *PANELS[name]), rtol=1e-8, atol=1e-12
    )


def test_the_samples_are_those_of_the_published_code():
    x = samples()
    assert x.shape == (32, 2)
    assert 0 <= x[:, 0].min() < x[:, 0].max() <= 2
    assert -0.05 <= x[:, 1].min() < 0 < x[:, 1].max() <= 0.05


def test_the_gradient_vanishes_at_the_solution_unless_the_gates_are_half_open():
    naive, half, gated = (landscape(f"landscapes/{name}") for name in PANELS)
    assert naive.at(1, 0) < 1e-5
    assert gated.at(1, 0) < 1e-5
    assert half.at(1, 0) > 0.2
    assert naive.at(1, 0.02) > 0.1 < gated.at(1.2, 0)
    for name in ("gradient-naivenpu", "gradient-npu-gated"):
        (m,) = minima(name, "solution")
        assert (m.x, m.y, m.z) == pytest.approx((1, 0, 0), abs=1e-6)
    (nearest,) = minima("gradient-npu", "local")
    assert (nearest.x, nearest.y) == pytest.approx((2, 0.08), abs=0.01)


def test_only_the_naive_npu_goes_silent_where_the_second_weight_is_large():
    naive, half, gated = (landscape(f"landscapes/{name}") for name in PANELS)
    large = naive.y > 0.75
    assert np.median(naive.z[large]) < 0.1
    assert np.median(half.z[large]) > 1
    assert np.median(gated.z[large]) > 0.5


def test_a_closed_gate_makes_the_second_weight_irrelevant():
    gated = landscape("landscapes/gradient-npu-gated")
    np.testing.assert_allclose(gated.z, np.broadcast_to(gated.z[0], gated.z.shape), rtol=1e-12)
    assert gated.minima[0].shape == "plateau"


# -- shapes -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("label", "zeros", "height"),
    [
        ("NAU", (-1, 0, 1), 0.5),
        ("NMU", (0, 1), 0.5),
        ("NAU, squared", (-1, 0, 1), 0.0625),
        ("NMU, squared", (0, 1), 0.0625),
        ("modified RealNPU", (-1, 1), 0.5),
        ("modified RealNPU, {-1, 0, 1}", (-1, 0, 1), 0.5),
        ("modified RealNPU, gate", (0, 1), 0.5),
        ("modified NPU, imaginary", (0,), 0.5),
    ],
)
def test_a_penalty_vanishes_at_its_discrete_weights_only(label, zeros, height):
    found = landscape("landscapes/regularisers")
    values = found.series[label]
    np.testing.assert_array_equal(found.x[values < 1e-12], zeros)
    assert found.at(0.5)[label] == pytest.approx(height)


def test_penalties_differ_where_the_units_do():
    w = landscape("landscapes/regularisers")
    assert w.at(-1)["NMU"] == 1 and w.at(-1)["NAU"] == 0
    assert w.at(0)["modified RealNPU"] == 1 and w.at(0)["modified RealNPU, {-1, 0, 1}"] == 0
    assert w.at(1.25)["NAU, out of bounds"] == pytest.approx(0.25)
    assert w.at(-0.5)["NAU, out of bounds"] == 0
    assert w.at(-0.5)["NMU, out of bounds"] == pytest.approx(0.5)
    assert w.at(0.5)["StgNMU"] == pytest.approx(0.5 * (1 + math.erf(1 / math.sqrt(2))))


def test_the_inalu_penalty_ends_where_a_parameter_is_saturated():
    found = landscape("landscapes/regulariser-inalu")
    values = found.series["iNALU"]
    np.testing.assert_allclose(values, np.maximum(np.minimum(-found.x, found.x) + 20, 0) / 20, atol=1e-12)
    assert (values[np.abs(found.x) >= 20] == 0).all() and found.at(0)["iNALU"] == 1


def test_the_ramp_is_that_of_the_figure():
    found = landscape("landscapes/ramp")
    assert found.series["λ"].tolist() == [0, 0, 0, 0, 0, 0.5, 1, 1, 1, 1, 1]
    assert found.x.tolist() == list(range(11))


def test_batch_noise_ends_at_one_plus_one_over_sigma():
    found = landscape("landscapes/batch-noise")
    np.testing.assert_allclose(found.series["1 + 1/σ"], 1 + 1 / found.x, rtol=1e-6)
    sigma = {width: width / math.sqrt(12) for width in (0.1, 4)}  # of U[1.1, 1.2) and U[-2, 2)
    assert [round(1 + 1 / s, 2) for s in sigma.values()] == [35.64, 1.87]


def test_the_golden_ratio_only_stretches_the_weight():
    nac, golden = landscape("landscapes/nac-weight"), landscape("landscapes/gnalu-weight")
    w, m = np.meshgrid(nac.x, nac.y)
    np.testing.assert_allclose(nac.z, np.tanh(w) / (1 + np.exp(-m)), atol=1e-14)
    phi = (1 + math.sqrt(5)) / 2
    squashed = (phi ** (2 * w) - 1) / (phi ** (2 * w) + 1) / (1 + phi**-m)
    np.testing.assert_allclose(golden.z, squashed, atol=1e-12)
    assert abs(golden.at(1, 1)) < abs(nac.at(1, 1))
    assert nac.minima == golden.minima == ()


# -- the search ---------------------------------------------------------------------------------

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
