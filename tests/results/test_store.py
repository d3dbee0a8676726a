"""The results folder: what is written stays, who works there is known, and damage gets a sentence."""

import os
import sqlite3
import subprocess
import sys

import numpy as np
import pytest
from made import case, runs

from nalm.config import Experiment
from nalm.errors import NALMError
from nalm.results.store import NAME, Store, pack, unpack


@pytest.fixture
def store(tmp_path):
    with Store(tmp_path / "out", create=True) as store:
        store.begin("nalm run quick", "2.13.0")
        yield store


def keys(table):
    return [(c.hash, s) for c, s in zip(table.cases, table.seeds, strict=True)]


def test_what_is_saved_is_read_back_in_another_connection(store):
    table = runs()
    store.register(Experiment("e", "title", (case(),), (0, 1)))
    store.save(table)
    with Store(store.folder) as other:
        assert other.finished() == set(keys(table))
        lines = other.outcomes("e")
        arrays = other.arrays(case().hash, 1)
    assert [o.outcome for o in lines] == ["unsolved", "solved"]
    assert lines[1].formula == "a*b" and lines[1].solved_at == 2_000 and lines[1].best_step == 2_000
    assert lines[0].case == case()
    np.testing.assert_array_equal(arrays["test"], table.test[1])
    np.testing.assert_array_equal(arrays["weights.0.weight"], np.eye(2))
    assert arrays["trajectories.0.weight"].dtype == np.float32


def test_a_diverged_run_is_a_row_too(store):
    store.save(runs(test=(np.nan, np.inf)))
    assert [o.outcome for o in store.outcomes()] == ["diverged", "diverged"]
    assert store.outcomes()[1].best_step == 1_000


def test_a_finished_run_is_never_replaced(store):
    store.save(runs(test=(1.0, 1.0)))
    store.save(runs(test=(1e-12, 1e-12)))
    assert [o.outcome for o in store.outcomes()] == ["unsolved", "unsolved"]


def test_the_event_that_runs_are_finished_is_saved_with_them(store):
    """A process that is killed between two transactions would leave runs that nobody seems to have finished."""
    table, begun = runs(), []
    store.db.set_trace_callback(lambda text: begun.append(text) if text.startswith("BEGIN") else None)
    store.save(table, population="p", at=2_000)
    assert len(begun) == 1
    assert [event[2:] for event in store.events()] == [("finished", "p", 2, 2_000)]
    table.formulas[1] = object()  # what SQLite cannot hold
    with pytest.raises(NALMError, match="damaged"):
        store.save(table, population="q", at=2_000)
    assert len(store.events()) == 1


def test_a_transaction_that_fails_leaves_nothing_behind(store):
    table = runs()
    table.formulas[1] = object()  # what SQLite cannot hold
    with pytest.raises(NALMError, match="damaged"):
        store.save(table)
    assert store.finished() == set()
    store.save(runs())
    assert len(store.finished()) == 2


def test_runs_taken_by_a_living_process_are_not_handed_out_again(store):
    wanted = keys(runs())
    assert store.reserve(wanted[:1]) == wanted[:1]
    with Store(store.folder, create=True) as other:
        other.begin("nalm run quick", "2.13.0")
        assert other.reserve(wanted) == wanted[1:]
        assert [s["alive"] for s in other.sessions()] == [True, True]
    assert store.reserve(wanted) == wanted[1:]  # the other has closed and given it back


def test_runs_taken_by_a_killed_process_are_free_again(store):
    wanted = keys(runs())
    script = (
        "import os, sys\nfrom nalm.results.store import Store\n"
        "s = Store(sys.argv[1], create=True); s.begin('x', 'y'); s.reserve([(sys.argv[2], 0)]); os._exit(9)"
    )
    subprocess.run([sys.executable, "-c", script, str(store.folder), wanted[0][0]], check=False)
    assert [s["alive"] for s in store.sessions()] == [True, False]
    assert store.reserve(wanted) == wanted


def test_finished_runs_cannot_be_taken(store):
    table = runs()
    assert store.reserve(keys(table)) == keys(table)
    store.save(table)
    assert store.reserve(keys(table)) == []


def test_a_folder_without_results_says_how_to_make_some(tmp_path):
    with pytest.raises(NALMError, match="run `nalm run NAME"):
        Store(tmp_path)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"not a database, certainly not one of a hundred bytes or more" * 4, "cut short|not a database"),
        (b"short", "cut short"),
    ],
)
def test_a_file_that_is_no_database_is_refused_and_left_alone(tmp_path, content, words):
    (tmp_path / NAME).write_bytes(content)
    for create in (True, False):
        with pytest.raises(NALMError, match=words):
            Store(tmp_path, create=create)
    assert (tmp_path / NAME).read_bytes() == content


def test_a_database_of_another_program_is_refused_and_left_alone(tmp_path):
    db = sqlite3.connect(tmp_path / NAME)
    db.execute("CREATE TABLE precious (x)")
    db.commit()
    db.close()
    before = (tmp_path / NAME).read_bytes()
    with pytest.raises(NALMError, match="another program"):
        Store(tmp_path, create=True)
    assert (tmp_path / NAME).read_bytes() == before


