"""Tables as they come, given as arrays or data frames: the right thing, or one sentence."""

import numpy as np
import pytest

from nalm import NALMError, NALMRegressor
from nalm.discover import search


def test_three_rows_are_refused_with_how_many_are_needed():
    with pytest.raises(NALMError, match="at least 6 rows"):
        search(np.arange(1.0, 4.0)[:, None], np.arange(3.0))


def test_dates_and_words_in_a_data_frame_are_one_sentence():
    pandas = pytest.importorskip("pandas")
    y = np.arange(9.0)
    frame = pandas.DataFrame({"a": np.arange(9.0), "day": pandas.date_range("2024-01-01", periods=9)})
    with pytest.raises(NALMError, match="Column day holds dates or times: give numbers"):
        NALMRegressor(max_time=1).fit(frame, y)
    with pytest.raises(
        NALMError, match=r"Column day holds text \('a word'\): leave it out, or give it as groups"
    ):
        NALMRegressor(max_time=1).fit(frame.assign(day="a word"), y)
    with pytest.raises(NALMError, match="holds text"):
        NALMRegressor(max_time=1).fit(frame.assign(day=pandas.Categorical(list("abcabcabc"))), y)


def test_missing_values_in_a_data_frame_are_named_with_their_row():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": [1.0, 2, np.nan, 4, np.nan, 6], "b": np.arange(6.0)})
    with pytest.raises(NALMError, match="Column a contains NaN, 2 missing values, the first in row 2"):
        NALMRegressor(max_time=1).fit(frame, np.arange(6.0))


def test_truth_values_are_conditions_and_their_law_is_exact():
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    frame = pandas.DataFrame({"hot": rng.integers(0, 2, 60).astype(bool), "m": rng.uniform(1, 5, 60)})
    found = NALMRegressor(stages=["additive"]).fit(frame, 3 * frame["m"] + 5 * frame["hot"])
    assert found.formula_ == "5*hot + 3*m" and found.certificate_.verdict == "exact"


def test_a_constant_with_a_unit_is_a_column_of_one_value():
    rng = np.random.default_rng(0)
    x = np.column_stack([rng.uniform(0.5, 2, 40), rng.uniform(280, 400, 40), rng.uniform(0.01, 0.05, 40)])
    y = 8.314 * x[:, 0] * x[:, 1] / x[:, 2]
    units = ["mol", "K", "m3"]
    found = search(x, y, ["n", "T", "V"], x_units=units, y_unit="Pa", stages=["power"])
    assert (
        not found.certificate
        and "constant with a unit is missing, add it as a column" in found.certificate.tested
    )
    x = np.column_stack([x, np.full(40, 8.314)])
    found = search(x, y, ["n", "T", "V", "R"], x_units=[*units, "J/(mol K)"], y_unit="Pa", stages=["power"])
    assert str(found.law) == "R*T*n/V" and found.certificate.verdict == "exact"


def test_rows_that_repeat_count_once_as_evidence():
    rng = np.random.default_rng(0)
    x = rng.uniform(1, 5, (12, 1))
    y = 3.3 * x[:, 0] + 0.1 * rng.standard_normal(12)
    once = search(x, y, stages=["additive", "power"])
    thrice = search(np.tile(x, (3, 1)), np.tile(y, 3), stages=["additive", "power"])
    assert str(once.law) == str(thrice.law)
    a, b = (found.candidates[0].constants[0] for found in (once, thrice))
    assert b.error == pytest.approx(a.error, rel=0.05)


def test_a_column_that_moves_with_another_is_named_among_the_alternatives():
    rng = np.random.default_rng(0)
    a = rng.uniform(1, 5, 40)
    x = np.stack([a, a + 0.001 * rng.standard_normal(40)], 1)
    found = search(x, 2 * a**2 * np.exp(0.05 * rng.standard_normal(40)), ["a", "b"], stages=["power"])
    assert len(found.law.inputs) == 1 and found.certificate.verdict == "undecided"
    (used,) = found.law.inputs
    other = {"a": "b", "b": "a"}[used]
    assert any(other in text for text in found.certificate.alternatives)


@pytest.mark.slow
@pytest.mark.parametrize(("rows", "columns"), [(100_000, 4), (3000, 60)])
def test_large_and_wide_tables_are_answered(rows, columns):
    rng = np.random.default_rng(0)
    x = rng.uniform(1, 3, (rows, columns))
    y = 4.2 * x[:, 0] * x[:, 2] / x[:, 3] * np.exp(0.02 * rng.standard_normal(rows))
    found = NALMRegressor(max_time=20).fit(x, y)
    assert sorted(found.laws_[0].inputs) == ["x0", "x2", "x3"] and found.certificate_.verdict != "none"


