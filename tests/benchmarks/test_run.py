"""A contest is run once, goes on after a kill, and its totals follow from its lines."""

import csv
import json
import time
from dataclasses import replace

import numpy as np
import pytest
from typer.testing import CliRunner

from benchmarks.harness import Journal
from benchmarks.laws import __main__ as command
from benchmarks.laws import run
from benchmarks.laws.judge import Outcome
from benchmarks.laws.problems import Entry
from benchmarks.laws.rivals import RIVALS, Fitted, Rival
from benchmarks.laws.totals import speed, table, totals
from nalm.errors import NALMError
from nalm.report.sections.benchmarks import contest as shown

ENTRIES = [
    Entry("laws", "reynolds-number", "open", "plain", 0),
    Entry("laws", "reynolds-number", "open", "noise 1%", 0),
    Entry("compositions", "add-mul", "", "plain", 0),
]
OUTSIDE = Entry("outside", "sine", "", "plain", 0)


@pytest.fixture
def few(monkeypatch):
    monkeypatch.setattr(run, "entries", lambda part, quick: ENTRIES)


def line(**changes):
    base = Outcome("laws", "a", "open", "plain", 0, "nalm", True, True, "exact", 0.0, 0.1, "done", "x")
    return replace(base, **changes)


def test_a_contest_writes_lines_and_totals_that_agree(few, tmp_path, capsys):
    outcomes = run.contest(tmp_path / "laws", "nalm,log-linear", workers=1)
    rows = list(csv.DictReader((tmp_path / "laws.trials.csv").read_text("utf-8").splitlines()))
    about = json.loads((tmp_path / "laws.json").read_text("utf-8"))
    assert len(rows) == len(outcomes) == 6 and about["totals"] == totals(outcomes)
    for t in about["totals"]:
        mine = [r for r in rows if all(r[k] == t[k] for k in ("suite", "part", "variant", "rival"))]
        assert t["problems"] == len(mine) and t["exact"] == sum(r["exact"] == "True" for r in mine)
    exact = {(t["suite"], t["variant"], t["rival"]) for t in about["totals"] if t["exact"]}
    assert {("laws", "plain", "nalm"), ("laws", "plain", "log-linear")} <= exact
    assert about["command"].startswith("python -m benchmarks.laws results/beyond/laws --part open")
    assert about["versions"]["nalm"] and about["cores"] and not list(tmp_path.glob("*.jsonl"))
    assert "6 fits" in capsys.readouterr().err


def test_a_killed_contest_goes_on_where_it_was(few, tmp_path, monkeypatch, capsys):
    calls = []

    def fit(x, y, names, seconds, seed):
        calls.append(names)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return Fitted(lambda rows: np.ones(len(rows)), "1")

    monkeypatch.setitem(RIVALS, "one", Rival("one", fit, "always one"))
    with pytest.raises(KeyboardInterrupt):
        run.contest(tmp_path / "laws", "one", workers=1)
    journal = tmp_path / "laws.journal.jsonl"
    assert len(journal.read_text("utf-8").splitlines()) == 2
    with journal.open("a") as file:
        file.write('{"suite": "laws", "na')  # cut by the kill
    assert len(run.contest(tmp_path / "laws", "one", workers=1)) == 3 and len(calls) == 4
    assert "1 of 3 fits are in" in capsys.readouterr().err and not journal.exists()


def test_a_journal_of_other_settings_or_with_a_broken_line_is_refused(tmp_path):
    path = tmp_path / "j.jsonl"
    with Journal(path, {"seconds": 1}) as journal:
        journal.add(line())
    with pytest.raises(NALMError, match="other settings"), Journal(path, {"seconds": 2}):
        pass
    path.write_text(path.read_text("utf-8") + "broken\n" + "{}\n")
    with pytest.raises(NALMError, match="Line 3"), Journal(path, {"seconds": 1}):
        pass


