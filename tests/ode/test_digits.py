"""Few noisy samples: plain exponents, the kind of noise that a fit leaves, and digits that the samples resolve."""

import re

import numpy as np
import pytest

import nalm
from nalm.ode.data import checked
from nalm.ode.noise import kind_left
from nalm.ode.path import splined
from nalm.ode.scales import decimal

T = np.linspace(0, 5, 21)


def measured(clean, share, seed):
    return clean * (1 + share * np.random.default_rng(seed).standard_normal(len(clean)))


@pytest.mark.parametrize("seed", [5, 6])
def test_a_whole_exponent_stands_unless_the_samples_speak_against_it(seed):
    found = nalm.ode.fit(T, measured(100 * np.exp(-0.4 * T), 0.02, seed), ["N"], restarts=2)
    assert re.fullmatch(r"dN/dt = -0\.\d{2,5}\*N", str(found)) and found.verdict == "consistent"
    (rate,) = found.intervals
    assert rate.low < -0.4 < rate.high and rate.high - rate.low < 0.05


def test_a_fitted_exponent_stays_where_the_samples_tell_and_numbers_have_their_digits():
    t = np.linspace(0, 5, 60)
    clean = (9**0.3 - 0.15 * t) ** (1 / 0.3)  # dN/dt = -0.5*N**0.7
    found = nalm.ode.fit(t, measured(clean, 0.005, 0), ["N"], restarts=1)
    rate, exponent = found.intervals
    assert exponent.low < 0.7 < exponent.high and rate.low < -0.5 < rate.high
    assert str(found) == f"dN/dt = {rate.value}*N**{exponent.value}"
    assert all(len(f"{n.value:.12g}".split(".")[1]) <= 5 for n in found.intervals)


def test_rounding_one_number_moves_the_others_along():
    t = np.linspace(0, 6, 60)
    x = measured(np.tanh(t / 2) + 0.2, 0.01, 1)
    found = nalm.ode.fit(t, x, ["x"], restarts=1)
    simulated = found.simulate(t, found.start[0])[:, 0]
    assert np.sqrt(np.mean((x - simulated) ** 2)) < 1.2 * 0.01 * np.sqrt(np.mean(x**2))


def test_the_kind_of_noise_is_read_off_what_a_fit_leaves():
    clean = 100 * np.exp(-0.4 * T)
    relative = measured(clean, 0.02, 3)
    equal = clean + np.random.default_rng(0).standard_normal(21)
    for x, kinds in ((relative, {0.5, 1.0}), (equal, {0.0})):
        samples = checked(T, x, ["N"]).samples()
        states = clean[:, None] * samples.x[0, 0] / x[0]
        noise = splined(samples).noise
        assert noise.power == 0 and kind_left(samples, states, noise) in kinds
    assert splined(samples, 1.0).noise.words == "a share of the value"


def test_a_decimal_has_the_digits_that_its_error_leaves():
    assert decimal(0.4283605, 0.01) == 0.428 and decimal(1234.5, 100.0) == 1230.0
    assert decimal(0.5, np.inf) == 0.5