def test_a_column_of_celsius_is_refused_with_the_remedy():
    with pytest.raises(NALMError, match="convert the column to K"):
        NALMRegressor(X_units=["°C"], y_unit="Pa").fit(np.arange(1.0, 9.0)[:, None], np.arange(8.0))


@pytest.mark.parametrize(("rows", "columns"), [(100_000, 3), (500, 60)])
def test_many_rows_and_many_columns_have_an_exact_law(rows, columns):
    x = np.random.default_rng(0).uniform(1, 3, (rows, columns))
    found = search(x, 4.2 * x[:, 0] * x[:, 2] / x[:, 1], stages=["power"])
    assert len(found.law.inputs) == 3 and found.certificate.verdict == "exact"


@pytest.mark.parametrize("name", ["rownames", "Unnamed: 0", "id", "X"])
def test_row_numbers_in_a_data_frame_are_no_quantity(name):
    pandas = pytest.importorskip("pandas")
    a = np.linspace(1, 3, 12)
    frame = pandas.DataFrame({name: np.arange(1, 13), "a": a})
    with pytest.raises(NALMError, match=f"Column {name} counts the rows: leave it out, or rename it"):
        NALMRegressor(stages=["power"]).fit(frame, 2 * a)
    for other in (frame.rename(columns={name: "charge"}), frame[["a"]], frame.sample(frac=1, random_state=0)):
        assert NALMRegressor(stages=["power"]).fit(other, 2 * other["a"]).formula_ == "2*a"
    alone = NALMRegressor(stages=["power"]).fit(
        frame[[name]], 2.0 * frame[name]
    )  # nothing else could explain y
    assert alone.certificate_.verdict == "exact"


def test_numbers_written_with_commas_and_categories_are_one_sentence():
    pandas = pytest.importorskip("pandas")
    a = np.linspace(1, 3, 9)
    for cell in ("1,5", "1.373,12", "1,373.12", "2 500"):
        frame = pandas.DataFrame({"a": a, "b": [cell] * 9})
        with pytest.raises(
            NALMError, match=r"Column b holds text .*: read it with pandas' decimal= and thousands="
        ):
            NALMRegressor().fit(frame, a)
        with pytest.raises(NALMError, match=r"y holds text .*: read it with pandas' decimal="):
            NALMRegressor().fit(frame[["a"]], frame["b"].tolist())
    codes = pandas.DataFrame({"a": a, "kind": pandas.Categorical([0, 1, 2] * 3)})
    with pytest.raises(NALMError, match="Column kind holds categories: leave it out, or give it as groups"):
        NALMRegressor().fit(codes, a)


def test_gaps_and_dates_in_the_target_are_one_sentence():
    x, y = np.arange(1.0, 10.0)[:, None], np.arange(9.0)
    with pytest.raises(NALMError, match="y contains NaN, 1 in all, the first in row 4: drop such rows"):
        NALMRegressor().fit(x, np.where(y == 4, np.nan, y))
    with pytest.raises(NALMError, match="y holds dates or times: give numbers"):
        NALMRegressor().fit(x, np.arange("2024-01-01", "2024-01-10", dtype="datetime64[D]"))
    with pytest.raises(NALMError, match=r"y holds text \('high'\): give numbers"):
        NALMRegressor().fit(x, ["1", "high", *"3456789"])


def test_where_no_column_changes_nothing_is_exact():
    found = NALMRegressor().fit(np.full((10, 2), 3.0), np.full(10, 5.0))
    assert found.formula_ == "5" and found.certificate_.verdict == "none"
    moving = NALMRegressor(stages=["additive"]).fit(np.arange(10.0)[:, None], np.full(10, 5.0))
    assert moving.formula_ == "5" and moving.certificate_.verdict == "exact"


def test_errors_of_one_target_are_not_used_for_two():
    x = np.arange(1.0, 10.0)[:, None]
    with pytest.raises(NALMError, match="y_err is that of one target, but y has 2: fit them one by one"):
        NALMRegressor().fit(x, np.hstack([x, x]), y_err=np.ones(9))


def test_an_error_of_zero_is_named_with_its_row():
    x, error = np.arange(1.0, 10.0)[:, None], np.ones(9)
    error[3] = 0
    with pytest.raises(NALMError, match=r"y_err\[3\] must be above 0, got 0: drop such rows"):
        NALMRegressor().fit(x, x[:, 0], y_err=error)
