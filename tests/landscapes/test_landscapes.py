"""The field's analytic figures: their minima as numbers, their heights by formulas of our own."""

import json
import math
import random

import numpy as np
import pytest
import torch
from surfaces import DIVIDING, STACKS, landscape, minima

from nalm.errors import NALMError
from nalm.landscapes import LANDSCAPES, Curves, Surface, compute
from nalm.landscapes.grid import axis

# -- all of them --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", LANDSCAPES)
def test_a_name_computes_the_landscape_of_that_name(name):
    found = landscape(name)
    assert found.name == name
    assert found.title and found.source and found.x_label and found.y_label
    assert (np.diff(found.x) > 0).all()


@pytest.mark.parametrize("name", LANDSCAPES)
def test_heights_are_finite_except_where_the_nru_divides_by_zero(name):
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


def test_landscapes_use_no_global_random_state_and_repeat_exactly():
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
def test_plain_data_are_json_with_none_for_values_that_are_not_finite(name):
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
def test_the_error_of_a_unit_that_divides_explodes_beside_a_valley_of_zeros(name):
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
