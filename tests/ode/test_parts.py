"""The parts of the search: slopes against differences, shooting, splines, systems in files."""

import json

import numpy as np
import pytest

import nalm
from benchmarks.known_systems import KNOWN
from nalm.discover.law import Law
from nalm.discover.law.expression import Input, Power, Sum
from nalm.discover.problem import TimeUpError
from nalm.errors import NALMError
from nalm.ode import search as searching
from nalm.ode.combination import Choice, combined
from nalm.ode.data import checked
from nalm.ode.factors import Applied, Saturation
from nalm.ode.flow import flow
from nalm.ode.library import library
from nalm.ode.model import Entry, Model, Term, slope, value
from nalm.ode.noise import deviations
from nalm.ode.path import splined
from nalm.ode.refine import Fitter
from nalm.ode.search import prepared
from nalm.ode.selection import proposed
from nalm.ode.shooting import Samples, shoot
from nalm.ode.system import Number, System

MODEL = Model(
    (Term((0.7, 0.4)), Term((1.0, 0.0), (Saturation(0, 0.3),)), Term((0.0, 0.0))),
    (Entry(0, 0, 0), Entry(1, 0, 0, -0.5), Entry(1, 1, 1), Entry(0, 2, 2)),
    (-1.2, 0.8, 0.1),
    frozenset({(1, 0)}),
)
TERMS = (
    Term((0.5, 2.0)),
    Term((1.0, 1.0), (Saturation(1, 0.4),)),
    Term((1.5, 0.0), (Saturation(0, 2.0, 3.0), Saturation(1, 0.3))),
    Term((0.0, -1.0), (Applied("sin", (1.7, 0.0)), Applied("tan", (0.0, 0.9), power=-1.0))),
    Term((0.0, 1.0), (Applied("logistic", (3.0, -2.0), 0.4, free=True),)),
    Term((1.0, 0.0), (Applied("log", (2.0, 0.0)),)),
    Term((1.0, 0.0), (Applied("exp", (-0.5, 0.0), free=True), Saturation(0, 0.7))),
)
STARTS = np.array([[0.5, 0.7], [0.2, 0.9]])
DURATIONS = np.array([0.3, 0.5])


FUNCTIONS = Model(
    TERMS[4:],
    tuple(Entry(k % 2, k, k) for k in range(3)),
    (0.8, -1.1, 0.6),
    frozenset({(0, 1), (1, 0), (2, 0)}),
)


@pytest.mark.parametrize("model", [MODEL, FUNCTIONS], ids=["powers", "functions"])
def test_slopes_of_a_flow_are_those_of_differences(model):
    f = flow(model, STARTS, DURATIONS, extra=(Term((0.0, 1.0)),), tolerance=1e-11)
    assert f.arrived
    p, h = model.numbers(), 1e-6

    def end(model=model, start=STARTS):
        return flow(model, start, DURATIONS, sensitive=False, tolerance=1e-12).end

    for k in range(len(p)):
        step = h * np.eye(len(p))[k]
        rough = (end(model.renumbered(p + step)) - end(model.renumbered(p - step))) / (2 * h)
        np.testing.assert_allclose(f.number_slopes[:, :, k], rough, rtol=1e-4, atol=1e-7)
    for i in range(2):
        step = h * np.eye(2)[i]
        rough = (end(start=STARTS + step) - end(start=STARTS - step)) / (2 * h)
        np.testing.assert_allclose(f.start_slopes[:, :, i], rough, rtol=1e-4, atol=1e-7)
    new = len(model.terms)
    for j in range(2):  # the rates that a term not in the model would have
        more = Model(
            (*model.terms, Term((0.0, 1.0))),
            (*model.entries, Entry(j, new, new)),
            (*model.rates, h),
            model.settled,
        )
        rough = (end(more) - end()) / h
        np.testing.assert_allclose(f.number_slopes[:, :, len(p) + j], rough, rtol=1e-3, atol=1e-5)


