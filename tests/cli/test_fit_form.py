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
