"""Standard errors of measured states, and times that are dates."""

import datetime

import numpy as np
import pytest

from nalm import ode
from nalm.errors import NALMError
from nalm.ode.data import checked
from nalm.ode.noise import estimated


def decay(rng, samples=40):
    """A decay of which every third sample is measured 30 times worse."""
    t = np.linspace(0, 4, samples)
    error = np.where(np.arange(samples) % 3 == 1, 0.3, 0.01)
    return t, 3 * np.exp(-0.7 * t) + error * rng.standard_normal(samples), error


def test_samples_with_large_errors_count_less():
    t, x, error = decay(np.random.default_rng(0))
    found = ode.fit(t, x, ["x"], x_err=error, restarts=1, max_time=10.0)
    (rate,) = found.intervals
    assert abs(abs(rate.value) - 0.7) < 0.02
    assert "the noise is given" in found.tested
    assert found.verdict == "consistent"


def test_given_errors_are_the_noise_of_the_search():
    t, x, error = decay(np.random.default_rng(1))
    samples = checked(t, x, ["x"], error).samples()
    noise = estimated(samples, samples.x)
    np.testing.assert_allclose(
        (noise.size * samples.spread * noise.relative(samples.x))[:, 0], error / x.max()
    )
    assert noise.uneven and estimated(checked(t, x, ["x"]).samples(), samples.x).given is None


def test_errors_are_given_as_a_number_for_each_variable_or_for_each_value():
    t, x = np.arange(8.0), np.stack([np.arange(8.0), np.arange(8.0) ** 2], 1)
    for given in (0.1, [0.1, 0.1], np.full((8, 2), 0.1)):
        np.testing.assert_allclose(checked(t, x, None, given).errors[0], np.full((8, 2), 0.1))
    runs = checked([t, t], [x, x], None, [np.full((8, 2), 0.1), np.full((8, 2), 0.2)])
    assert [e[0, 0] for e in runs.errors] == [0.1, 0.2]
    for wrong, words in ((np.ones(8), "shape of x"), (0.0, "above 0"), ([np.ones((8, 2))] * 3, "shape of x")):
        with pytest.raises(NALMError, match=words):
            checked(t, x, None, wrong)
    with pytest.raises(NALMError, match="3 of 2 trajectories"):
        checked([t, t], [x, x], None, [np.ones(2)] * 3)


def test_dates_are_days():
    days = [datetime.date(2024, 2, 27) + datetime.timedelta(days=k) for k in range(8)]
    for t in (days, np.array(days, dtype="datetime64[D]")):
        np.testing.assert_allclose(np.diff(checked(t, np.arange(8.0), None).t[0]), 1.0)
