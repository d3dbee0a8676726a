"""The trials of ``attach`` in plain loops."""

from dataclasses import replace

import torch

from benchmarks import attached
from benchmarks.attached import PROBLEMS, Job, Options, Trial, jobs, one, totals


def test_every_problem_is_tried_with_and_without_the_line():
    made = jobs(Options(seeds=3))
    assert [(j.problem, j.attached) for j in made] == [(p, line) for p in PROBLEMS for line in (False, True)]
    assert {j.seeds for j in made} == {3}


def test_a_job_trains_its_networks_and_counts_the_right_ones(monkeypatch):
    area = "area of noisy sides: NMU"
    monkeypatch.setitem(attached.PROBLEMS, area, replace(PROBLEMS[area], steps=400, lr=0.05))
    with torch.random.fork_rng(devices=[]):
        trial = one(Job(area, True, 3))
    assert (trial.right, trial.found, trial.seeds) == (3, 3, 3) and trial.error < 0.01


def test_the_target_of_each_problem_is_its_formula_or_hidden_in_a_layer():
    for name, problem in PROBLEMS.items():
        x, y = problem.draw((2, 50), attached.FAR, torch.Generator().manual_seed(0))
        assert x.shape[:2] == y.shape[:2] == (2, 50) and y.shape[2] == 1, name
        with torch.random.fork_rng(devices=[]):
            assert problem.network()(x[0]).shape == (50, 1)


def test_totals_stand_side_by_side():
    (problem, *_) = PROBLEMS
    rows = totals([Trial(problem, line, 20, 3 + 17 * line, 20, 0.1, 100, 1.0) for line in (False, True)])
    assert [(r["without_right"], r["with_right"], r["with_formula"]) for r in rows] == [(3, 20, 20)]
    assert rows[0]["without_high"] < rows[0]["with_low"]
