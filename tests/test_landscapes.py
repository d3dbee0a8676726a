"""The field's analytic figures: their minima as numbers, their heights by formulas of our own."""

import functools
import json
import math
import random

import numpy as np
import pytest
import torch

from nalm.errors import NALMError
from nalm.landscapes import LANDSCAPES, Curves, Surface, compute
from nalm.landscapes.gradients import samples
from nalm.landscapes.grid import axis
from nalm.landscapes.minima import search

landscape = functools.cache(compute)
MADSEN, DRAFT = (2.2, 6.0), (2.5, 4.5)  # the two sums of either sample
EPS32 = float(np.finfo(np.float32).eps)


def powers(eps):
    return lambda a, b, w: ((np.abs(a) + eps) * (np.abs(b) + eps)) ** w


def products(a, b, w):
    return (w * a + 1 - w) * (w * b + 1 - w)


def turns(a, b, w):
    return np.cos(math.pi * w * np.stack([a < 0, b < 0]).sum(0))


def real_powers(a, b, w):
    return powers(1e-5)(a, b, w) * turns(a, b, w)


def reciprocals(a, b, w):
    alpha = np.tanh(1000 * w) ** 2
    return math.prod(np.sign(v) * np.abs(v) ** w * alpha + 1 - alpha for v in (a, b))


def with_sign(a, b, w):
    return products(np.abs(a), np.abs(b), w) * turns(a, b, w)


STACKS = {
    "nac-nacmul": (MADSEN, powers(1e-7)),
    "nac-nacmul-eps-0.1": (MADSEN, powers(0.1)),
    "nac-nacmul-eps-1": (MADSEN, powers(1.0)),
    "nac-nacmul-draft": (DRAFT, powers(1e-7)),
    "nac-nmu": (DRAFT, products),
    "nau-nmu": (MADSEN, products),
    "nau-realnpu": (MADSEN, real_powers),
    "nau-nru": (MADSEN, reciprocals),
    "nau-nmru": (MADSEN, with_sign),
}
DIVIDING = ["nac-nacmul", "nac-nacmul-draft", "nau-realnpu", "nau-nru"]


def minima(name, kind):
    return [m for m in landscape(f"landscapes/{name}").minima if m.kind == kind]


# -- all of them --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", LANDSCAPES)
def test_a_name_computes_the_landscape_of_that_name(name):
    found = landscape(name)
    assert found.name == name
    assert found.title and found.source and found.x_label and found.y_label
    assert (np.diff(found.x) > 0).all()


@pytest.mark.parametrize("name", LANDSCAPES)
def test_heights_are_finite_but_where_the_nru_divides_by_zero(name):
    found = landscape(name)
    if isinstance(found, Curves):
        assert all(np.isfinite(values).all() for values in found.series.values())
    elif name == "landscapes/nau-nru":
        w1, w2 = np.meshgrid(found.x, found.y)
        np.testing.assert_array_equal(np.isnan(found.z), (w1 == 0) & (w2 < 0))
    else:
        assert np.isfinite(found.z).all()


def test_an_unknown_name_is_refused_with_a_suggestion():
    with pytest.raises(
        NALMError, match=r"no landscape called 'landscapes/nmo'\. Did you mean 'landscapes/nmu'"
    ):
        compute("landscapes/nmo")


def test_nothing_global_is_drawn_from_and_a_second_time_is_the_same():
    before = torch.get_rng_state(), np.random.get_state()[1].tolist(), random.getstate()
    for name in ("landscapes/nmu", "landscapes/gradient-npu", "landscapes/regularisers"):
        assert json.dumps(compute(name).json()) == json.dumps(landscape(name).json())
    assert torch.equal(torch.get_rng_state(), before[0])
    assert np.random.get_state()[1].tolist() == before[1]
    assert random.getstate() == before[2]