def test_slopes_below_zero_are_those_of_differences_too():
    # a broken power of a negative number is a constant
    model = Model((Term((0.5,)),), (Entry(0, 0, 0),), (2.0,))
    ends = [
        flow(model, np.array([[x]]), np.array([0.1]), tolerance=1e-11).end for x in (-0.1 - 1e-6, -0.1 + 1e-6)
    ]
    slopes = flow(model, np.array([[-0.1]]), np.array([0.1]), tolerance=1e-11).start_slopes
    assert slopes.item() == pytest.approx(float((ends[1] - ends[0]).item() / 2e-6)) == pytest.approx(1.0)


def test_a_flow_that_leads_away_does_not_arrive():
    grows = Model((Term((2.0,)),), (Entry(0, 0, 0),), (1.0,), frozenset({(0, 0)}))
    assert not flow(grows, np.array([[1.0]]), np.array([2.0])).arrived
    assert flow(grows, np.array([[1.0]]), np.array([0.5])).end[0, 0] == pytest.approx(2.0)


def test_slopes_of_terms_are_those_of_differences():
    x = np.random.default_rng(0).uniform(0.2, 1, (5, 2))
    for term in TERMS:
        for i in range(2):
            step = 1e-6 * np.eye(2)[i]
            rough = (value(term, x + step) - value(term, x - step)) / 2e-6
            np.testing.assert_allclose(slope(term, i, x), rough, rtol=1e-6)


def test_shooting_joins_the_states_from_rough_numbers():
    t = np.linspace(0, 1, 25)
    x = 1 / (1 + 9 * np.exp(-8 * t))[:, None]  # logistic: 8 x - 8 x^2
    runs = Samples(t, x, np.zeros(25, int), np.ones(25), x.std(0))
    start = Model((Term((1.3,)), Term((1.6,))), (Entry(0, 0, 0), Entry(0, 1, 1)), (5.0, -5.0))
    shot = shoot(start, x + 0.01 * np.sin(40 * t)[:, None], runs, lambda: None, 40)
    assert shot.joined and shot.error < 1e-12
    np.testing.assert_allclose(shot.model.numbers(), [8, -8, 1, 2], atol=1e-3)


def test_the_price_of_a_shared_term_counts_once():
    apart = Model((Term((0.5,)), Term((0.6,))), (Entry(0, 0, 0), Entry(0, 1, 1)), (1.0, 1.0))
    once = Model((Term((0.5,)),), (Entry(0, 0, 0), Entry(0, 0, 1)), (1.0, 1.0))
    tied = once.tie_rates(0, 1, -1.0)
    assert apart.price > once.price > tied.price
    assert tied.rates == (1.0,) and tied.entries[1].factor == -1


def test_noise_is_read_off_the_samples():
    t = np.linspace(0, 1, 200)
    x = np.sin(3 * t)[:, None]
    rng = np.random.default_rng(0)
    assert np.abs(deviations(t, x)).max() < 1e-8
    seen = np.median(np.abs(deviations(t, x + 0.01 * rng.standard_normal(x.shape)))) / 0.6745
    assert seen == pytest.approx(0.01, rel=0.3)


def test_the_integral_form_alone_proposes_the_structure():
    known = next(k for k in KNOWN if k.name == "Lotka-Volterra")
    data = checked(*known.trajectory(), known.names)
    runs, signed = data.samples(), np.zeros(2, bool)
    model = proposed(splined(runs), runs, library(signed), signed, lambda: None, 1)[0][1]
    assert sorted(model.terms, key=str) == sorted(
        [Term((1.0, 0.0)), Term((1.0, 1.0)), Term((0.0, 1.0))], key=str
    )


@pytest.mark.parametrize("noise, seed", [(0.01, 0), (0.03, 2)])
@pytest.mark.system
def test_noise_around_zero_leaves_fractional_exponents(noise, seed):
    known = next(k for k in KNOWN if k.name == "fractional SIR")
    data = checked(*known.trajectory(noise, seed), known.names)
    search = prepared(data.samples(), data.scales()[0], lambda: None)
    assert search.path.between.min() < 0  # the spline dips below zero
    assert not search.signed.any()  # by less than the noise
    models = proposed(search.path, search.samples, search.terms, search.signed, search.check, 8)
    infected = [t.powers[1] for _, m in models for t in m.terms if t.shape == ((0, 1), ())]
    assert min(abs(p - 0.5) for p in infected) < 0.05


