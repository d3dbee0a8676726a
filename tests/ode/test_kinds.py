"""Kinds of right-hand sides that the first library lacks, and what samples cannot tell or are noisy with."""

from dataclasses import replace

import numpy as np
import pytest
import sympy
import torch
from scipy.integrate import solve_ivp

import nalm
from nalm.discover.law.expression import Function, parts
from nalm.errors import NALMError
from nalm.ode.data import checked
from nalm.ode.factors import Applied
from nalm.ode.families import Space, growth, powers, saturations, waves
from nalm.ode.fit import _doubts
from nalm.ode.model import Entry, Model, Term, value
from nalm.ode.moves import straightened
from nalm.ode.path import splined
from nalm.ode.search import prepared
from nalm.ode.selection import proposed
from nalm.ode.system import Number

NAMES = ("x", "y")
KINDS = {
    "sine": (["0.21 - sin(x)"], [-2.74], 10.0),
    "logarithm": (["-0.8*x*log(x/5)"], [0.3], 6.0),
    "exponential": (["1.2 - x/5 - exp(-x)"], [0.0], 10.0),
    "degree 5": (["x/2 + x**3 - x**5/2"], [0.1], 8.0),
    "Hill": (["1/10 - x/2 + 3*x**2/(2 + x**2)"], [0.8], 6.0),
}
FAMILY = [
    ("sine", waves, "sin"),
    ("logarithm", growth, "log"),
    ("exponential", growth, "exp"),
    ("degree 5", powers, "5.0"),
    ("Hill", saturations, "K"),
]
SLOW = {
    "two angles": (["sin(x - y)/2 - sin(x)", "-sin(x - y)/2 - sin(y)"], [4.3, 2.5], 10.0),
    "products of waves": (["1.4 + sin(y)*cos(x)", "0.9 + sin(y)*cos(x)"], [2.2, 0.7], 10.0),
    "divided wave": (["-0.08*x**2 - sin(y)", "x - cos(y)/x"], [5.0, 0.7], 10.0),
}


def simulated(equations, start, end, samples=150):
    symbols = sympy.symbols(NAMES[: len(equations)])
    rates = sympy.lambdify(symbols, [sympy.sympify(e) for e in equations])
    t = np.linspace(0, end, samples)
    return t, solve_ivp(lambda _, x: rates(*x), (0, end), start, "LSODA", t, rtol=1e-11, atol=1e-13).y.T


def differs(system, equations):
    """The largest difference from the true equations, over their size, at random states."""
    symbols = sympy.symbols(NAMES[: len(equations)])
    x = np.random.default_rng(0).uniform(0.3, 2.0, (50, len(equations)))
    wanted = np.stack([np.broadcast_to(sympy.lambdify(symbols, e)(*x.T), 50) for e in equations], 1)
    return float(np.abs(system.rates(x) - wanted).max() / np.abs(wanted).max())


@pytest.mark.parametrize("kind, family, name", FAMILY)
def test_the_integral_form_proposes_a_kind_of_term(kind, family, name):
    equations, start, end = KINDS[kind]
    data = checked(*simulated(equations, start, end, 60), ["x"])
    search = prepared(data.samples(), data.scales()[0], lambda: None)
    terms = list(family(Space(search.signed, search.scales)))
    settings = (search.path, search.samples, terms, search.signed, search.check, 1)
    (_, model), *_ = proposed(*settings, lonely=True)
    assert name in {str(f.shape[0]) for t in model.terms for f in t.factors} | {
        str(max(t.powers)) for t in model.terms
    }


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_a_kind_of_term_is_found(kind):
    equations, start, end = KINDS[kind]
    system = nalm.ode.fit(*simulated(equations, start, end, 80), NAMES[:1], restarts=1)
    assert differs(system, equations) < 1e-3 and system.verdict == "exact"


@pytest.mark.slow
@pytest.mark.parametrize("kind", SLOW)
def test_a_kind_of_term_in_two_equations_is_found(kind):
    equations, start, end = SLOW[kind]
    system = nalm.ode.fit(*simulated(equations, start, end), NAMES, restarts=1)
    assert differs(system, equations) < 1e-3 and system.verdict == "exact"


def functions(node):
    own = [node.name] if isinstance(node, Function) else []
    return own + [name for part in parts(node) for name in functions(part)]


def test_functions_are_nodes_of_laws_and_survive_a_file(tmp_path):
    system = nalm.ode.fit(*simulated(*KINDS["sine"], 60), ["x"], restarts=1)
    assert functions(system.laws[0].expression) == ["sin"]
    system.save(tmp_path / "system.json")
    assert nalm.ode.load(tmp_path / "system.json") == system
    rows = torch.linspace(0.1, 1.0, 3, dtype=torch.float64)[:, None]
    network = system.laws[0].to_module(torch.float64)
    np.testing.assert_allclose(network(rows).detach(), system.rates(rows), rtol=1e-9)


def test_what_one_trajectory_cannot_tell_is_not_exact():
    equations = ["x*y - 1.6*x**2*y", "x*y - 1.6*x*y**2"]  # along it 1 - 1.6*x is a multiple of 1 - 1.6*y
    t, x = simulated(equations, [0.3, 0.04], 10.0, 60)
    alone = nalm.ode.fit(t, x, NAMES, restarts=1)
    assert alone.verdict == "consistent" and "cannot tell" in alone.flags[-1]


