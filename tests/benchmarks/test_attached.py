"""The trials of ``attach`` in plain loops, and of ``fit_units``."""

from dataclasses import replace

import pytest
import torch

from benchmarks import attached
from benchmarks.attached import PROBLEMS, WAYS, Job, Options, Trial, jobs, one, totals


def test_every_problem_is_tried_in_every_way():
    made = jobs(Options(seeds=3, first=7))
    assert [(j.problem, j.way) for j in made] == [(p, way) for p in PROBLEMS for way in WAYS]
    assert {(j.seeds, j.first) for j in made} == {(3, 7)}


@pytest.mark.parametrize("way", ["with", pytest.param("fit", marks=pytest.mark.slow)])
def test_a_job_trains_its_networks_and_counts_the_right_ones(way, monkeypatch):
    area = "area of noisy sides: NMU"
    monkeypatch.setitem(attached.PROBLEMS, area, replace(PROBLEMS[area], steps=400, lr=0.05))
    with torch.random.fork_rng(devices=[]):
        trial = one(Job(area, way, 3, 0))
    assert (trial.right, trial.found, trial.seeds) == (3, 3, 3) and trial.error < 0.01


def test_the_target_of_each_problem_is_its_formula_or_hidden_in_a_layer():
    for name, problem in PROBLEMS.items():
        x, y = problem.draw((2, 50), attached.FAR, torch.Generator().manual_seed(0))
        assert x.shape[:2] == y.shape[:2] == (2, 50) and y.shape[2] == 1, name
        with torch.random.fork_rng(devices=[]):
            assert problem.network()(x[0]).shape == (50, 1)


def test_totals_stand_side_by_side():
    (problem, *_) = PROBLEMS
    rows = totals([Trial(problem, way, 20, 20 if way == "with" else 3, 20, 0.1, 100, 1.0) for way in WAYS])
    assert [(r["without_right"], r["with_right"], r["fit_right"], r["fit_formula"]) for r in rows] == [
        (3, 20, 3, 20)
    ]
    assert rows[0]["without_high"] < rows[0]["with_low"]
