"""Several processes create one results folder at the same time."""

import sqlite3
import threading

from made import case

from nalm.config import Experiment
from nalm.results.store import NAME, Store


def test_two_processes_may_make_the_same_folder_at_once(tmp_path):
    errors = []

    def make():
        try:
            with Store(tmp_path / "new", create=True) as store:
                store.begin("a", "b")
                store.register(Experiment("e", "t", (case(),), (0,)))
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=make) for _ in range(8)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert errors == []


def test_a_new_database_waits_for_a_process_that_writes_it(tmp_path):
    """SQLite refuses to switch the journal at once while another process prepares to write."""
    other = sqlite3.connect(tmp_path / NAME, isolation_level=None, check_same_thread=False)
    other.execute("BEGIN IMMEDIATE")
    threading.Timer(0.3, other.close).start()
    with Store(tmp_path, create=True) as store:
        store.begin("a", "b")
