"""Runs of another folder beside one's own, and units compared by counts."""

import shutil
from pathlib import Path

import pytest
from made import case, outcomes, runs

from nalm.cli.tables.contest import counted as shown
from nalm.config import Experiment, Layer
from nalm.config.labels import labels, places
from nalm.errors import NALMError
from nalm.results import beside, source
from nalm.results.contest import by_name
from nalm.results.counted import counted
from nalm.results.store import Store
from nalm.results.tally import tallies

SHIPPED = Path(__file__).parents[2] / "results"


@pytest.fixture
def own(tmp_path):
    """A folder with a unit that the shipped results do not have, in one of their experiments."""
    mine = case().replace(model=(Layer("NAC"),))
    with Store(tmp_path, create=True) as store:
        store.begin("nalm run", "2")
        for name in ("thesis/ch5/l1", "mine/own"):
            store.register(Experiment(name, "one", (mine,), (0,)))
        found = runs()
        found.cases[:] = [mine] * len(found)
        store.save(found)
    return tmp_path


@pytest.fixture
def shipped(tmp_path):
    """The shipped tables of one experiment."""
    folder = tmp_path / "results" / "thesis" / "ch5"
    folder.mkdir(parents=True)
    for path in (SHIPPED / "thesis" / "ch5").glob("l1.*"):
        shutil.copy(path, folder)
    return tmp_path / "results"


def test_other_cases_of_the_same_experiments_stand_beside(own, shipped):
    alone, both = source.outcomes(own), beside.outcomes(own, shipped)
    assert both.keys() == alone.keys() and both["mine/own"] == alone["mine/own"]
    theirs = source.read(shipped, lambda _: ["thesis/ch5/l1"])[0]
    assert both["thesis/ch5/l1"] == alone["thesis/ch5/l1"] + theirs.outcomes
    first, second = beside.read(own, lambda _: ["thesis/ch5/l1", "mine/own"], shipped)
    assert first.outcomes == both["thesis/ch5/l1"] and first.tallies == theirs.tallies
    assert first.curves.keys() >= theirs.curves.keys() and second.outcomes == alone["mine/own"]
    changed = beside.fingerprints(own, shipped)
    assert changed["thesis/ch5/l1"] != beside.fingerprints(own)["thesis/ch5/l1"]
    assert changed["mine/own"] == beside.fingerprints(own)["mine/own"]


def test_a_folder_with_no_shared_experiment_is_refused(own, tmp_path):
    with Store(tmp_path / "other", create=True) as store:
        store.register(Experiment("another", "one", (case(),), (0,)))
    with pytest.raises(NALMError, match="has none of the experiments of"):
        beside.outcomes(own, tmp_path / "other")


def test_counts_are_compared_where_there_are_more_than_pairs():
    """Fisher's exact p of 3 of 3 beside 10 of 30, by hand: 286 / 5456 = 0.0524 and no other table is as unlikely."""
    few, many = outcomes("Mine@abc123", [True] * 3), outcomes("NMU", [True] * 10 + [False] * 20)
    here = [*few, *many[:3]]
    cases = [o.case for o in here]
    named = by_name({"e": here}, {"e": (labels(cases), places(cases))})
    (row,) = counted(named, tallies(many), "Mine", "NMU")
    assert (row.a.n, row.b.n, row.b.estimate) == (3, 30, pytest.approx(1 / 3))
    assert row.p == row.corrected == pytest.approx(286 / 5456, rel=1e-6)
    assert any("Fisher's exact test" in str(part) for part in shown([row], "Mine", "NMU"))
    assert counted(named, [], "Mine", "NMU") == [] and list(shown([], "Mine", "NMU")) == []
