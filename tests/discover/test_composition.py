"""A composition trained by gradient: what it finds, what it does not claim, and its trials."""

import numpy as np
import pytest
import torch

from nalm import losses
from nalm.discover.composition import STARTS, Population, compose


def table(rows=240, columns=4, seed=0):
    return np.random.default_rng(seed).uniform(1, 2, (rows, columns))


@pytest.mark.system
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
