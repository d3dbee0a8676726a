"""nalm ode, as a person with a table over time would use it."""

import csv
import json

import numpy as np
import pytest
from typer.testing import CliRunner

import nalm
from nalm import cli
from nalm.errors import NALMError


def run(*arguments: object):
    result = CliRunner().invoke(cli.app, ["ode", *map(str, arguments)])
    if isinstance(result.exception, NALMError):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result


@pytest.fixture
def decay(tmp_path):
    t = np.linspace(0, 5, 25)
    path = tmp_path / "decay.csv"
    with path.open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["hour", "run", "dose (mg)"])
        rows.writerows([s, k, c * np.exp(-s / 2)] for k, c in ((1, 3.0), (2, 8.0)) for s in t)
    return path


def test_the_command_prints_and_saves_the_equations_of_a_table(decay, tmp_path):
    saved = tmp_path / "system.json"
    out = run(decay, "--time", "hour", "--run", "run", "--restarts", 1, "--save", saved).stdout
    assert "ddose_mg/dt = -dose_mg/2" in out
    assert "exact: simulated" in out
    assert "dose_mg is the column 'dose (mg)'." in out
    assert "dose_mg - simulated, over time" in out
    assert str(nalm.ode.load(saved)) == "ddose_mg/dt = -dose_mg/2"


def test_json_holds_the_system(decay):
    out = json.loads(run(decay, "--time", "hour", "--run", "run", "--restarts", 1, "--json").stdout)
    assert out["formula"] == "ddose_mg/dt = -dose_mg/2"
    assert out["verdict"] == "exact" and len(out["start"]) == 2


def test_mistakes_are_sentences(decay):
    with pytest.raises(NALMError, match="Times must rise"):  # two runs one after the other
        run(decay, "--time", "hour")
    with pytest.raises(NALMError, match="Did you mean 'hour'"):
        run(decay, "--time", "hours")
    with pytest.raises(NALMError, match="is the table itself"):
        run(decay, "--time", "hour", "--save", decay)
