"""nalm fit with a known form, a column of errors, and another law of the front."""

import csv
import json

import numpy as np
import pytest
from typer.testing import CliRunner

from nalm import cli
from nalm.errors import NALMError

pytest.importorskip("sklearn", reason="scikit-learn is not installed")


def run(*arguments: object) -> str:
    result = CliRunner().invoke(cli.app, ["fit", *map(str, arguments), "--target", "y"])
    if isinstance(result.exception, NALMError):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result.stdout


@pytest.fixture
def path(tmp_path):
    rng = np.random.default_rng(1)
    x, e = np.linspace(1, 9, 30), np.where(np.arange(30) % 2, 0.05, 0.5)
    y = 4.5 * np.sqrt(x) + 1.5 + e * rng.standard_normal(30)
    with (tmp_path / "d.csv").open("w", newline="") as file:
        csv.writer(file).writerows([("x", "e", "y"), *zip(x, e, y, strict=True)])
    return tmp_path / "d.csv"


def test_a_form_and_a_column_of_errors(path):
    options = path, "--error", "e", "--form", "a*x**p + b"
    found = json.loads(run(*options, "--json"))
    assert found["verdict"] == "consistent" and found["columns"] == ["x"]
    truth = zip(found["constants"], (4.5, 0.5, 1.5), strict=True)
    assert [c["low"] < v < c["high"] for c, v in truth] == [True] * 3
    assert [c["name"] for c in found["constants"]] == ["a", "p", "b"]
    assert "with 95% confidence" in run(*options)
    with pytest.raises(NALMError, match="column of errors"):
        run(path, "--error", "z")


@pytest.mark.slow
def test_another_law_of_the_front_can_be_taken(path):
    first = json.loads(run(path, "--columns", "x", "--json"))
    assert first["candidates"]
    second = json.loads(run(path, "--columns", "x", "--json", "--select", "1"))
    assert second["formula"] == first["candidates"][0]["formula"]
    with pytest.raises(NALMError, match="way to select"):
        run(path, "--columns", "x", "--select", "best")


def test_predictions_come_with_intervals_on_request(path, tmp_path):
    law = tmp_path / "law.json"
    run(path, "--columns", "x", "--form", "a*sqrt(x) + b", "--save", law)
    result = CliRunner().invoke(cli.app, ["predict", str(law), str(path), "--intervals", "--json"])
    found = json.loads(result.stdout)
    ends = zip(found["low"], found["prediction"], found["high"], strict=True)
    assert len(found["low"]) == 30 and all(low < y < high for low, y, high in ends)


def test_a_column_of_groups_gives_each_group_its_own_constants(tmp_path):
    t = np.tile(np.linspace(0.5, 6, 8), 3)
    which = np.repeat(["wild type", "mutant", "2"], 8)
    y = np.repeat([2.0, 5.0, 3.0], 8) * np.exp(-0.4 * t + 0.01 * np.random.default_rng(0).standard_normal(24))
    with (tmp_path / "g.csv").open("w", newline="") as file:
        csv.writer(file).writerows([("t", "strain", "y"), *zip(t, which, y, strict=True)])
    options = tmp_path / "g.csv", "--groups", "strain", "--form", "log(y) = A - k*t"
    found = json.loads(run(*options, "--json", "--save", tmp_path / "law.json"))
    assert found["columns"] == ["t"] and list(found["groups"]) == ["wild type", "mutant", "2"]
    assert found["groups"]["mutant"][0]["value"] == pytest.approx(np.log(5), rel=0.02)
    assert "wild type" in run(*options)
    arguments = [
        "predict",
        str(tmp_path / "law.json"),
        str(tmp_path / "g.csv"),
        "--groups",
        "strain",
        "--json",
    ]
    again = json.loads(CliRunner().invoke(cli.app, arguments).stdout)
    assert again["prediction"] == pytest.approx(y.tolist(), rel=0.05)
    with pytest.raises(NALMError, match="holds the groups"):
        run(tmp_path / "g.csv", "--groups", "t", "--columns", "t", "--form", "a*t")


def test_units_are_read_from_headers(path, tmp_path):
    rng = np.random.default_rng(0)
    m, v = rng.uniform(1, 5, (2, 40))
    with (tmp_path / "u.csv").open("w", newline="") as file:
        rows = zip(m, v, 0.5 * m * v**2, strict=True)
        csv.writer(file).writerows([("m [kg]", "v (m s-1)", "E [J]"), *rows])
    arguments = [str(tmp_path / "u.csv"), "--target", "E [J]", "--header-units", "--json"]
    result = CliRunner().invoke(cli.app, ["fit", *arguments])
    found = json.loads(result.stdout)
    assert found["formula"] == "m_kg*v_m_s_1**2/2" and found["verdict"] == "exact"
    with pytest.raises(NALMError, match="has no unit"):
        run(path, "--columns", "x", "--header-units")


def test_conditions_on_the_form_are_options(path):
    options = path, "--columns", "x,e", "--max-time", 2, "--json"
    found = json.loads(run(*options, "--without", "x", "--exponents", "integer", "--functions", "none"))
    assert "x" not in found["domain"]
    with pytest.raises(NALMError, match="column"):
        run(*options, "--contains", "z")


def test_errors_of_columns_and_draws_are_options(path):
    options = path, "--error", "e", "--x-error", "x=e", "--columns", "x", "--form", "a*sqrt(x) + b", "--json"
    wide, narrow = (json.loads(run(*o))["constants"][0] for o in (options, (*options[:3], *options[5:])))
    assert wide["error"] > 1.2 * narrow["error"]
    drawn = json.loads(run(*options, "--bootstrap", 30))["constants"][0]
    assert drawn["value"] == wide["value"] and drawn["low"] != wide["low"]
    with pytest.raises(NALMError, match="pairs such as"):
        run(path, "--x-error", "e")


def test_errors_and_units_count_in_groups_and_error_columns_are_no_inputs(tmp_path):
    rng, lines = np.random.default_rng(0), ["sample,L [m],g [m/s^2],y [s],dT,dL"]
    for label, k in (("p", 6.3), ("q", 6.6), ("r", 6.9)):
        for length in rng.uniform(0.2, 2, 8):
            period = k * np.sqrt(length / 9.81) + 0.02 * rng.standard_normal()
            lines.append(f"{label},{length + 0.01 * rng.standard_normal():.4f},9.81,{period:.4f},0.02,0.01")
    path = tmp_path / "swings.csv"
    path.write_text("\n".join(lines), encoding="utf-8")
    options = ["--groups", "sample", "--error", "dT", "--x-error", "L [m]=dL", "--header-units"]
    words = ["fit", str(path), "--target", "y [s]", *options, "--functions", "none", "--json"]
    result = CliRunner().invoke(cli.app, words)
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert found["formula"] == "sqrt(L_m)*a/sqrt(g_m_s_2)" and found["verdict"] == "consistent"
    assert found["warnings"] == [
        "Column g [m/s^2] (9.81) is constant: only a law with units of measurement can use it."
    ]
