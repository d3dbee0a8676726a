"""The benchmark of networks that read images runs anywhere, small on a CPU."""

import json

from typer.testing import CliRunner

from nalm.cli import app
from nalm.errors import NALMError


def test_it_measures_both_loops_in_one_run():
    done = CliRunner().invoke(app, ["bench", "mnist", "--device", "cpu", "--json"])
    assert done.exit_code == 0, done.output
    plain, ours = json.loads(done.output)
    assert plain["ratio"] == 1 and ours["ms"] > 0
    assert ours["ratio"] == plain["ms"] / ours["ms"] and ours["batch"] == plain["batch"]


def test_another_name_gets_a_suggestion():
    done = CliRunner().invoke(app, ["bench", "mnits"])
    assert isinstance(done.exception, NALMError) and "mnist" in str(done.exception)
