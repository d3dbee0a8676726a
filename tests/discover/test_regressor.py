"""NALMRegressor: what scikit-learn asks of an estimator, what a scientist does with it, and whatever a table holds."""

import json
import time

import numpy as np
import pandas as pd
import pytest
import sympy
import torch
from safetensors.torch import load_file
from sklearn.base import clone
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import parametrize_with_checks

from nalm import NALMError, NALMRegressor
from nalm.discover.law.names import clean_names

OTHERWISE = {
    "check_sample_weight_equivalence_on_dense_data": "a weight is one over a variance, and copies of a row count once"
}


def checked(estimator):
    checks = parametrize_with_checks([estimator], expected_failed_checks=lambda _: OTHERWISE)
    mark = checks.mark  # whose generator pytest wants as a list
    return pytest.mark.parametrize(mark.args[0], list(mark.args[1]), **mark.kwargs)


@checked(NALMRegressor(stages=("additive", "power", "ratio"), max_time=None))
def test_scikit_learn_finds_nothing_wrong(estimator, check):
    check(estimator)


@pytest.mark.slow
@checked(NALMRegressor())
def test_scikit_learn_finds_nothing_wrong_with_the_whole_ladder(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def gravity():
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.uniform(1, 5, (200, 4)), columns=["m1", "m2", "r", "idle"])
    return table, 6.674 * table.m1 * table.m2 / table.r**2


@pytest.fixture(scope="module")
def fitted(gravity):
    return NALMRegressor().fit(*gravity)


def test_columns_give_their_names_to_the_law(fitted):
    assert fitted.formula_ == "6.674*m1*m2/r**2"
    assert fitted.certificate_.verdict == "exact"
    assert fitted.equations_[0].formula == fitted.formula_
    assert fitted.equations_[0].error < 1e-12
    assert fitted.sympy().free_symbols == set(sympy.symbols("m1 m2 r"))
    assert fitted.latex() == r"\frac{6.674 m_{1} m_{2}}{r^{2}}"
    assert [e.size > 0 for e in fitted.equations_]


def test_support_flags_rows_that_were_never_tested(fitted):
    x = pd.DataFrame(
        [[2, 2, 2, 2], [20, 2, 2, 2], [2, 2, 1e-3, 2], [2, 2, 0, 2], [1e300, 1e300, 2, 2], [2, 2, 2, 99]],
        columns=["m1", "m2", "r", "idle"],
    )
    y, support = fitted.predict(x, return_support=True)
    assert support.tolist() == ["inside", "outside", "singular", "singular", "overflow", "inside"]
    assert y[0] == pytest.approx(6.674)


def test_a_root_of_a_negative_number_is_undefined():
    x = np.random.default_rng(0).uniform(1, 5, (100, 2))
    found = NALMRegressor().fit(x, np.sqrt(x[:, 0] - 0.5) * 3)
    y, support = found.predict([[0.2, 1.0], [2.0, 1.0]], return_support=True)
    assert np.isnan(y[0])
    assert support.tolist() == ["undefined", "inside"]


def test_saved_laws_come_back_whole(fitted, gravity, tmp_path):
    fitted.save(tmp_path / "law.json")
    again = NALMRegressor.load(tmp_path / "law.json")
    assert again.formula_ == fitted.formula_
    assert again.certificate_ == fitted.certificate_
    assert again.equations_ == fitted.equations_
    table, _ = gravity
    assert (again.predict(table) == fitted.predict(table)).all()
    assert again.feature_names_in_.tolist() == list(table.columns)
    weights = load_file(tmp_path / "law.safetensors")
    module = fitted.to_module(torch.float64)
    assert {f"0.{k}" for k in module.state_dict()} == set(weights)
    assert (
        json.loads((tmp_path / "law.json").read_text("utf-8"))["laws"][0]["python"]
        == fitted.laws_[0].python()
    )


def damaged():
    yield "not JSON", lambda text: text[:40]
    yield "is not a law", lambda text: "[]"
    yield "is not a law", lambda text: text.replace("nalm law 1", "nalm law 9")
    yield "no part of a law", lambda text: text.replace('"power"', '"shell"')
    yield "finite numbers", lambda text: text.replace("6.674", "1e999", 99).replace('"1e999', '"6.674')
    yield "do not belong together", lambda text: text.replace('"idle"\n ],', '"idle", "more"\n ],', 1)


