"""The contest: who fits what, what counts as a trial, totals, speed, and the section of the page."""

import csv
import json
import time
from dataclasses import replace

import numpy as np
import pytest

from benchmarks import harness
from benchmarks.laws import run
from benchmarks.laws.judge import Trial
from benchmarks.laws.problems import Entry
from benchmarks.laws.rivals import RIVALS, Fitted, Rival
from benchmarks.laws.totals import speed, table, totals
from nalm.report.sections.benchmarks import benchmarks as shown

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
    base = Trial("laws", "a", "open", "plain", 0, "nalm", True, True, "exact", 0.0, 0.1, "done", "x")
    return replace(base, **changes)


def contest(path, rivals, seconds=60.0):
    return harness.run(run.BENCHMARK, path, run.Options(rivals=rivals, seconds=seconds), workers=1)


@pytest.mark.system
def test_a_contest_writes_trials_and_totals_that_agree(few, tmp_path):
    trials = contest(tmp_path / "laws", "nalm,log-linear")
    rows = list(csv.DictReader((tmp_path / "laws.trials.csv").read_text("utf-8").splitlines()))
    found = json.loads((tmp_path / "laws.json").read_text("utf-8"))
    assert len(rows) == len(trials) == 6 and found["totals"] == totals(trials)
    for t in found["totals"]:
        mine = [r for r in rows if all(r[k] == t[k] for k in ("suite", "part", "variant", "rival"))]
        assert t["problems"] == len(mine) and t["exact"] == sum(r["exact"] == "True" for r in mine)
    exact = {(t["suite"], t["variant"], t["rival"]) for t in found["totals"] if t["exact"]}
    assert {("laws", "plain", "nalm"), ("laws", "plain", "log-linear")} <= exact
    assert found["about"]["methods"].keys() == {"nalm", "log-linear"} and found["about"]["skipped"] == {}
    assert found["about"]["command"].endswith("laws --rivals nalm,log-linear --part open --seconds 60")


def test_an_interrupted_contest_continues_with_the_fits_that_are_missing(few, tmp_path, monkeypatch):
    calls = []

    def fit(x, y, names, seconds, seed):
        calls.append(names)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return Fitted(lambda rows: np.ones(len(rows)), "1")

    monkeypatch.setitem(RIVALS, "one", Rival("one", fit, "always one"))
    with pytest.raises(KeyboardInterrupt):
        contest(tmp_path / "laws", "one")
    assert len(contest(tmp_path / "laws", "one")) == 3 and len(calls) == 4


def test_an_error_or_an_exceeded_time_limit_is_a_trial(monkeypatch):
    def fails(*_):
        raise ValueError("no idea")

    monkeypatch.setitem(RIVALS, "bad", Rival("bad", fails, ""))
    monkeypatch.setitem(RIVALS, "slow", Rival("slow", lambda *_: time.sleep(600), ""))
    bad, slow = (run.one(run.Job(ENTRIES[0], name, 0.05)) for name in ("bad", "slow"))
    assert bad.ended == "ValueError: no idea" and not bad.exact and bad.error == np.inf
    assert slow.ended == "time" and slow.seconds < 300


def test_slow_rivals_fit_fewer_problems_and_only_rivals_that_certify_fit_targets_outside_the_class():
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


def test_the_slowest_rivals_come_first(few):
    found = run.jobs(run.Options(rivals="log-linear,nalm,polynomial"))
    assert list(dict.fromkeys(j.rival for j in found)) == ["nalm", "polynomial", "log-linear"]


def test_speed_is_compared_where_both_fits_are_exact():
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


def test_the_command_prints_the_table_and_refuses_unknown_names(few, tmp_path, capsys):
    words = [str(tmp_path / "laws"), "--workers", "1", "--rivals"]
    assert harness.main(run.BENCHMARK, [*words, "log-linear"]) == 0
    assert "laws open plain" in capsys.readouterr().out
    assert harness.main(run.BENCHMARK, [*words, "gplaern"]) == 2
    assert "Did you mean 'gplearn'" in capsys.readouterr().err
    assert harness.main(run.BENCHMARK, [*words, "log-linear", "--suites", "law"]) == 2
    assert "Did you mean 'laws'" in capsys.readouterr().err


def test_the_section_of_the_page_has_every_rival(few, tmp_path):
    assert shown(tmp_path) == []
    contest(tmp_path / "beyond" / "laws", "polynomial,log-linear")
    (found,) = shown(tmp_path)
    assert [r["name"] for r in found["rivals"]] == ["polynomial", "log-linear"]
    first = found["rows"][0]
    assert first["counted"] == "exact" and first["cells"]["log-linear"]["best"]
    assert not first["cells"]["polynomial"]["best"]
    assert [len(f["data"]) for f in found["figures"]] == [2, 2]
    json.dumps(found, allow_nan=False)
