"""The whole way: known systems are found again, bad input is a sentence, time limits hold."""

import time
from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import nalm
from benchmarks.known_systems import KNOWN
from benchmarks.trajectories import at_new_starts, compared, published
from nalm.discover import Verdict
from nalm.errors import NALMError
from nalm.ode.data import checked

SYSTEMS = {k.name: k for k in KNOWN}
T = np.linspace(0, 5, 30)


def found_again(name, noise=0.0, seed=0, restarts=1):
    known = SYSTEMS[name]
    system = nalm.ode.fit(*known.trajectory(noise, seed), known.names, restarts=restarts, max_time=600)
    return known, system


@pytest.mark.parametrize("name", ["Lotka-Volterra", "Michaelis-Menten", "logistic growth"])
def test_exact_data_give_the_exact_system(name):
    known, system = found_again(name)
    right, exponents, rates = compared(system, known)
    assert (right, system.verdict) == (True, "exact")
    assert exponents == 0 and rates < 1e-6
    assert at_new_starts(system, known) < 1e-6


@pytest.mark.slow
@pytest.mark.parametrize("name", ["classic SIR", "Brusselator"])
def test_exact_data_give_the_exact_larger_system(name):
    known, system = found_again(name)
    assert compared(system, known)[0] and system.verdict == "exact"
    assert at_new_starts(system, known) < 1e-6


@pytest.mark.system
def test_fractional_sir_is_recovered_where_the_best_network_published_is_off():
    known, system = found_again("fractional SIR", restarts=2)
    right, exponents, rates = compared(system, known)
    assert right and exponents < 0.05 and rates < 0.1
    assert system.restarts == (2, 2)  # each by itself, none of them told the truth
    best = published()
    assert min(abs(best["kappa"] - 0.5), abs(best["gamma"] - 0.5)) > 0.05
    assert str(system).splitlines()[1] == "dI/dt = 0.06*sqrt(I)*sqrt(S) - 0.05*I"


@pytest.mark.slow
def test_ten_restarts_all_find_the_fractional_sir():
    _, system = found_again("fractional SIR", restarts=10)
    assert system.restarts == (10, 10)


@pytest.mark.slow
@pytest.mark.parametrize("name", SYSTEMS)
@pytest.mark.parametrize("noise", [0.01, 0.03])
def test_noise_of_a_few_percent_leaves_the_structure(name, noise):
    known, system = found_again(name, noise, restarts=4)
    right, _, rates = compared(system, known)
    assert right and rates < 0.1
    assert system.verdict == "consistent"


@pytest.mark.slow
def test_under_noise_intervals_hold_the_truth():
    known, system = found_again("Michaelis-Menten", 0.01, restarts=4)
    assert compared(system, known)[0] and system.verdict == "consistent"
    numbers = {n.where: n for n in system.intervals}
    rate, half = numbers["rate of s/(K + s) in dp/dt"], numbers["K of s/(K + s)"]
    assert rate.low < 1.2 < rate.high and rate.high - rate.low < 0.3
    assert half.low < 0.5 < half.high
    start, end = system.laws[0].expression, system.laws[1].expression
    assert start.weights[0] == -end.weights[0]  # what is lost is won: one rate


@pytest.mark.system
def test_several_trajectories_are_one_system():
    known = SYSTEMS["logistic growth"]
    runs = [known.trajectory(0.02, seed, start) for seed, start in enumerate([(1.0,), (90.0,)])]
    system = nalm.ode.fit([t for t, _ in runs], [x for _, x in runs], ["x"], restarts=1)
    assert compared(system, known)[0]
    assert len(system.start) == 2
    stacked, listed = checked(T, np.ones((2, 30, 1)) * T[:, None], None), checked([T, T], [T, T], None)
    assert all((a == b).all() for a, b in zip((*stacked.t, *stacked.x), (*listed.t, *listed.x), strict=True))


def test_variables_of_both_signs_have_whole_powers():
    system = nalm.ode.fit(T, np.stack([np.sin(T), np.cos(T)], 1), restarts=1)
    assert str(system) == "dx/dt = y\ndy/dt = -x"


def test_the_same_seed_gives_the_same_system():
    known = SYSTEMS["logistic growth"]
    t, x = known.trajectory()
    state = np.random.get_state()[1].copy()
    first, again = (nalm.ode.fit(t, x, restarts=2, seed=4) for _ in range(2))
    assert first.plain() | {"seconds": 0} == again.plain() | {"seconds": 0}
    assert (np.random.get_state()[1] == state).all()


