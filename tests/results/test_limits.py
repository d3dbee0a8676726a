"""Where it gets tight: no space, no rights, wrong clocks, odd names, and a million runs."""

import os
import resource
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from made import case, runs
from million import fill
from typer.testing import CliRunner

from nalm.cli import app
from nalm.config import Experiment
from nalm.errors import NALMError
from nalm.lab.status import status as status_of
from nalm.report import page
from nalm.results import checkpoints, schema, source
from nalm.results import files as shipped
from nalm.results.store import NAME, Store, pack
from nalm.results.summary import summarise


def filled(folder, name="e"):
    with Store(folder, create=True) as store:
        store.begin("nalm run e", "2.13.0")
        store.register(Experiment(name, "A title", (case(),), (0, 1)))
        store.save(runs())
    return folder


# -- space ----------------------------------------------------------------------------------------

FULL = """
import resource, sys
sys.path[:0] = {path!r}
from made import runs
from nalm.errors import NALMError
from nalm.results.store import Store
with Store(sys.argv[1], create=True) as store:
    store.begin("x", "y")
    store.save(runs(seeds=range(2)))
    resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, resource.RLIM_INFINITY))
    try:
        store.save(runs(seeds=range(2, 3_000), test=[1.0] * 2_998))
    except NALMError as error:
        print(error)
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    print(len(store.finished()))
    store.save(runs(seeds=(7, 8)))
    print(len(store.finished()))
"""


def test_a_full_disk_in_the_middle_of_a_transaction_loses_nothing_that_was_finished(tmp_path):
    code = FULL.format(path=[str(Path(__file__).parents[2]), str(Path(__file__).parents[1] / "support")])
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, check=True
    )
    sentence, *counts = done.stdout.splitlines()
    assert "no space left" in sentence and "every finished run is safe" in sentence
    assert counts == ["2", "4"]
    with Store(tmp_path) as store:
        assert {o.seed for o in store.outcomes()} == {0, 1, 7, 8}


def test_a_full_disk_while_a_checkpoint_is_written_leaves_the_old_one(tmp_path):
    keys = [(case().hash, 0)]
    path = checkpoints.save_checkpoint(tmp_path, keys, {"at": np.array(1)})
    before, soft = path.read_bytes(), resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_000, soft[1]))
    try:
        with pytest.raises(NALMError, match="free some space"):
            checkpoints.save_checkpoint(tmp_path, keys, {"at": np.zeros(10_000)})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, soft)
    assert path.read_bytes() == before and len(list(path.parent.iterdir())) == 1


def test_arrays_that_expand_without_end_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("nalm.results.packed.MAX_EXPANDED", 100_000)
    filled(tmp_path)
    with Store(tmp_path, create=True) as store:
        store.db.execute("UPDATE arrays SET data = ?", (pack({"test": np.zeros(10**6)}),))
        with pytest.raises(NALMError, match="more than 100,000 bytes"):
            store.arrays(case().hash, 0)


# -- rights ---------------------------------------------------------------------------------------

NOBODY = """
import os, sys
sys.path[:0] = {path!r}
from nalm.results import source
from nalm.errors import NALMError
from nalm.results.store import Store
os.seteuid(65534) if os.geteuid() == 0 else None
for work in (lambda f: Store(f), lambda f: Store(f, create=True), source.kind):
    try:
        work(sys.argv[1])
        print("no error")
    except NALMError as error:
        print(error)
"""


@pytest.mark.parametrize("hidden", ["", NAME])
def test_what_may_not_be_read_is_a_sentence(tmp_path, hidden):
    folder = filled(tmp_path / "out")
    os.chmod(tmp_path, 0o755)
    (folder / hidden).chmod(0)
    code = NOBODY.format(path=[str(Path(__file__).parents[2])])
    done = subprocess.run([sys.executable, "-c", code, str(folder)], capture_output=True, text=True, cwd="/")
    (folder / hidden).chmod(0o755)
    lines = done.stdout.splitlines()
    assert done.returncode == 0 and len(lines) == 3, done.stderr
    assert all("cannot be" in line for line in lines[:2])
    # to look at a name needs no right to it
    assert "cannot be read" in lines[2] or (hidden and lines[2] == "no error")


# -- clocks ---------------------------------------------------------------------------------------


def test_a_clock_that_is_set_back_changes_no_order_and_no_owner(tmp_path, monkeypatch):
    with Store(tmp_path, create=True) as store:
        store.begin("nalm run e", "2.13.0")
        for now, kind in ((2e9, "started"), (1e9, "checkpoint"), (-5.0, "finished")):
            monkeypatch.setattr(time, "time", lambda now=now: now)
            store.log_event(kind, "p", 1, 0)
        wanted = [(case().hash, 0)]
        assert store.reserve(wanted) == wanted
        with Store(tmp_path, create=True) as other:
            other.begin("nalm run e", "2.13.0")
            assert other.reserve(wanted) == []  # its owner lives, whenever it began
        assert [event[2] for event in store.events()] == ["started", "checkpoint", "finished"]
        store.register(Experiment("e", "t", (case(),), (0, 1)))
        store.save(runs())
        store.heartbeat()
        assert shipped.origin(store, "e", store.outcomes("e"))["date"] == "1969-12-31"


def test_a_file_that_is_removed_in_writing_because_the_clock_jumped_is_written_again(tmp_path, monkeypatch):
    removed = []

    def jump(number):
        if not removed:
            removed.extend((tmp_path / "checkpoints").glob("*.tmp"))
            monkeypatch.setattr(time, "time", lambda: 5e9)
            checkpoints.remove_stale_files(tmp_path)
            assert removed and not removed[0].exists()

    monkeypatch.setattr(checkpoints.os, "fsync", jump)
    written = checkpoints.save_checkpoint(tmp_path, [("a", 0)], {"at": np.arange(3)})
    assert checkpoints.open_checkpoint(written).runs == (("a", 0),)
    assert list((tmp_path / "checkpoints").iterdir()) == [written]


