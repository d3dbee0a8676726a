"""Euler's method for populations: against autograd, against torchdiffeq, and one member against another."""

import numpy as np
import pytest
import torch

from nalm.engine import product
from nalm.engine.systems import SystemTrainer, euler, lbfgs
from nalm.experiments.heim2020 import SYSTEMS
from nalm.tasks.epidemic import START, FractionalSIR, published

CPU = torch.device("cpu")


def fitting(*keys, seeds=(0,), steps=3_000, polish=1_000):
    cases = [
        c.replace(recipe=c.recipe.replace(steps=steps, polish=polish)) for c in (SYSTEMS[key] for key in keys)
    ]
    return SystemTrainer(product(cases, list(seeds)), CPU, compiled=False)


def test_reading_between_steps_is_exact_for_straight_lines_and_at_steps():
    times = np.array([0.0, 0.5, 3.0, 5.125, 19.9, 20.0])
    weights = euler.interpolation(times, 20)
    torch.testing.assert_close(weights.sum(1), torch.ones(6, dtype=torch.float64))
    line = 3 + 2 * torch.arange(21, dtype=torch.float64)
    torch.testing.assert_close(weights @ line, torch.from_numpy(3 + 2 * times))
    assert weights[2].nonzero().flatten().tolist() == [3] and weights[-1, 20] == 1


def test_reading_between_steps_is_hermites_cubic():
    y = torch.tensor([1.0, 4.0, 2.0], dtype=torch.float64)
    a, (m0, m1) = 0.3, (3.0, -2.0)  # slopes are Euler's: the differences
    cubic = (
        (2 * a**3 - 3 * a**2 + 1) * 1.0
        + (a**3 - 2 * a**2 + a) * m0
        + (-2 * a**3 + 3 * a**2) * 4.0
        + (a**3 - a**2) * m1
    )
    assert float(euler.interpolation(np.array([a]), 2) @ y) == pytest.approx(cubic)


@pytest.mark.parametrize("name", ["NPU", "RealNPU", "Dense"])
def test_the_slope_is_that_of_autograd(name):
    fit = fitting((name, 6, 1.0), (name, 9, 0.0), seeds=(0, 1))
    theta = fit.theta.clone().requires_grad_(True)
    states = euler.trajectory(fit._rate, theta, fit.start, 200)
    objective = (fit.reading @ states - fit.data).square().mean((-2, -1)) + fit.l1 * theta.abs().sum(-1)
    (slope,) = torch.autograd.grad(objective.sum(), theta)
    ours, found, error = fit.value(fit.theta)
    torch.testing.assert_close(ours, objective.detach())
    torch.testing.assert_close(found, slope * fit.mask)
    assert (error <= ours).all()


def test_trajectories_are_those_of_torchdiffeq():
    torchdiffeq = pytest.importorskip("torchdiffeq")
    fit = fitting(("RealNPU", 6, 0.0))
    ours = fit.trajectories(fit.theta)[0]

    def rate(time, u):
        return fit._rate(fit.theta, u[None, None])[0, 0]

    theirs = torchdiffeq.odeint(
        rate,
        fit.start[0],
        torch.arange(201.0, dtype=torch.float64),
        method="euler",
        options={"step_size": 1.0},
    )
    torch.testing.assert_close(ours, theirs)


def test_the_true_rates_fit_the_data_to_eulers_precision():
    _, data = published()

    def rate(theta, u):
        return torch.stack(FractionalSIR().rates(*u.clamp_min(0).unbind(-1)), -1)

    states = euler.trajectory(rate, torch.zeros(1, 0), torch.tensor([START], dtype=torch.float64), 200)
    times = np.linspace(0, 200, 40)
    away = euler.interpolation(times, 200) @ states[0] - torch.from_numpy(data)
    assert 0.05 < away.square().mean() < 5  # steps of 1 are coarse; a fitted model makes up for them


def test_one_that_diverges_does_no_harm():
    fit = fitting(("RealNPU", 6, 0.0), seeds=(0, 1))
    before, slope, _ = fit.value(fit.theta)
    broken = fit.theta.clone()
    broken[1] = torch.inf
    after, other, _ = fit.value(broken)
    assert not after[1].isfinite() and not other[1].isfinite().all()
    torch.testing.assert_close(before[0], after[0])
    torch.testing.assert_close(slope[0], other[0])


