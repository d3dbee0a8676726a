"""One law for several data sets: structure, shared numbers, and a row of own constants for each group."""

import numpy as np
import pytest

from nalm import NALMError, NALMRegressor
from nalm.discover import search_groups
from nalm.discover.form.search import search_form, search_form_groups
from nalm.discover.grouped.law import own_names, with_inputs
from nalm.discover.law.expression import Function, Input, Power, Sum, evaluate, numbers
from nalm.discover.selection.structure import structure

SAMPLES = np.repeat(list("pqrs"), 9)
TIMES = np.tile(np.linspace(0.5, 8, 9), 4)[:, None]
DOSE = np.tile([0.02, 0.06, 0.11, 0.22, 0.56, 1.1, 2.2, 4.4], 4)[:, None]


def noisy(law, level, seed=0):
    return law + level * np.random.default_rng(seed).standard_normal(len(law))


@pytest.mark.slow
def test_samples_decay_with_one_rate_from_their_own_amounts():
    amounts = np.repeat([3.0, 5.0, 8.0, 2.0], 9)
    y = amounts * np.exp(noisy(-0.4 * TIMES[:, 0], 0.02))
    found = NALMRegressor(stages=["additive", "power", "outside"], max_time=None)
    found.fit(TIMES, y, ["t"], groups=SAMPLES)
    assert found.formula_.startswith("a*exp(-0.") and found.certificate_.verdict == "consistent"
    assert "relative noise" in found.certificate_.tested and "in 4 groups" in found.certificate_.tested
    (rate,) = found.equations_[0].constants
    assert rate.low < -0.4 < rate.high
    inside = [
        c["a"].low < truth < c["a"].high
        for c, truth in zip(found.groups_.values(), (3, 5, 8, 2), strict=True)
    ]
    assert sum(inside) >= 3 and list(found.groups_) == list("pqrs")


def test_a_law_of_groups_is_saved_and_predicts_for_each_group(tmp_path):
    y = np.repeat([3.0, 5.0, 8.0, 2.0], 9) * np.exp(noisy(1.5 * np.log(TIMES[:, 0]), 0.02))
    found = NALMRegressor(stages=["power"]).fit(TIMES, y, ["t"], groups=SAMPLES)
    assert found.formula_ == "a*t**(3/2)" and list(found.groups_) == list("pqrs")
    found.save(tmp_path / "law.json")
    again = NALMRegressor.load(tmp_path / "law.json")
    del again.feature_names_in_
    y, words, ends = again.predict([[1.0], [20.0]], True, True, groups=["p", "r"])
    assert words.tolist() == ["inside", "outside"] and (ends[:, 0] < y).all() and (y < ends[:, 1]).all()
    assert y[0] == pytest.approx(3, rel=0.03)
    with pytest.raises(NALMError, match="group of each row"):
        again.predict([[1.0]])
    with pytest.raises(NALMError, match="group"):
        again.predict([[1.0]], groups=["z"])


@pytest.mark.slow
def test_a_treatment_changes_the_largest_rate_of_an_enzyme():
    treated = np.repeat(["with", "without"], 16)
    y = noisy(np.where(treated == "with", 212.0, 160.0) * DOSE[:, 0] / (0.1 + DOSE[:, 0]), 3.0)
    found = search_groups(DOSE, y, treated, ["c"], stages=["additive", "power", "ratio"])
    forms = [structure(Power((Input(0), Sum((Input(0),), (1.0,), 1.0), Input(1)), (1.0, -1.0, 1.0)))]
    assert structure(found.law.expression) in forms and found.certificate.verdict == "consistent"
    groups = found.candidates[0].groups
    assert groups.own["without"]["a"].high < 200 < groups.own["with"]["a"].low + 5
    assert len({structure(c.law.expression) for c in found.candidates}) == len(found.candidates)


@pytest.mark.slow
def test_trees_grow_to_their_own_heights_at_one_rate():
    heights = np.repeat([30.0, 22.0, 27.0, 35.0], 9)
    found = search_groups(TIMES, noisy(heights / (1 + np.exp(2 - 0.9 * TIMES[:, 0])), 0.2), SAMPLES, ["t"])
    assert "0.89" in str(found.law) and "exp(" in str(found.law)
    own = [g["a"].value for g in found.candidates[0].groups.own.values()]
    assert own == pytest.approx([30, 22, 27, 35], rel=0.03) and found.candidates[0].groups.names == ("a",)