def test_the_best_fit_is_extended_before_restarts_use_up_the_time(monkeypatch):
    known = next(k for k in KNOWN if k.name == "logistic growth")
    data = checked(*known.trajectory(0.01), known.names)
    search = prepared(data.samples(), data.scales()[0], lambda: None)
    first, extended = searching._restart, []

    def restart(search, k, seed):
        if k:
            raise TimeUpError
        return first(search, k, seed)

    monkeypatch.setattr(searching, "_restart", restart)
    monkeypatch.setattr(Fitter, "extended", lambda self, shot: extended.append(shot) or shot)
    searching.searched(search, 3, 0)
    assert extended == [search.found[0]] and search.found[1:] == [None, None]


def test_the_lower_bound_in_combined_loses_no_model():
    rng = np.random.default_rng(0)
    terms = [Term((p, q)) for p in (0.0, 0.5, 1.0) for q in (0.0, 0.3, 1.0)]

    def choice() -> Choice:
        chosen = rng.choice(len(terms), rng.integers(1, 4), replace=False)
        return Choice(tuple(terms[k] for k in chosen), (1.0,) * len(chosen), float(rng.uniform(0.01, 1)))

    options = [[choice() for _ in range(30)] for _ in range(2)]
    everything = combined(options, 40, 200)  # a beam so wide that nothing is left out
    assert combined(options, 40, 3) == everything[:3]


SYSTEM = System(
    (
        Law(Sum((Power((Input(0), Input(1)), (0.5, 1.0)),), (-0.25,), 0.1), ("x", "y")),
        Law(Power((Input(0), Sum((Input(0),), (1.0,), 2.0)), (1.0, -1.0)), ("x", "y")),
    ),
    "consistent",
    "tested.",
    ("a flag",),
    (Number("rate of x*y in dx/dt", -0.25, -0.3, -0.2),),
    ((1.0, 2.0),),
    (0.01, 0.02),
    0.03,
    (7, 10),
    (("dx/dt = 0", 12.5),),
    1.5,
)


def test_a_system_as_text_sympy_and_latex():
    assert str(SYSTEM) == "dx/dt = -sqrt(x)*y/4 + 1/10\ndy/dt = x/(x + 2)"
    assert str(SYSTEM.equations[1]) == "Eq(Derivative(y(t), t), x(t)/(x(t) + 2))"
    assert r"\dot {x} &=" in SYSTEM.latex()
    np.testing.assert_allclose(SYSTEM.rates([[4.0, 3.0]]), [[-1.4, 2 / 3]])


def test_a_system_goes_to_a_file_and_back(tmp_path):
    path = tmp_path / "system.json"
    SYSTEM.save(path)
    assert nalm.ode.load(path) == SYSTEM
    whole = json.loads(path.read_text("utf-8"))
    for broken in (
        whole | {"format": "nalm ode 0"},
        whole | {"laws": whole["laws"][:1]},
        whole | {"intervals": [[1, 2]]},
        {k: v for k, v in whole.items() if k != "verdict"},
        whole | {"residual": ["nan"]},
        [],
    ):
        path.write_text(json.dumps(broken))
        with pytest.raises(NALMError, match=r"system\.json"):
            nalm.ode.load(path)


def test_simulations_are_checked_and_end():
    times = SYSTEM.simulate([0.0, 1.0, 2.0], [1.0, 2.0])
    assert times.shape == (3, 2) and times[0].tolist() == [1.0, 2.0]
    with pytest.raises(NALMError, match="2 finite numbers"):
        SYSTEM.simulate([0.0, 1.0], [1.0])
    with pytest.raises(NALMError, match="rising times"):
        SYSTEM.simulate([1.0, 0.0], [1.0, 2.0])


def test_stiff_systems_are_simulated_by_implicit_steps():
    stiff = System((Law(Sum((Input(0),), (-1e6,), 1e6), ("x",)),))
    np.testing.assert_allclose(stiff.simulate([0.0, 1.0, 2.0], [0.0])[1:], 1.0, atol=1e-6)