# -- names ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["x" * 5_000, "x" * 5_000 + ".db", "/".join(["y" * 200] * 30), "a\0b"])
def test_a_name_that_no_folder_can_have_is_a_sentence(name, tmp_path):
    for work in (Store, lambda n: Store(n, create=True), source.kind):
        with pytest.raises(NALMError):
            work(f"{tmp_path}/{name}")


@pytest.mark.parametrize("name", ["Ω μέγα", "结果", "with space", "%s%n", "a'b\"c", "-o", "x" * 200, "a?b#c"])
def test_any_other_name_is_a_folder(name, tmp_path):
    folder = filled(tmp_path / name)
    done = CliRunner().invoke(app, ["status", "--out", str(folder), "--json"])
    assert done.exit_code == 0 and '"runs": 2' in done.stdout


def test_a_name_that_is_no_text_is_a_folder_too(tmp_path):
    folder = Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff\xfe"))
    assert len(Store(filled(folder)).outcomes()) == 2


@pytest.mark.parametrize("name", ["../../evil", "/evil", "a/../b", "..", "a//b", "c\\d"])
def test_an_experiment_with_a_hostile_name_is_not_written_anywhere(name, tmp_path):
    filled(tmp_path / "out", name)
    with Store(tmp_path / "out") as store, pytest.raises(NALMError, match="cannot be a file's name"):
        shipped.ship(store, name, tmp_path / "shipped")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["out"]


@pytest.mark.parametrize(
    ("table", "column", "value"),
    [
        ("experiments", "name", "a\x1b[2Jb"),
        ("experiments", "title", "x" * 2_000),
        ("runs", "formula", "a\x1b]0;owned\x07*b"),
        ("runs", "formula", "a" * (schema.MAX_TEXT + 1)),
        ("runs", "seed", "seven"),
        ("runs", "outcome", "splendid"),
        ("sessions", "seen", "yesterday"),
    ],
)
def test_a_hostile_value_is_damage(table, column, value, tmp_path):
    filled(tmp_path)
    with Store(tmp_path, create=True) as store:
        where = "WHERE seed = 1" if table == "runs" else ""
        store.db.execute(f"UPDATE {table} SET {column} = ? {where}", (value,))
    with Store(tmp_path) as store, pytest.raises(NALMError, match="is damaged"):
        store.outcomes()


@pytest.mark.parametrize(
    "sql",
    [
        "ALTER TABLE runs RENAME TO old; CREATE VIEW runs AS SELECT * FROM old",
        "CREATE TRIGGER t AFTER INSERT ON runs BEGIN DELETE FROM runs; END",
        "CREATE TABLE more (x)",
        "ALTER TABLE cases ADD COLUMN extra TEXT",
        "CREATE INDEX i ON runs (steps)",
    ],
)
def test_a_file_laid_out_by_somebody_else_is_refused(sql, tmp_path):
    filled(tmp_path)
    with Store(tmp_path, create=True) as store:
        store.db.executescript(sql)
    with pytest.raises(NALMError, match="other tables or columns"):
        Store(tmp_path)


# -- size -----------------------------------------------------------------------------------------


def everything(folder, tmp_path):
    """List, summarise and report a store; seconds of processor time by name."""
    times = {}

    def timed(name, work):
        began = time.process_time()
        found = work()
        times[name] = time.process_time() - began
        return found

    with Store(folder) as store:
        status = timed("status", lambda: status_of(store))
        outcomes = timed("outcomes", store.outcomes)
        timed("summarise", lambda: summarise(outcomes))
        timed("take", lambda: store.lookup([(case().hash, seed) for seed in range(1_000)]))
    written = timed("report", lambda: page.write(folder, tmp_path / "page.html", "large"))
    assert status["experiments"][0]["runs"] == len(outcomes)
    return times, written


def test_a_page_of_too_many_runs_holds_some_of_each_case_and_says_so(tmp_path, monkeypatch):
    fill(tmp_path / "out", 20, 30)
    monkeypatch.setattr("nalm.results.source.MOST", 100)
    assert page.held(page.studies(tmp_path / "out"), 200) == 10
    data = page.content(page.studies(tmp_path / "out"), with_landscapes=False)
    assert {len(rows) for rows in data["experiments"][0]["runs"].values()} == {30}
    monkeypatch.setattr(page, "held", lambda found: 10)
    data = page.content(page.studies(tmp_path / "out"), with_landscapes=False)
    (experiment,) = data["experiments"]
    assert {len(rows) for rows in experiment["runs"].values()} == {10} and experiment["partly"]
    assert {len(block["seeds"]) for block in experiment["curves"]["cases"].values()} == {1}
    assert all(cell["success"]["n"] == 30 for group in experiment["panels"] for cell in group["cells"])
    assert "it holds the first 10 of each case" in page.render(data, "x")


@pytest.mark.slow
def test_a_million_runs_are_listed_summarised_and_reported_in_seconds(tmp_path):
    fill(tmp_path / "out", 1_000, 1_000)
    times, written = everything(tmp_path / "out", tmp_path)
    print({name: round(seconds, 2) for name, seconds in times.items()}, written.stat().st_size)
    assert times["status"] < 5 and times["outcomes"] < 20 and times["summarise"] < 15 and times["take"] < 1
    assert times["report"] < 60 and written.stat().st_size < 50e6