@pytest.mark.parametrize("kind, power", [("equal", 0.0), ("counts", 0.5), ("share", 1.0)])
def test_the_kind_of_noise_is_read_off_the_samples(kind, power):
    t = np.linspace(0, 8, 150)
    x, rng = 400 * np.exp(-0.5 * t), np.random.default_rng(1)
    noise = {"equal": 5.0, "counts": np.sqrt(x), "share": 0.05 * x}[kind] * rng.standard_normal(150)
    data = checked(t, x + noise, ["x"])
    found = splined(data.samples()).noise
    assert found.power == power and bool(found.words) == bool(power)
    weights = found.weights(data.samples().x)
    assert weights is None if not power else weights[0] > 2 * weights[-1]


def test_variables_are_weighted_by_their_noise_if_it_differs():
    t, rng = np.linspace(0, 6, 80), np.random.default_rng(0)
    x = np.stack([np.sin(t), np.cos(t)], 1) + rng.standard_normal((80, 2)) * [0.1, 0.01]
    found = splined(checked(t, x, NAMES).samples()).noise
    weights = found.weights(x)
    assert found.power == 0 and 4 < weights[0, 0] / weights[0, 1] < 25


@pytest.mark.slow
def test_a_law_with_noise_that_is_a_share_of_the_value_is_found():
    t = np.linspace(0, 8, 100)
    x = 50 * np.exp(-0.5 * t) * (1 + 0.05 * np.random.default_rng(1).standard_normal(100))
    system = nalm.ode.fit(t, x, ["x"], restarts=2)
    assert "a share of the value" in system.tested and system.verdict == "consistent"
    assert differs(system, ["-x/2"]) < 0.05


def test_short_trajectories_are_pooled():
    t = np.linspace(0, 2, 4)
    starts = (1.0, 2.0, 3.0, 5.0)
    system = nalm.ode.fit([t] * 4, [s * np.exp(-t / 2) for s in starts], ["x"], restarts=1)
    assert str(system) == "dx/dt = -x/2"
    with pytest.raises(NALMError, match="at least 3 samples, got 2 of trajectory 0"):
        nalm.ode.fit([t[:2]] * 4, [t[:2]] * 4)
    with pytest.raises(NALMError, match="at least 8 samples in all, got 6"):
        nalm.ode.fit([t[:3]] * 2, [t[:3]] * 2)


def test_labels_of_intervals_have_exponents():
    t, x = simulated(["-0.7*x**1.5"], [3.0], 4.0, 40)
    system = nalm.ode.fit(t, x, ["x"], restarts=1)
    assert [n.where for n in system.intervals] == ["rate of x**1.5 in dx/dt"]


def test_consistent_needs_a_restart_that_agrees_and_numbers_that_are_determined():
    known = nalm.ode.fit(np.linspace(0, 3, 20), np.exp(-np.linspace(0, 3, 20)), ["x"], restarts=1)
    assert _doubts(replace(known, restarts=(3, 5))) == []
    assert "no restart" in _doubts(replace(known, restarts=(0, 5)))[0]
    wide = replace(known, intervals=(Number("K of x/(K + x)", 1.0, 1e-46, 1e39),))
    assert "do not determine K of x/(K + x)" in _doubts(wide)[0]


def test_a_function_costs_more_than_the_line_it_is_replaced_by():
    states = np.linspace(0.1, 0.5, 40)[:, None]
    wave = Model((Term((0.0,), (Applied("cos", (3.0,)),)),), (Entry(0, 0, 0),), (0.24,))
    ((_, line),) = straightened(wave, states)
    assert [t.powers for t in line.terms] == [(0.0,), (1.0,)] and not any(t.factors for t in line.terms)
    curve, straight = (np.stack([value(t, states) for t in m.terms], 1) @ m.rates for m in (wave, line))
    assert np.abs(curve - straight).max() < 0.1 * np.ptp(curve)
    assert line.price + 0.5 < wave.price


@pytest.mark.slow
def test_a_line_is_found_in_five_per_cent_noise():
    t = np.linspace(0, 10, 150)
    x = 0.32 / 0.6 + (0.05 - 0.32 / 0.6) * np.exp(-0.6 * t)
    noisy = x * (1 + 0.05 * np.random.default_rng(0).standard_normal(150))
    found = nalm.ode.fit(t, noisy, ["x"], restarts=3)
    assert [set(map(type, parts(law.expression))) & {Function} for law in found.laws] == [set()]


@pytest.mark.slow
def test_a_structure_that_another_explains_nearly_as_well_is_not_exact():
    """Insects that are eaten (ODEBench 15): far from 0 what is eaten is nearly constant."""
    t = np.linspace(0, 10, 150)

    def rate(_, x):
        return 0.4 * x * (1 - x / 95) - x**2 / (1 + x**2)

    x = solve_ivp(rate, (0, 10), [44.3], t_eval=t, rtol=1e-10, atol=1e-10).y.T
    found = nalm.ode.fit(t, x, ["x"], restarts=10)
    assert found.verdict != "exact" or differs(found, ["0.4*x*(1 - x/95) - x**2/(1 + x**2)"]) < 1e-3


def test_the_law_of_counts_is_found_with_their_noise_and_in_short_runs():
    rng, t = np.random.default_rng(0), np.linspace(0, 8, 60)
    counted = nalm.ode.fit(t, rng.poisson(900 * np.exp(-t / 2)).astype(float), ["N"], restarts=1)
    assert "that of counts" in counted.tested and counted.verdict == "consistent"
    (rate,) = counted.intervals
    assert rate.where == "rate of N in dN/dt" and rate.low < -0.5 < rate.high
    short = [t[:30:5]] * 3  # six samples each
    runs = [rng.poisson(start * np.exp(-short[0] / 2)).astype(float) for start in (200, 900, 400)]
    pooled = nalm.ode.fit(short, runs, ["N"], restarts=1)
    assert differs(pooled, ["-x/2"]) < 0.15 and pooled.verdict == "consistent"