@pytest.mark.parametrize(("words", "damage"), list(damaged()))
def test_a_damaged_file_is_a_sentence(fitted, tmp_path, words, damage):
    path = tmp_path / "law.json"
    fitted.save(path)
    text = path.read_text("utf-8")
    assert damage(text) != text
    path.write_text(damage(text))
    with pytest.raises(NALMError, match=words):
        NALMRegressor.load(path)


def test_a_missing_file_and_a_missing_folder_are_sentences(fitted, tmp_path):
    with pytest.raises(NALMError, match="Cannot read"):
        NALMRegressor.load(tmp_path / "none.json")
    with pytest.raises(NALMError, match="Cannot write"):
        fitted.save(tmp_path / "none" / "law.json")


def test_several_outputs():
    x = np.random.default_rng(0).uniform(-2, 2, (150, 3))
    y = np.stack([x[:, 0] * x[:, 1], x[:, 2] - x[:, 0], np.full(150, 3.0)], 1)
    found = NALMRegressor().fit(x, y)
    assert found.formula_ == ["x0*x1", "-x0 + x2", "3"]
    assert [bool(c) for c in found.certificate_] == [True, True, True]
    assert found.predict(x).shape == (150, 3)
    far = 100 * x
    out = found.to_module(torch.float64)(torch.from_numpy(far)).detach().numpy()
    assert np.allclose(out, found.predict(far), rtol=1e-12)
    assert found.predict(far, return_support=True)[1].shape == (150, 3)
    assert found.score(x, y) == 1.0


def test_it_works_where_scikit_learn_expects_an_estimator(gravity):
    table, y = gravity
    assert cross_val_score(NALMRegressor(), table, y, cv=3) == pytest.approx([1.0] * 3)
    pipeline = make_pipeline(FunctionTransformer(np.log), NALMRegressor())
    assert pipeline.fit(table.to_numpy(), np.log(y)).score(table.to_numpy(), np.log(y)) == pytest.approx(1.0)
    assert clone(NALMRegressor(noise=0.1)).noise == 0.1


@pytest.mark.system
def test_every_choice_follows_from_the_seed(gravity):
    table, y = gravity
    noisy = y * (1 + 0.02 * np.random.default_rng(1).standard_normal(len(y)))
    np.random.seed(0)
    a = NALMRegressor(random_state=3).fit(table, noisy)
    np.random.seed(1)
    b = NALMRegressor(random_state=3).fit(table, noisy)
    assert a.equations_ == b.equations_
    assert NALMRegressor(random_state=np.random.RandomState(0)).fit(table, y).certificate_


def test_units_of_measurement_constrain_the_exponents(gravity):
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {"m": rng.uniform(1, 5, 80), "v": rng.uniform(1, 1.5, 80), "t": rng.uniform(1, 2, 80)}
    )
    energy = 0.5 * table.m * table.v**2 * (1 + 0.05 * rng.standard_normal(80))
    found = NALMRegressor(X_units=["kg", "m/s", "s"], y_unit="J").fit(table, energy)
    assert sympy.sympify(found.sympy()).as_powers_dict()[sympy.Symbol("v")] == 2
    with pytest.raises(NALMError, match="unit"):
        NALMRegressor(X_units=["kg", "m/s", "parsnip"], y_unit="J").fit(table, energy)


@pytest.mark.system
def test_max_time_is_kept():
    """In processor time, which on a busy machine is less than the clock's."""
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((500, 20)), rng.standard_normal((500, 3))

    def timed(seconds, outputs=1):
        began = time.thread_time()
        found = NALMRegressor(max_time=seconds).fit(x, y[:, :outputs])
        assert not any(np.atleast_1d(found.certificate_))
        return time.thread_time() - began

    timed(0.001)  # once, so that everything is imported
    whole = timed(None)
    assert timed(0.2 * whole) < 0.6 * whole
    assert timed(0.3 * whole, outputs=3) < whole  # three targets share the time


def test_a_verbose_fit_prints_one_line_per_stage(gravity, capsys):
    NALMRegressor(verbose=1).fit(*gravity)
    told = capsys.readouterr().out
    assert "power" in told
    assert "6.674*m1*m2/r**2" in told


