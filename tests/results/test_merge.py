"""Stores put together: every run once, contradictions refused, and nothing half written."""

import shutil

import pytest
from made import case, runs
from typer.testing import CliRunner

from nalm.cli import app
from nalm.config import Experiment
from nalm.errors import NALMError
from nalm.results.merge import merge
from nalm.results.store import NAME, Store


def made(folder, table, name="e", cases=None):
    with Store(folder, create=True) as store:
        store.begin(f"nalm run {name}", "2.13.0")
        store.register(
            Experiment(name, f"title of {name}", tuple(cases or dict.fromkeys(table.cases)), (0, 1))
        )
        store.save(table)
        store.log_event("finished", "p", len(table), 2_000)
    return folder / NAME


def test_every_run_is_there_once_with_its_arrays_and_its_session(tmp_path):
    other = case(lr=0.5)
    a = made(tmp_path / "a", runs())
    b = made(tmp_path / "b", runs([case(), other], [1, 7], [1e-12, 1.0]), "f")
    found = merge([a, b], tmp_path / "c.db")
    assert (found.runs, found.shared) == (3, 1)
    with Store(tmp_path / "c.db") as store:
        assert store.experiments() == {"e": "title of e", "f": "title of f"}
        assert [(o.case, o.seed) for o in store.outcomes("f")] == [(case(), 0), (case(), 1), (other, 7)]
        assert store.arrays(other.hash, 7).keys() == store.arrays(case().hash, 0).keys()
        assert [s["command"] for s in store.sessions()] == ["nalm run e", "nalm run f"]
        assert store.session_ids("e") == {1} and store.session_ids("f") == {1, 2}
        assert len(store.events()) == 2
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a", "b", "c.db"]


def test_the_files_of_users_units_come_along(tmp_path):
    a = made(tmp_path / "a", runs())
    made(tmp_path / "b", runs([case(lr=0.5)] * 2), "f")
    for name in ("a", "b"):
        (tmp_path / name / "units" / f"{name}23456").mkdir(parents=True)
        (tmp_path / name / "units" / f"{name}23456" / "mine.py").write_text("# mine\n")
    merge([a, tmp_path / "b"], tmp_path / "both" / "c.db")
    assert sorted(p.parent.name for p in (tmp_path / "both" / "units").rglob("*.py")) == ["a23456", "b23456"]


def test_rounding_is_no_contradiction(tmp_path):
    a = made(tmp_path / "a", runs(test=(1.0, 1e-12)))
    b = made(tmp_path / "b", runs(test=(1.0 + 5e-5, 3e-12)))
    assert merge([a, b], tmp_path / "c.db").shared == 2


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda t: t.test[0].fill(0), "the outcome is solved, there unsolved"),
        (lambda t: t.validation[0].__imul__(1.01), r"the validation is 1\.01"),
        (
            lambda t: t.weights[0].update({"0.weight": t.weights[0]["0.weight"] + 0.01}),
            r"the weights\.0\.weight",
        ),
    ],
)
def test_a_contradiction_is_told_and_nothing_is_written(tmp_path, change, words):
    a, table = made(tmp_path / "a", runs()), runs()
    table.test = [t.copy() for t in table.test]
    table.validation = [t.copy() for t in table.validation]
    table.weights = [dict(w) for w in table.weights]
    change(table)
    table.marks.clear()
    table.__post_init__()  # marks of the changed curves
    b = made(tmp_path / "b", table)
    with pytest.raises(NALMError, match=words + "(.|\n)*Nothing was written"):
        merge([a, b], tmp_path / "c.db")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a", "b"]


def test_what_is_there_is_never_replaced_and_two_files_are_needed(tmp_path):
    a = made(tmp_path / "a", runs())
    (tmp_path / "c.db").write_text("precious")
    shutil.copytree(tmp_path / "a", tmp_path / "b")
    with pytest.raises(NALMError, match="exists already"):
        merge([a, tmp_path / "b"], tmp_path / "c.db")
    assert (tmp_path / "c.db").read_text("utf-8") == "precious"
    with pytest.raises(NALMError, match="two results files or more"):
        merge([a, tmp_path / "a" / NAME], tmp_path / "d.db")
    with pytest.raises(NALMError, match=r"must end in \.db"):
        merge([a, tmp_path / "b"], tmp_path / "d.sqlite")


def test_a_damaged_source_stops_the_merge(tmp_path):
    a, b = made(tmp_path / "a", runs()), made(tmp_path / "b", runs())
    with Store(tmp_path / "b", create=True) as store:
        store.db.execute("UPDATE runs SET seed = 'seven' WHERE seed = 1")
    with pytest.raises(NALMError, match=r"damaged: the row .*seven' of table 'runs'"):
        merge([a, b], tmp_path / "c.db")


def test_the_command_says_what_came_together(tmp_path):
    a, b = made(tmp_path / "a", runs()), made(tmp_path / "b", runs(seeds=(2, 3)))
    done = CliRunner().invoke(app, ["merge", str(a), str(b.parent), "-o", str(tmp_path / "c.db")])
    assert done.exit_code == 0 and "4 runs, 0 of them in several files" in done.stdout