@pytest.mark.parametrize("name", LANDSCAPES)
def test_no_grid_point_beside_a_minimum_is_lower(name):
    found = landscape(name)
    legal = (found.x >= 0) & (found.x <= 1)
    for m in found.minima if isinstance(found, Surface) else ():
        x = np.abs(found.x - m.x) <= 1.01 * (found.x[1] - found.x[0])
        y = np.abs(found.y - m.y) <= 1.01 * (found.y[1] - found.y[0])
        if m.kind == "clipped":
            x, y = x & legal, y & legal
        assert np.nanmin(found.z[np.ix_(y, x)]) >= m.z - 1e-9


@pytest.mark.parametrize("name", LANDSCAPES)
def test_plain_data_are_json_with_none_for_what_is_no_number(name):
    found = landscape(name)
    plain = json.loads(json.dumps(found.json(), allow_nan=False))
    assert plain["name"] == name and plain["note"] == found.note
    assert plain["x"] == pytest.approx(found.x, rel=1e-4)
    if isinstance(found, Curves):
        assert plain["kind"] == "curves" and list(plain["series"]) == list(found.series)
    else:
        back = np.array(plain["z"], float)  # None becomes not-a-number
        np.testing.assert_allclose(back, found.z, rtol=1e-3, equal_nan=True)
        assert [m["kind"] for m in plain["minima"]] == [m.kind for m in found.minima]


def test_heights_and_curves_of_another_shape_are_refused():
    x = axis(0, 1, 4)
    with pytest.raises(NALMError, match=r"5 by 5 points, but heights of shape \(4, 5\)"):
        Surface("s", "t", "x", "y", x, x, np.zeros((4, 5)), "source")
    with pytest.raises(NALMError, match=r"5 points, but 'a' is of shape \(4,\)"):
        Curves("c", "t", "x", "y", x, {"a": np.zeros(4)}, "source")


# -- the NMU ------------------------------------------------------------------------------------


def test_the_nmu_has_the_two_published_minima_and_stops_at_the_origin():
    found = [(m.x, m.y, m.z, m.kind, m.shape) for m in landscape("landscapes/nmu").minima]
    assert [f[3:] for f in found] == [
        ("solution", "valley"),
        ("alternative", "valley"),
        ("clipped", "point"),
    ]
    assert found[0][:3] == pytest.approx((1, 1, 0), abs=1e-6)
    assert found[1][:3] == pytest.approx((-1 / 6, -1 / 2, 0), abs=1e-6)
    assert found[2][:3] == pytest.approx((0, 0, 2.6**2), abs=1e-6)


def test_the_nmu_surface_is_a_squared_error_that_vanishes_on_a_hyperbola():
    found = landscape("landscapes/nmu")
    w1, w2 = np.meshgrid(found.x, found.y)
    np.testing.assert_allclose(found.z, ((1 - 3 * w1) * (1 - 2.8 * w2) - 3.6) ** 2, atol=1e-12)
    assert found.at(0.5, 0.5) == pytest.approx((0.5 * 0.4 - 3.6) ** 2)
    for w1 in (-0.9, -0.3, 0.8, 1.4):  # neither published minimum stands alone
        w2 = (1 - 3.6 / (1 - 3 * w1)) / 2.8
        assert (1 - 3 * w1) * (1 - 2.8 * w2) == pytest.approx(3.6)


# -- two layers ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", STACKS)
def test_two_layers_have_the_absolute_error_of_their_formula(name):
    (a, b), formula = STACKS[name]
    found = landscape(f"landscapes/{name}")
    w1, w2 = np.meshgrid(found.x, found.y)
    with np.errstate(divide="ignore", invalid="ignore"):
        by_hand = np.abs(formula(a * w1, b * w1, w2) - a * b)
    np.testing.assert_allclose(found.z, by_hand, rtol=1e-9, atol=1e-9, equal_nan=True)
    assert (found.x[0], found.x[-1], found.y[-1]) == (-1, 1, 1)
    assert found.y[0] == (0 if name in ("nac-nmu", "nau-nmu", "nau-nmru") else -1)