X = np.random.default_rng(0).uniform(1, 2, (40, 2))
TABLES = {
    "empty": (np.empty((0, 2)), np.empty(0)),
    "one row": (X[:1], X[:1, 0]),
    "three rows": (X[:3], X[:3, 0]),
    "no columns": (np.empty((40, 0)), X[:, 0]),
    "not a number": (np.where(X.max() == X, np.nan, X), X[:, 0]),
    "infinite": (np.where(X.max() == X, np.inf, X), X[:, 0]),
    "a target without a number": (X, np.where(X[:, 0] == X[:, 0].max(), np.nan, X[:, 0])),
    "text": ([*X.astype(str).astype(object).tolist()[:-1], ["a", "b"]], X[:, 0]),
    "lengths": (X, X[:-1, 0]),
    "complex": (X + 1j, X[:, 0]),
}


@pytest.mark.parametrize("kind", TABLES)
def test_a_table_without_an_answer_is_one_sentence(kind):
    with pytest.raises(ValueError, match=r"\w+ \w+ \w+"):
        NALMRegressor(max_time=2).fit(*TABLES[kind])


SHAPES = {
    "one column": (X[:, :1], X[:, 0] ** 2),
    "constant target": (X, np.full(40, 2.5)),
    "zero target": (X, np.zeros(40)),
    "constant columns": (np.ones((40, 3)), X[:, 0]),
    "huge": (X * 1e300, X[:, 0] * 1e300),
    "tiny": (X * 1e-300, X[:, 0] * 1e-300),
    "huge and tiny": (X * [1e-200, 1e200], X[:, 0] * X[:, 1]),
    "integers": (np.round(X * 10).astype(int), np.round(X[:, 0] * 10).astype(int)),
    "truth values": (X > 1.5, (X[:, 0] > 1.5)),
    "numbers as text": (X.astype(str).tolist(), X[:, 0].astype(str).tolist()),
    "chance": (X, np.random.default_rng(1).standard_normal(40)),
    "seven rows": (X[:7], X[:7, 0] * X[:7, 1]),
}


@pytest.mark.parametrize("kind", SHAPES)
def test_any_table_gets_a_law_and_a_verdict(kind):
    x, y = SHAPES[kind]
    began = time.thread_time()
    found = NALMRegressor(max_time=3.0).fit(x, y)
    # a slow processor takes longer for the answer after the limit
    assert time.thread_time() - began < 4 * 3.0
    assert isinstance(found.formula_, str)
    assert found.certificate_.verdict in ("exact", "consistent", "none")
    y, support = found.predict(x, return_support=True)
    assert len(y) == len(support)
    assert found.to_module() is not None


def test_awkward_names_are_cleaned():
    columns = ["pi", "lambda", "mass (kg)", "a", "A b", "E", "I", "gamma", "log", "x1"]
    x = pd.DataFrame(np.random.default_rng(0).uniform(1, 2, (100, len(columns))), columns=columns)
    y = x["pi"] * x["lambda"] / x["mass (kg)"]
    found = NALMRegressor().fit(x, y)
    assert found.formula_ == "lambda_*pi_/mass_kg"
    assert found.certificate_
    assert found.laws_[0].python() == "pi_*lambda_/mass_kg"
    for name in columns:  # whatever SymPy means by it, here it is a column
        found = NALMRegressor().fit(x, 2 * x[name])
        assert found.predict(x) == pytest.approx(2 * x[name])
        assert found.formula_.startswith("2*")


def test_equal_column_names_are_refused_and_cleaned_names_differ():
    x = pd.DataFrame(np.random.default_rng(0).uniform(1, 2, (60, 2)), columns=["a", "a"])
    with pytest.raises(NALMError, match="more than one column called a"):
        NALMRegressor().fit(x, x.iloc[:, 0] / x.iloc[:, 1])
    y = x.iloc[:, 0] / x.iloc[:, 1]
    assert NALMRegressor().fit(x.to_numpy(), y, names=["a b", "a-b"]).formula_ == "a_b/a_b_2"
    assert clean_names(["a b", "a-b", "a_b_2"]) == ("a_b", "a_b_2", "a_b_2_2")


def test_wrong_parameters_are_sentences(gravity):
    for wrong in (
        {"max_time": 0},
        {"max_time": "long"},
        {"noise": 2.0},
        {"stages": ["magic"]},
        {"X_units": ["kg"], "y_unit": "N"},
        {"X_units": ["kg"] * 4},
    ):
        with pytest.raises(NALMError):
            NALMRegressor(**wrong).fit(*gravity)