def test_a_number_that_no_group_has_of_its_own_is_shared():
    x = np.tile(np.linspace(1, 9, 10), 3)[:, None]
    y = noisy(2.37 * x[:, 0] ** 2 + 1.2, 0.3)
    found = search_groups(x, y, np.repeat([1, 2, 3], 10), ["x"], stages=["polynomial"])
    assert found.candidates[0].groups.names == () and found.law.names == ("x",)


def test_a_form_is_fitted_to_groups_with_the_names_of_its_parameters():
    y = np.repeat([3.0, 5.0, 8.0, 2.0], 9) * np.exp(noisy(-0.4 * TIMES[:, 0], 0.02))
    found = NALMRegressor(form="log(y) = A - k*t").fit(TIMES, y, ["t"], groups=SAMPLES)
    assert list(found.groups_["q"]) == ["A"] and found.equations_[0].constants[0].name == "k"
    assert found.groups_["q"]["A"].value == pytest.approx(np.log(5), rel=0.03)


def test_units_of_measurement_hold_in_groups_too():
    rng = np.random.default_rng(1)
    length, which = rng.uniform(0.2, 2, 36), SAMPLES
    x = np.column_stack([length, np.full(36, 9.81)])
    swing = np.repeat([6.3, 6.4, 6.6, 6.9], 9)  # 2 pi and more: wide swings take longer
    y = swing * np.sqrt(length / 9.81) * np.exp(0.002 * rng.standard_normal(36))
    units = {"X_units": ["m", "m/s^2"], "y_unit": "s"}
    found = NALMRegressor(stages=["additive", "power"], **units).fit(x, y, ["L", "g"], groups=which)
    assert found.formula_ == "sqrt(L)*a/sqrt(g)"
    own = [group["a"].value for group in found.groups_.values()]
    assert own == pytest.approx([6.3, 6.4, 6.6, 6.9], rel=3e-3)
    plain = NALMRegressor(stages=["additive", "power"]).fit(x, y, ["L", "g"], groups=which)
    assert plain.formula_ == "sqrt(L)*a"  # numbers without units take the place of a constant


def test_errors_of_columns_count_in_groups_as_in_each_group_alone():
    rng = np.random.default_rng(2)
    true, which = np.tile(np.linspace(1, 6, 12), 2), np.repeat(["p", "q"], 12)
    x_err, y_err = rng.uniform(0.02, 0.3, (24, 1)), rng.uniform(0.05, 0.2, 24)
    x = true[:, None] + x_err * rng.standard_normal((24, 1))
    y = np.where(which == "p", 2.0, 3.5) * true + 1 + y_err * rng.standard_normal(24)
    errors = {"y_err": y_err, "x_err": x_err}
    joint = search_form_groups("a*x + b", x, y, which, ["x"], **errors).candidates[0]
    assert joint.groups.names == ("a",)
    for label in "pq":
        rows = which == label
        own = {name: e[rows] for name, e in errors.items()}
        alone = search_form("a*x + b", x[rows], y[rows], ["x"], **own).candidates[0].constants
        a, b = joint.groups.own[label]["a"], joint.constants[0]
        for c, d in zip((a, b), alone, strict=True):
            assert abs(c.value - d.value) < 2 * d.error and c.error < d.error  # rows of both groups tell b
    found = search_groups(x, y, which, ["x"], stages=["additive"], **errors)
    group = found.candidates[0].groups
    assert group.own["q"][group.names[0]].value == pytest.approx(joint.groups.own["q"]["a"].value, rel=2e-3)


def test_weights_and_a_bootstrap_work_in_groups():
    y = noisy(np.repeat([3.0, 5.0, 8.0, 2.0], 9) * TIMES[:, 0] + 1, 0.1)
    off = y.copy()
    off[4] += 60
    weight = np.ones(36)
    weight[4] = 1e-9
    for form in (None, "a*t + b"):
        fitted = [
            NALMRegressor(form=form, stages=["additive"], bootstrap=draws).fit(
                TIMES, off, ["t"], groups=SAMPLES, sample_weight=weight
            )
            for draws in (0, 60)
        ]
        own = [next(iter(f.groups_["p"].values())) for f in fitted]
        assert own[0].value == own[1].value == pytest.approx(3, abs=0.03)
        assert 0.3 < own[1].error / own[0].error < 3 and own[0].error != own[1].error