@pytest.mark.parametrize("name", [n for n in STACKS if n not in ("nac-nacmul-eps-0.1", "nac-nacmul-eps-1")])
def test_two_layers_are_solved_at_one_and_with_both_signs_turned(name):
    tolerance = 1e-5 if name == "nau-realnpu" else 1e-7 if "nacmul" in name else 1e-12
    first, second = minima(name, "solution")
    assert (first.x, first.y, first.z) == pytest.approx((1, 1, 0), abs=tolerance)
    assert (second.x, second.y, second.z) == pytest.approx((-1, 1, 0), abs=tolerance)


@pytest.mark.parametrize(("name", "off"), [("nac-nacmul-eps-0.1", 0.83), ("nac-nacmul-eps-1", 9.2)])
def test_a_large_epsilon_leaves_no_solution_at_one(name, off):
    found = landscape(f"landscapes/{name}")
    assert found.at(1, 1) == pytest.approx(off)
    assert f"{off:g}" in found.note
    assert not minima(name, "solution")


@pytest.mark.parametrize("name", DIVIDING)
def test_a_unit_that_divides_explodes_and_has_a_valley_right_there(name):
    found = landscape(f"landscapes/{name}")
    assert np.nanmax(found.z) > 500
    valleys = minima(name, "alternative")
    assert valleys and all(m.shape == "valley" and m.z < 1e-8 for m in valleys)
    assert all(abs(m.x) < 0.1 and m.y < 0 for m in valleys)


def test_the_wrong_valleys_lie_where_a_formula_puts_them():
    (madsen,) = minima("nac-nacmul", "alternative")
    assert (madsen.x, madsen.y) == pytest.approx((0, math.log(13.2) / (2 * math.log(1e-7))), abs=1e-8)
    (tenth,) = (m for m in minima("nac-nacmul-eps-0.1", "alternative") if m.y < 0)
    assert (tenth.x, tenth.y) == pytest.approx((0, math.log(13.2) / (2 * math.log(0.1))), abs=1e-8)
    for m in minima("nau-nru", "alternative"):
        assert (13.2 * m.x**2) ** m.y == pytest.approx(13.2, abs=1e-8)


def test_units_that_only_multiply_do_not_explode():
    for name in ("nac-nmu", "nau-nmu", "nau-nmru"):
        assert landscape(f"landscapes/{name}").z.max() < 20


@pytest.mark.parametrize(("name", "target"), [("nac-nmu", 11.25), ("nau-nmu", 13.2)])
def test_clipping_holds_the_nmu_at_zero_where_the_sums_are_small(name, target):
    (flat,) = minima(name, "local")
    assert (flat.y, flat.z, flat.shape) == (0, pytest.approx(target - 1), "plateau")
    (a, b), _ = STACKS[name]
    assert (a + b) * flat.x < 2  # the slope of the output by w2, (a + b) w1 - 2, is negative


def test_cosines_make_a_local_minimum_on_the_edge_of_negative_sums():
    (npu,) = minima("nau-realnpu", "local")
    log = math.log((2.2 + 1e-5) * (6 + 1e-5))  # where log cos(2 pi w) = 2 pi sin(2 pi w)
    assert (npu.x, npu.y) == (-1, pytest.approx(math.atan(log / (2 * math.pi)) / (2 * math.pi), abs=1e-8))
    flat, nmru = minima("nau-nmru", "local")
    w = nmru.y
    slope = (1.2 * (5 * w + 1) + 5 * (1.2 * w + 1)) * math.cos(2 * math.pi * w)
    slope -= (1.2 * w + 1) * (5 * w + 1) * 2 * math.pi * math.sin(2 * math.pi * w)
    assert (nmru.x, slope) == (-1, pytest.approx(0, abs=1e-7))
    assert (flat.y, flat.shape) == (0, "plateau")


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
