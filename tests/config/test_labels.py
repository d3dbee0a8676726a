"""What a case is called: by its units alone, and among others by what tells it from them."""

from nalm.config import Arithmetic, Case, Growth, Layer, Ramp, Range, Recipe
from nalm.config.labels import labels, unit_of

ONE = Case((Layer("NRU"),), Arithmetic("divide", Range(1, 2), Range(2, 6)))
OTHER = ONE.replace(train=Range(10, 20), test=Range(20, 40))


def names(*cases):
    """Of these among others that were trained on another range: along ranges runs the chart."""
    return [labels((*cases, OTHER))[c] for c in cases]


def with_recipe(case=ONE, **fields):
    return case.replace(recipe=Recipe(**fields))


def test_a_case_alone_is_called_by_its_units():
    assert names(ONE) == ["NRU"] and names(ONE, OTHER) == ["NRU", "NRU"]  # the table says the ranges
    two = ONE.replace(model=(Layer("NAU", 2), Layer("NMU")))
    assert unit_of(two) == "NAU-NMU" == names(two)[0]


def test_what_differs_is_said_of_all_cases_of_the_unit():
    slow, fast = with_recipe(lr=1e-3), with_recipe(lr=1.0)
    assert names(slow, fast, with_recipe(OTHER, lr=1.0)) == ["NRU (lr 0.001)", "NRU (lr 1)", "NRU (lr 1)"]
    assert names(slow, ONE.replace(model=(Layer("NMRU"),))) == ["NRU", "NMRU"]  # another unit is another name


def test_pressure_is_named_where_there_is_some():
    free, small = with_recipe(), with_recipe(l1=Growth(1e-9, 1e-7))
    assert names(free, small) == ["NRU", "NRU (L1 1e-09 to 1e-07)"]
    ramp = Ramp(10, 20_000, 35_000)
    pressed, late = (
        with_recipe(penalties=(("weight", ramp),)),
        with_recipe(penalties=(("weight", Ramp(10, 1, 2)),)),
    )
    assert names(free, pressed) == ["NRU", "NRU (weight 10)"]
    assert names(pressed, late) == ["NRU (20000 to 35000)", "NRU (1 to 2)"]


def test_options_scaling_and_losses_are_always_said():
    options = ONE.replace(model=(Layer("NRU", options=(("tanh_scale", 10.0),)),))
    assert names(options) == ["NRU (tanh scale 10)"]
    many = (("clip", ("gate",)), ("constrained", False), ("towards", (-1.0, 1.0)), ("clip_too", ()))
    assert names(ONE.replace(model=(Layer("NRU", options=many),))) == [
        "NRU (clip gate, not constrained, towards -1 1, clip too none)"
    ]
    assert names(ONE.replace(scaling="zscore")) == ["NRU (zscore)"]
    assert names(with_recipe(loss="pcc", then="mse", switch=5)) == ["NRU (pcc, then mse)"]


def test_a_test_range_is_said_only_where_one_training_range_has_two():
    assert names(ONE, ONE.replace(test=Range(6, 9))) == ["NRU (to U[2,6))", "NRU (to U[6,9))"]