@pytest.mark.parametrize(
    "t, x, sentence",
    [
        (T[::-1], np.exp(-T), r"Times must rise, but t\[1\] = 4.8"),
        (T, np.where(T > 2, np.nan, T), r"x\[12\] is nan: drop such rows"),
        (T, np.where(T > 2, np.inf, T), r"x\[12\] is inf"),
        (T[:5], T[:5], "at least 8 samples, got 5"),
        (T, np.ones(30), "constant trajectory says nothing"),
        (T, T[:-1], "29 rows, but there are 30 times"),
        (T, ["a"] * 30, "must be numbers"),
        (T, np.ones((30, 9)) * T[:, None], "at most 6 variables"),
        ([T, T], [T[:, None], T[:4, None]], "of trajectory 1 has 4 rows"),
        ([T, T], [T[:, None]], "1 trajectories, but 2 lists of times"),
    ],
)
def test_unusable_data_are_one_sentence(t, x, sentence):
    with pytest.raises(NALMError, match=sentence):
        nalm.ode.fit(t, x)


def test_settings_are_checked():
    with pytest.raises(NALMError, match="restarts is a whole number"):
        nalm.ode.fit(T, T, restarts=0)
    with pytest.raises(NALMError, match="max_time is a number of seconds"):
        nalm.ode.fit(T, T, max_time=0)
    with pytest.raises(NALMError, match="names were given"):
        nalm.ode.fit(T, T, ["a", "b"])


def test_a_variable_that_never_changes_is_flagged():
    system = nalm.ode.fit(T, np.stack([np.exp(-T), np.ones(30)], 1), ["x", "c"], restarts=1)
    assert str(system) == "dx/dt = -x\ndc/dt = 0"
    assert "c never changes" in system.flags[0]


def test_intervals_name_the_variable_that_moves_beside_one_that_does_not():
    system = nalm.ode.fit(T, np.stack([np.ones(30), np.exp(-T)], 1), ["c", "x"], restarts=1)
    assert str(system) == "dc/dt = 0\ndx/dt = -x"
    assert [n.where for n in system.intervals] == ["rate of x in dx/dt"]


def test_the_verdict_of_a_system_has_a_meaning():
    system = nalm.ode.fit(T, np.exp(-T), ["x"], restarts=1)
    assert system.verdict is Verdict.EXACT and system.meaning.startswith("Every sample is met")
    words = (Verdict.EXACT, Verdict.CONSISTENT, Verdict.NONE)  # of a system
    assert len({replace(system, verdict=v).meaning for v in words}) == 3


def test_a_diverging_trajectory_ends_with_its_equation():
    t = np.linspace(0, 0.99, 50)
    system = nalm.ode.fit(t, 1 / (1 - t), restarts=1)
    assert str(system) == "dx/dt = x**2"
    with pytest.raises(
        NALMError, match=r"cannot be followed beyond t = 0.99|cannot be followed beyond t = 1"
    ):
        system.simulate([0.0, 2.0], [1.0], max_time=2.0)


def robertson():
    t = np.linspace(0, 100, 40)
    rates = lambda _, u: [  # noqa: E731
        -0.04 * u[0] + 1e4 * u[1] * u[2],
        0.04 * u[0] - 1e4 * u[1] * u[2] - 3e7 * u[1] ** 2,
        3e7 * u[1] ** 2,
    ]
    return t, solve_ivp(rates, (0, 100), [1, 0, 0], "Radau", t, rtol=1e-9, atol=1e-12).y.T


@pytest.mark.parametrize("case", ["stiff", "noise"])
def test_data_without_such_a_system_are_flagged_within_the_time_limit(case):
    t, x = robertson() if case == "stiff" else (T, np.random.default_rng(0).standard_normal((30, 2)))
    began = time.thread_time()  # the machine may have other things to do
    system = nalm.ode.fit(t, x, max_time=1.0)
    assert time.thread_time() - began < 5  # a third of what the search would take
    assert system.verdict != "exact" and system.flags


def test_a_short_max_time_leaves_a_flagged_result():
    t, x = SYSTEMS["fractional SIR"].trajectory()
    began = time.thread_time()
    system = nalm.ode.fit(t, x, max_time=0.5)
    assert time.thread_time() - began < 4  # a third of what the search would take
    assert "time limit" in " ".join(system.flags)
    assert len(system.laws) == 3
