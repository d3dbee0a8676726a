"""What others rely on has not changed: hashes of cases, saved weights, names, printed JSON, stored results.

The files are in tests/golden/; ``python tests/support/interfaces.py`` rewrites them.
"""

import shutil

import pytest
from interfaces import FILES, GOLDEN, exported, printed, read
from typer.testing import CliRunner

from nalm.cli import app


@pytest.fixture
def store(tmp_path):
    """A results folder that an earlier version wrote: three kinds of task, trained for a few steps."""
    return shutil.copytree(GOLDEN / "results", tmp_path / "results")


@pytest.mark.parametrize("name", FILES)
def test_an_interface_is_as_it_was(name):
    assert FILES[name]() == read(name)


def test_every_published_case_is_known_by_its_hash():
    # new ones may be added, none may go
    assert sum(len(lines) - 1 for lines in read("cases").values()) >= 2965
    assert len(read("states")) >= 37


@pytest.mark.system
def test_commands_print_what_they_did(store):
    assert printed(store) == read("printed")
    assert exported(store) == read("columns")


@pytest.mark.system
def test_results_stored_earlier_are_true_still(store):
    said = CliRunner().invoke(app, ["verify", "--out", str(store), "--sample", "1", "--seed", "1"])
    assert said.exit_code == 0, said.output
    assert "nothing is wrong" in said.output and "Trained again" in said.output
