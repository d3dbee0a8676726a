"""A composition trained by gradient: what it finds, what it does not claim, and its trials."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch

from benchmarks import compositions as composed
from nalm import losses
from nalm.discover.composition import STARTS, Population, compose


def table(rows=240, columns=4, seed=0):
    return np.random.default_rng(seed).uniform(1, 2, (rows, columns))


def test_compose_finds_a_formula_that_no_single_unit_has():
    x = table()
    found = compose(x, 1 / ((x[:, 0] + x[:, 1]) * x[:, 3]), ["a", "b", "c", "force"])
    assert str(found.law) == "1/(force*(a + b))" and found.certificate.verdict == "exact"
    assert found.steps >= 100  # it was trained
    again = compose(x, 1 / ((x[:, 0] + x[:, 1]) * x[:, 3]))
    assert again.steps == found.steps  # every start follows from the seed


def test_compose_does_not_certify_what_it_cannot_express():
    x = table(rows=90)
    assert not compose(x, np.sin(5 * x[:, 0]) + x[:, 1], steps=5).certificate


def test_the_slope_of_the_solved_loss_is_that_of_the_whole():
    x = torch.from_numpy(table(64))
    y = (x[:, :1] + x[:, 1:2]) * x[:, 2:3]
    population = Population(x, y, 2, 0, 0)
    each = population.loss()
    assert each.shape == (STARTS,) and (each <= 1 + 1e-9).all()
    (slope,) = torch.autograd.grad(each[0], population.p)
    step = 1e-6
    with torch.no_grad():
        population.p[0, 0, 0] += step
        above = population.loss()[0]
        population.p[0, 0, 0] -= 2 * step
        below = population.loss()[0]
    assert slope[0, 0, 0].item() == pytest.approx(((above - below) / (2 * step)).item(), rel=1e-3, abs=1e-8)


def test_solved_members_have_no_loss():
    x = torch.from_numpy(table(64))
    y = (x[:, :1] + x[:, 1:2]) / x[:, 2:3]
    population = Population(x, y, 1, 0, 0)
    with torch.no_grad():
        population.u[0] = torch.tensor([1.0, 1.0, 0.0, 0.0])
        population.p[0, 0] = torch.tensor([0.0, 0.0, -1.0, 0.0])
        population.q[0] = 1.0
    assert population.loss()[0] < 1e-9
    m = population.products()[0]
    assert losses.projected(m * (y[0] / m[0]), y, x) < 1e-9


def test_trials_count_what_is_right(monkeypatch, tmp_path):
    suite = "U[1,2), 4 inputs"
    monkeypatch.setattr(composed, "SUITES", {suite: composed.SUITES[suite][:2]})
    composed.main(str(tmp_path / "composition"), 1)
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
    found = [composed.trial("composition", suite, cell, 100) for cell in composed.SUITES[suite]]
    assert sum(t.right for t in found) >= 14
    assert all(t.right for t in found if t.verdict == "exact")
