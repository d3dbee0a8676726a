"""Trials of compositions: the ladder beside a network trained by gradient."""

import json
from pathlib import Path

import pytest

from benchmarks import compositions as composed
from benchmarks import harness


def test_right_laws_are_counted_by_method_and_formula(monkeypatch, tmp_path):
    suite = "U[1,2), 4 inputs"
    monkeypatch.setattr(composed, "SUITES", {suite: composed.SUITES[suite][:2]})
    harness.run(composed.BENCHMARK, tmp_path / "composition", composed.Options(seeds=1))
    about = json.loads((tmp_path / "composition.json").read_text("utf-8"))
    assert [(r["method"], r["cell"], r["right"]) for r in about["totals"]] == [
        (method, cell, 1) for method in composed.METHODS for cell in ("add-add", "add-sub")
    ]
    assert (tmp_path / "composition.trials.csv").exists()


def test_the_suites_are_the_compositions_of_the_thesis():
    assert [len(group) for group in composed.SUITES.values()] == [16, 16, 16, 16, 64]


def test_the_shipped_trials_solve_what_the_published_networks_do_not():
    about = json.loads(
        (Path(__file__).parent.parent.parent / "results/beyond/composition.json").read_text("utf-8")
    )
    trained = [r for r in about["totals"] if r["method"] == "composition"]
    assert {r["suite"] for r in trained} == set(composed.SUITES)
    for suite in composed.SUITES:
        mine = [r for r in trained if r["suite"] == suite]
        assert min(r["problems"] for r in mine) >= 10
        assert sum(r["right"] >= 0.9 * r["problems"] for r in mine) >= 14 or len(mine) == 4
    assert all(r["certified"] == r["right"] for r in about["totals"])  # nothing wrong was certified


@pytest.mark.slow
@pytest.mark.parametrize("suite", [s for s in composed.SUITES if not s.startswith("three")])
def test_at_least_14_of_16_formulas(suite):
    found = [
        composed.one(composed.Job("composition", suite, cell.name, 100)) for cell in composed.SUITES[suite]
    ]
    assert sum(t.right for t in found) >= 14
    assert all(t.right for t in found if t.verdict == "exact")