def test_a_narrow_model_trains_as_it_does_alone():
    """Padding is 0, stays so, and changes nothing."""
    together = fitting(("RealNPU", 6, 1.0), ("RealNPU", 15, 0.0), steps=2, polish=1)
    alone = fitting(("RealNPU", 6, 1.0), steps=2, polish=1)
    for fit in (together, alone):
        while not fit.finished:
            fit.advance()
    ours, theirs = together.results(), alone.results()
    for name, w in theirs.weights[0].items():
        np.testing.assert_allclose(ours.weights[0][name], w, rtol=1e-9)
    assert ours.measures[0]["nonzero 0.001"] == theirs.measures[0]["nonzero 0.001"] <= 6 * 3 + 3 + 3 * 6
    assert ours.steps[0].tolist() == [0, 2, 3] and ours.validation[0][-1] <= ours.validation[0][1]
    assert (together.theta[0] * (1 - together.mask[0]) == 0).all()


def test_a_fit_goes_on_where_it_was_taken_out(monkeypatch):
    first = fitting(("RealNPU", 6, 0.1), steps=2, polish=20)
    monkeypatch.setattr("nalm.engine.systems.training.BLOCK", 3)
    first.advance()
    first.advance()  # a block of L-BFGS
    state = {name: t.clone() for name, t in first.state().items()}
    first.advance()
    second = fitting(("RealNPU", 6, 0.1), steps=2, polish=20)
    second.restore(state)
    assert second.at == 2 and second.ticks == 3 and second.steps == [0, 2]
    second.advance()
    torch.testing.assert_close(second.theta, first.theta, rtol=0, atol=0)
    other = fitting(("RealNPU", 9, 0.1), steps=2, polish=20)
    other.restore(state)
    assert other.at == 0  # a state of other widths is of no use


def valley(x):
    with torch.enable_grad():
        y = x.detach().requires_grad_(True)
        f = (100 * (y[:, 1:] - y[:, :-1] ** 2) ** 2 + (1 - y[:, :-1]) ** 2).sum(-1)
        (g,) = torch.autograd.grad(f.sum(), y)
    return f.detach(), g


def minimised(x, value, most=500):
    state = lbfgs.begin(x, value)
    for _ in range(3 * most):
        if state["done"].all():
            break
        lbfgs.tick(state, value, most)
    return state


def test_lbfgs_finds_the_end_of_rosenbrocks_valley_alone_as_among_others():
    x = torch.linspace(-1, 1.5, 4, dtype=torch.float64)[:, None] * torch.ones(2, dtype=torch.float64)
    x[3, 0] = torch.nan
    together = minimised(x, valley)
    assert together["done"].all() and (together["f"][:3] < 1e-12).all()
    assert together["f"][3].isnan() and together["iterations"][3] == 0
    alone = minimised(x[1:2], valley)
    torch.testing.assert_close(alone["x"][0], together["x"][1], rtol=0, atol=0)
    assert alone["iterations"][0] == together["iterations"][1] > 5


def test_lbfgs_never_climbs_and_stops_when_told():
    x = torch.tensor([[-1.2, 1.0], [2.0, -1.0]], dtype=torch.float64)
    state, before = lbfgs.begin(x, valley), valley(x)[0]
    for _ in range(40):
        lbfgs.tick(state, valley, 7)
        assert (state["f"] <= before).all()
        before = state["f"].clone()
    assert (state["iterations"] == 7).all() and state["done"].all()


def test_lbfgs_stands_still_at_a_kink():
    """An L1 term has no slope at its minimum: the line search fails there, and the run is done."""

    def value(x):
        return x.abs().sum(-1) + (x - 0.3).square().sum(-1), x.sign() + 2 * (x - 0.3)

    state = minimised(torch.tensor([[0.7, -0.4]], dtype=torch.float64), value)
    assert state["done"].all() and state["x"].abs().max() < 1e-3