def test_numbers_become_inputs_wherever_they_stand():
    node = Sum((Power((Input(0),), (1.7,), 3.0), Function("exp", Input(0))), (2.0, -1.0), 0.5)
    x = np.array([[1.5], [2.5]])
    for place in range(len(numbers(node))):
        column = np.full((2, 1), numbers(node)[place])
        moved = with_inputs(node, {place: 1})
        assert evaluate(moved, np.hstack([x, column])) == pytest.approx(evaluate(node, x))
        assert evaluate(moved, np.hstack([x, 2 * column])) != pytest.approx(evaluate(node, x))
    assert own_names(3, ["b"]) == ("a", "c", "d")


def test_mistakes_about_groups_are_sentences():
    x, y = np.arange(1.0, 9.0)[:, None], np.arange(8.0)
    for sentence, groups in [
        ("one label", [1]),
        ("All rows belong", [1] * 8),
        ("Each of the 8 rows is a group of its own", range(8)),
    ]:
        with pytest.raises(NALMError, match=sentence):
            search_groups(x, y, groups)
    with pytest.raises(NALMError, match="one unit for each"):
        NALMRegressor(X_units=["m", "s"], y_unit="m").fit(x, y, groups=[1, 2] * 4)
    with pytest.raises(NALMError, match="without groups"):
        NALMRegressor(stages=["additive"]).fit(x, y).predict(x, groups=[1] * 8)


@pytest.mark.slow
def test_conditions_on_the_form_hold_in_groups_too():
    other = np.random.default_rng(3).uniform(1, 2, len(TIMES))
    x = np.column_stack([TIMES, other])
    y = np.repeat([3.0, 5.0, 8.0, 2.0], 9) * np.exp(noisy(1.5 * np.log(x[:, 0]), 0.02))
    whole = NALMRegressor(stages=["additive", "power"], exponents="integer").fit(
        x, y, ["t", "u"], groups=SAMPLES
    )
    assert "**(3/2)" not in whole.formula_ and "1." not in whole.formula_.partition("**")[2][:3]
    kept = NALMRegressor(stages=["additive", "power"], contains=["u"]).fit(x, y, ["t", "u"], groups=SAMPLES)
    assert "u" in kept.laws_[0].inputs
    bare = NALMRegressor(stages=["additive", "power"], without=["t"]).fit(x, y, ["t", "u"], groups=SAMPLES)
    assert bare.laws_[0].inputs[0] == "u" and not bare.certificate_


LONG = np.tile(np.linspace(0.5, 8, 12), 3)[:, None]
OF_LONG = np.repeat(list("pqr"), 12)
SIZES = np.repeat([3.0, 5.25, 8.1], 12)


def in_groups(y, rows=slice(None), stages=("power", "polynomial"), **options):
    return search_groups(
        LONG[rows], y[rows], OF_LONG[rows], ["t"], stages=list(stages), **options
    ).certificate


def test_a_law_of_groups_is_exact_where_it_holds_to_rounding_in_each_of_them():
    y = SIZES * LONG[:, 0] ** 1.5
    exact = in_groups(y)
    assert exact.verdict == "exact" and exact.tested.endswith("float64 on 36 rows in 3 groups.")
    off = y.copy()
    off[20] *= 1 + 1e-12
    assert in_groups(off).verdict != "exact"
    few = np.tile(np.arange(12) < 6, 3)
    assert in_groups(y, few).verdict == "consistent"


@pytest.mark.parametrize(
    "curve", [lambda t: np.sin(1e-3 * t), lambda t: np.cosh(t / 100), lambda t: np.log(t + 1e4), np.floor]
)
def test_no_law_of_groups_is_exact_where_none_is_true(curve):
    assert in_groups(SIZES * curve(LONG[:, 0])).verdict != "exact"


def test_declared_noise_counts_in_groups():
    y = noisy(SIZES * LONG[:, 0] ** 1.5, 1.0)
    share = 1.0 / np.std(y)
    assert in_groups(y, stages=["power"], noise=share).verdict in ("consistent", "undecided")
    assert "larger than the declared noise" in in_groups(y, stages=["power"], noise=share / 3).tested
    assert "no noise is admitted" in in_groups(y, stages=["power"], noise=0).tested
