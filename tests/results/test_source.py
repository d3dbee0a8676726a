"""Where finished runs are read from."""

import shutil
from pathlib import Path

import pytest
from made import case, runs

from nalm.config import Experiment
from nalm.errors import NALMError
from nalm.results import files as shipped
from nalm.results import source
from nalm.results.store import Store

ROOT = Path(__file__).parents[2]


@pytest.fixture
def folders(tmp_path):
    """A store of two experiments that share a case, and the same as files."""
    other = case(lr=1e-2)
    with Store(tmp_path / "store", create=True) as store:
        store.begin("nalm run small", "2.13.0")
        store.register(Experiment("group/small", "A title", (case(),), (0, 1)))
        store.register(Experiment("group/large", "A title", (other, case()), (0, 1)))
        store.register(Experiment("empty", "Not begun", (case(lr=1.0),), (0,)))
        store.save(runs(cases=[case(), case(), other], seeds=(0, 1, 0), test=(1e-12, 1.0, 1e-12)))
        for name in ("group/small", "group/large"):
            shipped.ship(store, name, tmp_path / "files")
    return tmp_path / "store", tmp_path / "files"


def keys(found):
    return {name: [(o.case, o.seed, o.outcome) for o in runs] for name, runs in found.items()}


def test_a_store_and_its_files_hold_the_same_runs(folders):
    stored, files = map(source.outcomes, folders)
    assert keys(stored) == keys(files) and set(stored) == {"group/small", "group/large"}
    assert [o.seed for o in stored["group/large"]] == [0, 0, 1]  # in the experiment's order of cases
    assert [source.kind(folder) for folder in folders] == ["store", "shipped"]


def test_a_folder_may_be_given_as_text_and_from_further_down(folders):
    _, files = folders
    assert keys(source.outcomes(str(files / "group"))) == keys(source.outcomes(files))


def test_a_store_goes_before_files_in_the_same_folder(folders):
    stored, files = folders
    shutil.copytree(files, stored, dirs_exist_ok=True)
    assert source.kind(stored) == "store"


def test_the_shipped_results_are_found():
    found = source.outcomes(ROOT / "results")
    assert {f"thesis/ch3/{name}" for name in ("add", "sub", "mul", "div", "redundancy")} <= set(found)


def test_an_experiment_that_is_there_twice_is_refused(folders):
    _, files = folders
    shutil.copytree(files / "group", files / "copy")
    with pytest.raises(NALMError, match=r"holds group/.* twice, in .*: give one"):
        source.outcomes(files)


def test_a_store_without_a_finished_run_is_a_sentence(tmp_path):
    with Store(tmp_path, create=True) as store:
        store.register(Experiment("empty", "Not begun", (case(),), (0,)))
    with pytest.raises(NALMError, match=r"No run in .* is finished: `nalm status"):
        source.outcomes(tmp_path)


def test_what_is_no_results_folder_is_a_sentence(tmp_path):
    with pytest.raises(NALMError, match=r"neither results.db nor shipped tables"):
        source.outcomes(tmp_path)
    with pytest.raises(NALMError, match=r"There is no folder .*nowhere"):
        source.kind(tmp_path / "nowhere")
    (tmp_path / "file").touch()
    with pytest.raises(NALMError, match="is a file: give the folder"):
        source.kind(tmp_path / "file")
    with pytest.raises(NALMError, match="cannot be read: File name too long"):
        source.kind("x" * 5_000)


def test_results_that_did_not_come_along_are_explained(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(NALMError, match="no folder results in the current directory: the shipped results"):
        source.outcomes("results")


def test_a_damaged_folder_is_refused(folders):
    stored, files = folders
    (stored / "results.db").write_bytes(b"nonsense" * 100)
    (files / "group" / "small.json").write_text("[]")
    for folder in folders:
        with pytest.raises(NALMError):
            source.outcomes(folder)
