"""Shapes of penalties, ramps, batch noise and effective weights."""

import math

import numpy as np
import pytest
from surfaces import landscape


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
