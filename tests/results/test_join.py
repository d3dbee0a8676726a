"""scripts/join_results.py: halves of shipped results become the whole again, and new rows replace old ones."""

import importlib.util
from dataclasses import replace
from pathlib import Path

import pytest

from nalm.errors import NALMError
from nalm.results import curve_files, tally_files
from nalm.results import files as shipped

ROOT = Path(__file__).parents[2]
WHOLE = ROOT / "results" / "beyond" / "invalid-outputs.csv"


@pytest.fixture
def join():
    spec = importlib.util.spec_from_file_location("join_script", ROOT / "scripts" / "join_results.py")
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    return script.join


def put(folder, runs, tallies, command="nalm run a"):
    """Write runs and tallies of the shipped experiment under another folder."""
    path, curves = folder / "beyond" / WHOLE.name, shipped.curves(WHOLE)
    about = shipped.about(WHOLE) | {"command": [command]}
    keys = [(o.case.key, o.seed) for o in runs]
    lines = [(*key, curves[key]) for key in keys if key in curves]
    shipped.write(
        {
            path: shipped.table(runs),
            path.with_suffix(shipped.CURVES): curve_files.text(lines),
            path.with_suffix(".json"): shipped.described(about),
            path.with_suffix(shipped.TALLY): tally_files.table(tallies),
            path.with_suffix(shipped.TALLY).with_suffix(".json"): shipped.described(about),
        }
    )
    return folder


def test_two_halves_become_the_whole(join, tmp_path):
    runs, tallies = shipped.read(WHOLE), tally_files.read(WHOLE.with_suffix(shipped.TALLY))
    odd = put(tmp_path / "odd", [o for o in runs if o.seed % 2], tallies[:2], "nalm run odd")
    even = put(tmp_path / "even", [o for o in runs if not o.seed % 2], tallies[2:], "nalm run even")
    written = join(odd, even)
    assert [path.name for path in written] == ["invalid-outputs.csv", "invalid-outputs.tally.csv"]
    table = even / "beyond" / WHOLE.name
    assert table.read_text("utf-8") == WHOLE.read_text("utf-8")
    assert shipped.curves(table).keys() == shipped.curves(WHOLE).keys()
    assert sorted(t.case.key for t in tally_files.read(written[1])) == sorted(t.case.key for t in tallies)
    about = shipped.about(table)
    assert about["command"] == ["nalm run even", "nalm run odd"] and about["runs"] == len(runs)


def test_a_new_run_replaces_the_old_one(join, tmp_path):
    first, second = shipped.read(WHOLE)[:2]
    tallies = tally_files.read(WHOLE.with_suffix(shipped.TALLY))[:1]
    into = put(tmp_path / "into", [first, second], tallies)
    new = put(tmp_path / "new", [replace(first, test=0.5)], [replace(tallies[0], diverged=7)])
    table, counts = join(new, into)
    assert [o.test for o in shipped.read(table)] == pytest.approx([0.5, second.test], nan_ok=True)
    assert [t.diverged for t in tally_files.read(counts)] == [7]


def test_an_experiment_that_was_not_there_is_added(join, tmp_path):
    tallies = tally_files.read(WHOLE.with_suffix(shipped.TALLY))
    new = put(tmp_path / "new", shipped.read(WHOLE), tallies)
    table, _ = join(new, tmp_path / "empty")
    assert len(shipped.read(table)) == len(shipped.read(WHOLE))


def test_a_folder_without_shipped_results_is_refused(join, tmp_path):
    with pytest.raises(NALMError, match="has no shipped results: name a folder"):
        join(tmp_path / "nothing", tmp_path)
