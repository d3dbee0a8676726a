"""Files to begin with: a unit that keeps the contract and trains, an experiment that runs."""

import pytest
from typer.testing import CliRunner

from nalm.cli import app
from nalm.errors import NALMError
from nalm.lab.request import Changes, experiments
from nalm.testing import CHECKS, check_compile, check_export, check_unit
from nalm.units.own import import_file


def nalm(*words):
    return CliRunner().invoke(app, [str(word) for word in words], catch_exceptions=False)


def test_a_new_unit_keeps_the_contract_in_some_forty_lines(tmp_path):
    done = nalm("new", "unit", "MyUnit", "--in", tmp_path)
    path = tmp_path / "my_unit.py"
    assert done.exit_code == 0 and f"nalm run quick --unit {path}:MyUnit" in done.stdout
    assert len(path.read_text().splitlines()) <= 50
    module = import_file(path)
    for check in set(CHECKS) - {check_compile, check_export}:  # these take seconds: see below
        check(module.MyUnit)
    _, notes = experiments(["quick"], "", Changes(units=[f"{path}:MyUnit"]))
    assert "MyUnit stands for NMU and has the recipe of NMU" in notes[0]
    with pytest.raises(NALMError, match="exists already: choose another name"):
        nalm("new", "unit", "MyUnit", "--in", tmp_path)


@pytest.mark.slow
def test_a_new_unit_keeps_the_whole_contract(tmp_path):
    nalm("new", "unit", "MyUnit", "--in", tmp_path)
    check_unit(import_file(tmp_path / "my_unit.py").MyUnit)


@pytest.mark.system
def test_a_new_unit_and_a_new_experiment_train(tmp_path):
    nalm("new", "unit", "MyUnit", "--in", tmp_path)
    done = nalm("new", "experiment", "mine/first", "--in", tmp_path)
    path = tmp_path / "mine_first.py"
    assert f"nalm run {path}" in done.stdout
    words = ["--no-compile", "--steps", "50", "--seeds", "2", "--workers", "1", "--out", tmp_path / "runs"]
    assert nalm("run", path, *words).exit_code == 0
    shown = nalm("show", path).stdout
    assert "mine/first" in shown and "SNMU" in shown
    unit = f"{tmp_path / 'my_unit.py'}:MyUnit"
    assert nalm("run", "quick", "--unit", unit, "--only", "unit=MyUnit", *words).exit_code == 0
    assert nalm("compare", tmp_path / "runs").exit_code == 0


@pytest.mark.parametrize(("kind", "name"), [("unit", "my unit"), ("unit", "1x"), ("experiment", "a b")])
def test_names_that_cannot_be_are_refused(tmp_path, kind, name):
    with pytest.raises(NALMError):
        nalm("new", kind, name, "--in", tmp_path)
