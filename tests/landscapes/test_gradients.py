"""Gradients of power units, compared with formulas written by hand."""

import numpy as np
import pytest
from surfaces import EPS32, landscape, minima

from nalm.landscapes.gradients import samples


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


def test_only_the_gradient_of_the_naive_npu_vanishes_where_the_second_weight_is_large():
    naive, half, gated = (landscape(f"landscapes/{name}") for name in PANELS)
    large = naive.y > 0.75
    assert np.median(naive.z[large]) < 0.1
    assert np.median(half.z[large]) > 1
    assert np.median(gated.z[large]) > 0.5


def test_a_closed_gate_makes_the_second_weight_irrelevant():
    gated = landscape("landscapes/gradient-npu-gated")
    np.testing.assert_allclose(gated.z, np.broadcast_to(gated.z[0], gated.z.shape), rtol=1e-12)
    assert gated.minima[0].shape == "plateau"