def test_a_store_of_another_format_is_refused(store):
    store.db.execute("PRAGMA user_version = 99")
    with pytest.raises(NALMError, match="format 99"):
        Store(store.folder)


def test_a_truncated_store_is_refused_wherever_it_was_cut(tmp_path):
    with Store(tmp_path, create=True) as store:
        store.begin("a", "b")
        store.save(runs(seeds=range(40), test=[1.0] * 40))
    whole = (tmp_path / NAME).read_bytes()
    for size in (50, 4096, len(whole) // 2, len(whole) - 1):
        (tmp_path / NAME).write_bytes(whole[:size])
        with pytest.raises(NALMError, match="cut short"):
            Store(tmp_path, create=True)
    (tmp_path / NAME).write_bytes(whole)
    with Store(tmp_path) as store:
        assert len(store.finished()) == 40


def test_a_store_that_is_being_written_is_not_called_cut_short(tmp_path):
    with Store(tmp_path, create=True) as store:
        store.begin("a", "b")
        store.save(runs())
        path = tmp_path / NAME
        (tmp_path / "copy").mkdir()
        for name in (NAME, f"{NAME}-wal"):  # the log holds what the file has not got yet
            (tmp_path / "copy" / name).write_bytes((tmp_path / name).read_bytes())
        assert path.stat().st_size < 10_000 < (tmp_path / f"{NAME}-wal").stat().st_size
    with Store(tmp_path / "copy") as copy:
        assert len(copy.finished()) == 2


def test_runs_that_a_killed_process_had_begun_are_counted(store):
    assert store.count_abandoned() == 0
    store.db.execute("INSERT INTO sessions VALUES (77, 'gone', 'c', 'v', 't', 'p', 1.0, 2.0)")
    store.db.execute("INSERT INTO taken VALUES ('x', 1, 77)")
    assert store.count_abandoned() == 1


def test_who_trained_an_experiment_is_known(store):
    store.register(Experiment("e", "title", (case(),), (0, 1)))
    assert store.session_ids("e") == set()
    store.save(runs())
    assert store.session_ids("e") == {store.session}


def test_a_store_with_a_damaged_page_gives_a_sentence(tmp_path):
    with Store(tmp_path, create=True) as store:
        store.begin("a", "b")
        store.save(runs(seeds=range(200), test=[1.0] * 200))
    data = bytearray((tmp_path / NAME).read_bytes())
    data[4096 : len(data) - 4096] = os.urandom(len(data) - 8192)
    (tmp_path / NAME).write_bytes(data)
    with pytest.raises(NALMError, match=r"damaged|not a database"), Store(tmp_path) as store:
        store.outcomes()


@pytest.mark.parametrize("name", [b"\xff\xff\xff\xff", b"(\xff\xff(", b"hash"])
def test_a_name_inside_that_is_no_text_gives_a_sentence(tmp_path, name):
    """SQLite says such a name in its message, and Python cannot read the message; found by mutation."""
    with Store(tmp_path, create=True) as store:
        store.begin("a", "b")
    data = (tmp_path / NAME).read_bytes()
    changed = data.replace(b"CREATE TABLE cases (hash TEXT", b"CREATE TABLE cases (" + name + b" TEXT")
    (tmp_path / NAME).write_bytes(changed)
    if changed == data:
        Store(tmp_path).close()
        return
    with pytest.raises(NALMError, match=r"damaged|other tables or columns"):
        Store(tmp_path)


def test_arrays_hold_numbers_only_and_damage_is_said(store):
    arrays = {"a": np.arange(3.0), "b": np.ones((2, 2), np.float32)}
    back = unpack(pack(arrays), "here")
    assert back.keys() == arrays.keys() and back["b"].dtype == np.float32
    for data in (b"", b"x" * 50, pack(arrays)[:-5]):
        with pytest.raises(NALMError, match="The arrays of here are damaged"):
            unpack(data, "here")
    with pytest.raises(NALMError, match="no run with case"):
        store.arrays("0" * 64, 3)


def test_a_path_below_a_file_is_a_sentence(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(NALMError, match="cannot be made"):
        Store(tmp_path / "file" / "out", create=True)


def test_results_can_be_read_from_a_folder_that_cannot_be_written(tmp_path):
    """As root no permission protects a folder, so a read-only mount stands in for it where one can be made."""
    folder = tmp_path / "out"
    with Store(folder, create=True) as store:
        store.begin("a", "b")
        store.save(runs())
    read = "import sys; from nalm.results.store import Store; print(len(Store(sys.argv[1]).outcomes()))"
    script = (
        'mount --bind "$1" "$1" && mount -o remount,ro,bind "$1" && "$0" -c "$2" "$1" && '
        '"$0" -m nalm run quick --out "$1" --no-compile --steps 1 --seeds 1'
    )
    words = ["unshare", "-rm", "sh", "-c", script, sys.executable, str(folder), read]
    done = subprocess.run(words, capture_output=True, text=True, timeout=600, check=False)
    if "unshare" in done.stderr or "mount:" in done.stderr:
        pytest.skip(f"no mounts here: {done.stderr.strip()[:100]}")
    assert done.stdout.strip() == "2"
    assert done.returncode == 2 and "choose another" in done.stderr
