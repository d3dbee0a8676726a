"""nalm ode, as a person with a table over time would use it."""

import csv
import json

import numpy as np
import pytest
from commands import run

import nalm
from nalm.errors import NALMError


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
    out = run("ode", decay, "--time", "hour", "--run", "run", "--restarts", 1, "--save", saved).stdout
    assert "ddose_mg/dt = -dose_mg/2" in out
    assert "exact: simulated" in out
    assert "dose_mg is the column 'dose (mg)'." in out
    assert "dose_mg - simulated, over time" in out
    assert str(nalm.ode.load(saved)) == "ddose_mg/dt = -dose_mg/2"


def test_json_holds_the_system(decay):
    out = json.loads(run("ode", decay, "--time", "hour", "--run", "run", "--restarts", 1, "--json").stdout)
    assert out["formula"] == "ddose_mg/dt = -dose_mg/2"
    assert out["verdict"] == "exact" and len(out["start"]) == 2


def test_mistakes_are_sentences(decay):
    with pytest.raises(NALMError, match="Times must rise"):  # two runs one after the other
        run("ode", decay, "--time", "hour")
    with pytest.raises(NALMError, match="Did you mean 'hour'"):
        run("ode", decay, "--time", "hours")
    with pytest.raises(NALMError, match="is the table itself"):
        run("ode", decay, "--time", "hour", "--save", decay)


def test_dates_are_times_and_errors_are_read_from_columns(tmp_path):
    rng, path = np.random.default_rng(0), tmp_path / "pond.csv"
    error = np.where(np.arange(24) % 3 == 1, 0.5, 0.02)
    level = 9 * np.exp(-0.2 * np.arange(24)) + error * rng.standard_normal(24)
    rows = [f"2024-03-{k + 1:02d},{v:.5f},{e}" for k, (v, e) in enumerate(zip(level, error, strict=True))]
    path.write_text("day,level,sd\n" + "\n".join(rows) + "\n", encoding="utf-8")
    found = json.loads(
        run("ode", path, "--time", "day", "--error", "level=sd", "--restarts", 1, "--json").stdout
    )
    assert found["formula"].startswith("dlevel/dt = -") and "the noise is given" in found["tested"]
    assert abs(abs(found["intervals"][0][1]) - 0.2) < 0.01
    path.write_text("day,level,flow,sd\n2024-03-01,1,2,0.1\n", encoding="utf-8")
    with pytest.raises(NALMError, match="flow has no error"):
        run("ode", path, "--time", "day", "--error", "level=sd")


def test_runs_may_have_names_and_few_samples(tmp_path):
    path, t = tmp_path / "runs.csv", np.linspace(0, 3, 5)
    rows = [
        f"{s},{name},{c * np.exp(-s / 2)}" for name, c in (("wild type", 3.0), ("mutant", 8.0)) for s in t
    ]
    path.write_text("t,strain,N\n" + "\n".join(rows) + "\n", encoding="utf-8")
    found = json.loads(run("ode", path, "--time", "t", "--run", "strain", "--restarts", 1, "--json").stdout)
    assert found["formula"] == "dN/dt = -N/2" and len(found["start"]) == 2
    path.write_text("day,N\n31.01.2024,1\n01.02.2024,2\n", encoding="utf-8")
    with pytest.raises(NALMError, match=r"The time day is not numeric: .*write them as 2024-01-31"):
        run("ode", path, "--time", "day")
