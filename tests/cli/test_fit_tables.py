"""nalm fit on tables as people have them: numbers are read as they are meant, or one sentence says what is wrong."""

import json

import numpy as np
import pytest
from commands import run

from nalm.errors import NALMError

pytest.importorskip("sklearn", reason="scikit-learn is not installed")
X = np.linspace(1, 9, 20).round(2)
Y = (1500 * X**2).round(1)


@pytest.fixture
def file(tmp_path):
    def make(header, *columns, separator=","):
        path = tmp_path / "data.csv"
        lines = [separator.join(map(str, row)) for row in zip(*columns, strict=True)]
        path.write_text("\n".join([header, *lines]) + "\n", encoding="utf-8")
        return path

    return make


def fitted(path, *options, form="k*x**2"):
    return json.loads(run("fit", path, "--target", "y", "--form", form, "--json", *options).stdout)


def test_decimal_commas_and_thousands_marks_give_the_law_of_the_plain_table(file):
    plain = fitted(file("x,y", X, Y))
    comma = [f"{v:,.1f}".translate(str.maketrans(",.", ".,")) for v in Y]
    german = fitted(file("x;y", [str(v).replace(".", ",") for v in X], comma, separator=";"))
    marked = fitted(file("x,y", X, [f'"{v:,.1f}"' for v in Y]))
    assert plain["formula"] == german["formula"] == marked["formula"] and plain["rows"] == 20
    assert german["dropped"] == marked["dropped"] == ""
    assert any("thousands marks" in words for words in marked["warnings"])


def test_gaps_words_dates_copies_and_row_numbers_are_named(file):
    day = [f"2024-03-{k + 1:02d}" for k in range(20)]
    kind = ["old", "new"] * 10
    y = [v if k != 4 else "n/a" for k, v in enumerate(Y)]
    columns = [range(1, 21), day, kind, [True, False] * 10, X, y]
    found = fitted(file(",day,kind,on,x,y", *(list(c) + list(c)[:1] for c in columns)))
    words = " ".join([*found["warnings"], found["dropped"]])
    for part in (
        "Column day is left out: it holds dates; --columns uses them as days",
        "Column kind is left out: it holds 2 categories; --groups kind gives each its own constants",
        "Column on holds truth values",
        "1 of 20 rows repeat another one",
        "1 of 21 rows dropped: 1 with 'n/a' in column y (line 6)",
    ):
        assert part in words
    assert found["columns"] == ["column1", "on", "x"] and found["rows"] == 20  # a copy ends the row numbers
    numbered = fitted(file(",x,y", range(20), X, Y))
    assert numbered["columns"] == ["x"] and "it counts the rows" in numbered["warnings"][0]


def test_dates_are_days_where_they_are_asked_for(file):
    level = 5 + 0.25 * np.arange(20)
    path = file("day,y", [f"2024-03-{k + 1:02d}" for k in range(20)], level)
    found = fitted(path, "--columns", "day", form="a*day + b")
    assert found["constants"][0]["value"] == pytest.approx(0.25) and found["verdict"] != "none"


def test_units_in_headers_are_used_or_refused_with_the_remedy(file):
    pressure = 8.314 * 2 * (X + 273.15)
    path = file("T [degC],p [Pa]", X, pressure)
    with pytest.raises(NALMError, match="convert the column to K"):
        run("fit", path, "--target", "p [Pa]", "--header-units")
    arguments = path, "--target", "p [Pa]", "--form", "k*(T_degC + 273.15)", "--json"
    found = json.loads(run("fit", *arguments).stdout)
    assert found["verdict"] == "exact" and found["renamed"] == {"T_degC": "T [degC]"}


def test_a_constant_of_nature_is_used_in_a_form_and_offered_for_a_number(file):
    volume = 0.0224 + 0.001 * np.arange(20)
    noise = np.exp(0.001 * np.random.default_rng(0).standard_normal(20))
    path = file("n,T,V,y", X, 300 - X, volume, 8.314462618 * X * (300 - X) / volume * noise)
    offered = fitted(path, "--constants", "R,g", form="log(y) = log(k*n*T/V)")["offered"]
    assert [c["symbol"] for c in offered] == ["R"]
    known = fitted(path, "--constants", "R", form="log(y) = log(R*n*T/V)")
    assert known["constants"] == [] and known["verdict"] == "consistent"


@pytest.mark.parametrize("rows", [2, 3])
def test_three_rows_are_too_few(file, rows):
    with pytest.raises(NALMError, match=f"at least 6 rows to be seen and tested, got {rows}"):
        run("fit", file("x,y", X[:rows], Y[:rows]), "--target", "y")


def test_mistakes_about_errors_and_groups_are_sentences(file):
    error = np.where(np.arange(20) == 3, 0.0, 0.5)
    path = file("x,y,dy,g", X, Y, error, ["a"] * 10 + ["b"] * 9 + ["c"])
    form = "--form", "k*x**2"
    for options, sentence in [
        (
            ("--error", "dy"),
            "Column dy holds errors, which are above 0, but row 4 has 0: leave such rows out",
        ),
        (("--error", "y"), "Column y is a target and cannot hold errors"),
        (("--error", "nope"), "no column of errors called 'nope'"),
        (("--error", "dy", "--x-error", "x=x"), "Column x holds errors and has none itself"),
        (("--groups", "nope"), "no column in data.csv called 'nope'"),
        (
            ("--groups", "g"),
            "Group c has too few rows, 1, to fit 1 parameters: add some, or leave the group out",
        ),
    ]:
        with pytest.raises(NALMError, match=sentence):
            run("fit", path, "--target", "y", *form, *options)


def test_predictions_of_groups_come_with_intervals(file, tmp_path):
    rng, group = np.random.default_rng(0), ["wild", "mutant"] * 10
    y = np.where(np.array(group) == "wild", 2.0, 5.0) * X + 0.1 * rng.standard_normal(20)
    path, law = file("x,strain,y", X, group, y), tmp_path / "law.json"
    fitted(path, "--groups", "strain", "--save", law, form="k*x")
    arguments = law, path, "--groups", "strain", "--intervals", "--json"
    found = json.loads(run("predict", *arguments).stdout)
    inside = [low < v < high for low, v, high in zip(found["low"], y, found["high"], strict=True)]
    assert sum(inside) >= 17
    with pytest.raises(NALMError, match="give the group of each row"):
        run("predict", law, path, "--intervals")
    other = file("x,strain", [1.0], ["new"])
    with pytest.raises(NALMError, match=r"no group called 'new'\. Known: wild, mutant"):
        run("predict", law, other, "--groups", "strain")


def test_a_law_of_several_columns_is_plotted_over_the_target_with_what_it_leaves(file):
    other = np.tile([1.0, 2.0, 3.0, 5.0], 5)
    text = run("fit", file("x,z,y", X, other, X * other), "--target", "y", "--form", "k*x*z").stdout
    assert "law over y" in text and "y - law, over y" in text


def test_printed_digits_are_read_from_the_text_of_the_file(file):
    """x is printed as 1.00, 2.00, ...: as numbers they look whole, and the law would hold nowhere."""
    rng = np.random.default_rng(3)
    x = np.arange(1, 41)
    y = 3 * (x + rng.uniform(-0.005, 0.005, 40)) ** 2
    path = file("x,y", [f"{v:.2f}" for v in x], [f"{v:.2f}" for v in y])
    assert fitted(path, form="3*x**2")["verdict"] == "exact to the printed digits"
    path = file("x,y", x, [f"{v:.2f}" for v in y])
    assert fitted(path, form="3*x**2")["verdict"] != "exact to the printed digits"
