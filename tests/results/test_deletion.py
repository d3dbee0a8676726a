"""Runs and experiments are deleted with everything that belongs to them, and nothing else is."""

import numpy as np
import pytest
from made import case, runs

from nalm.config import Experiment
from nalm.errors import NALMError
from nalm.results import checkpoints
from nalm.results.deletion import delete, of_cases, of_experiments
from nalm.results.store import Store

FIRST, SECOND, THIRD = case(1e-3), case(1e-2), case(1e-1)


@pytest.fixture
def folder(tmp_path):
    with Store(tmp_path, create=True) as store:
        store.register(Experiment("one", "One", (FIRST, SECOND), (0, 1)))
        store.register(Experiment("two", "Two", (SECOND, THIRD), (0, 1)))
        for made in (FIRST, SECOND, THIRD):
            store.save(runs([made, made]))
    return tmp_path


def left(folder):
    with Store(folder) as store:
        store.check()
        found = {(o.case.recipe.lr, o.seed) for o in store.outcomes()}
        arrays = store.db.execute("SELECT count(*) FROM arrays").fetchone()[0]
        assert arrays == len(found)
        return found, list(store.experiments()), len(store.cases())


def test_an_experiment_goes_with_its_runs_except_those_that_another_needs(folder):
    with Store(folder, create=True) as store:
        what = of_experiments(store, ["one"])
        assert len(what.runs) == 2 and what.shared == 2
        delete(store, what)
    assert left(folder) == ({(1e-2, 0), (1e-2, 1), (1e-1, 0), (1e-1, 1)}, ["two"], 2)


def test_runs_of_a_case_go_and_the_experiment_stays(folder):
    with Store(folder, create=True) as store:
        delete(store, of_cases(store, [SECOND], [1]))
    found, names, cases = left(folder)
    assert (1e-2, 1) not in found and len(found) == 5 and names == ["one", "two"] and cases == 3


def test_checkpoints_of_what_is_gone_go_too(folder):
    state = {"params.x": np.zeros((1, 2))}
    gone = checkpoints.save_checkpoint(folder, [(FIRST.hash, 7)], state)
    stays = checkpoints.save_checkpoint(folder, [(THIRD.hash, 7)], state)
    with Store(folder, create=True) as store:
        delete(store, of_experiments(store, ["one"]))
    assert not gone.exists() and stays.exists()


def test_nothing_is_deleted_under_a_process_that_trains(folder):
    with Store(folder, create=True) as training, Store(folder, create=True) as store:
        training.begin("nalm run", "2")
        with pytest.raises(NALMError, match="A process is training into"):
            delete(store, of_experiments(store, ["one"]))
    assert len(left(folder)[0]) == 6