def test_what_goes_wrong_or_takes_too_long_is_an_outcome(monkeypatch):
    def fails(*_):
        raise ValueError("no idea")

    monkeypatch.setitem(RIVALS, "bad", Rival("bad", fails, ""))
    monkeypatch.setitem(RIVALS, "slow", Rival("slow", lambda *_: time.sleep(600), ""))
    bad, slow = (run.one((ENTRIES[0], name, 0.05)) for name in ("bad", "slow"))
    assert bad.ended == "ValueError: no idea" and not bad.exact and bad.error == np.inf
    assert slow.ended == "time" and slow.seconds < 300


def test_slow_rivals_fit_fewer_problems_and_nobody_without_a_certificate_those_outside():
    wide = Entry("cells", "sub 100 U[1,2)", "", "plain", 0)
    assert run.takes_part("nalm", wide) and not run.takes_part("gplearn", wide)
    assert run.takes_part("gplearn", replace(wide, name=run.MANY))
    assert [run.takes_part(name, OUTSIDE) for name in ("nalm", "gplearn", "polynomial")] == [
        True,
        False,
        False,
    ]
    noisy, triple = ENTRIES[1], replace(ENTRIES[2], name="add-mul-sub")
    assert run.takes_part("mlp", noisy) and not run.takes_part("gplearn", noisy)
    assert run.takes_part("gplearn", ENTRIES[2]) and not run.takes_part("gplearn", triple)
    assert [j[1] for j in run.jobs(ENTRIES[2:], ["nalm", "gplearn"], 1.0)] == ["gplearn", "nalm"]


def test_faster_is_measured_where_both_are_exact():
    rows = [line(name=n, seconds=0.5) for n in "abc"] + [
        line(name=n, rival="gplearn", seconds=5.0) for n in "ab"
    ]
    rows += [line(name="c", rival="gplearn", exact=False), line(name="d", rival="gplearn", seconds=9.0)]
    found = {s["suite"]: s for s in speed(rows)}
    assert found["all"] == {
        "suite": "all",
        "rival": "gplearn",
        "problems": 2,
        "low": 10,
        "median": 10,
        "high": 10,
    }
    assert found["laws"]["problems"] == 2 and speed([line()]) == []


def test_the_table_fits_a_terminal():
    rows = [
        line(rival=r, part=p, variant=v)
        for r in RIVALS
        for p in ("open", "blind")
        for v in ("redundant", "noise 10%")
    ]
    text = table(totals(rows))
    assert max(map(len, text.splitlines())) <= 100 and "laws blind noise 10%" in text and "1/1" in text


def test_the_command_prints_the_table_and_refuses_in_sentences(few, tmp_path, monkeypatch):
    import typer

    app = typer.Typer()
    app.command()(command.main)
    done = CliRunner().invoke(app, [str(tmp_path / "laws"), "--rivals", "log-linear", "--workers", "1"])
    assert done.exit_code == 0 and "laws open plain" in done.stdout
    wrong = CliRunner().invoke(app, [str(tmp_path / "laws"), "--rivals", "gplaern"])
    assert wrong.exit_code == 2 and "Did you mean 'gplearn'" in wrong.output
    assert CliRunner().invoke(app, [str(tmp_path / "laws"), "--suites", "law"]).exit_code == 2


def test_the_page_shows_every_rival(few, tmp_path):
    assert shown(tmp_path) is None
    run.contest(tmp_path / "beyond" / "laws", "polynomial,log-linear", workers=1)
    found = shown(tmp_path)
    assert [r["name"] for r in found["rivals"]] == ["polynomial", "log-linear"]
    first = found["rows"][0]
    assert first["counted"] == "exact" and first["cells"]["log-linear"]["best"]
    assert not first["cells"]["polynomial"]["best"]
    assert [len(f["data"]) for f in found["figures"]] == [2, 2]
    json.dumps(found, allow_nan=False)
    (tmp_path / "beyond" / "laws.json").write_text("{}")
    with pytest.raises(NALMError, match="cannot be read"):
        shown(tmp_path)
