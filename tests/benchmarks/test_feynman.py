"""The laws of the Feynman database as data, and how a law that was found under noise is judged."""

import numpy as np
import pytest

from benchmarks import feynman
from nalm.discover.dimensions.units import dimension
from nalm.discover.law.expression import Input, Power, Sum
from nalm.errors import NALMError

A, B = Input(0), Input(1)


def test_a_hundred_and_twenty_laws_have_ranges_and_units():
    laws = feynman.laws()
    assert len(laws) == 120
    for law in laws.values():
        assert len(law.inputs) == len(law.low) == len(law.high) == len(law.units)
        assert all(map(dimension, law.units)) and dimension(law.unit)


@pytest.mark.parametrize("name", ["I.6.2a", "I.8.14", "I.26.2", "II.35.18", "test_11"])
def test_rows_are_finite_and_in_the_published_range(name):
    law = feynman.laws()[name]
    x, y = law.rows(200, np.random.default_rng(0))
    assert np.isfinite(y).all() and len(y) > 100 and np.ptp(y) > 0
    assert (x >= law.low).all() and (x <= law.high).all()


@pytest.mark.parametrize("method", ["nalm", "units"])
def test_a_plain_law_is_found_and_counted(method):
    trial = feynman.one(feynman.Job(method, "I.12.1", 0.0, 10.0))
    assert (trial.right, trial.verdict) == (True, "exact")
    (row,) = feynman.totals([trial])
    assert (row["right"], row["exact"], row["false_exact"]) == (1, 1, 0)


def test_a_form_is_judged_by_numbers_fitted_again_and_may_have_no_idle_ones():
    x = np.random.default_rng(0).uniform(1, 3, (300, 2))
    y = 2.5 * x[:, 0] ** 2 * x[:, 1]
    rows = x, y, x[::-1] + 1, 2.5 * (x[::-1, 0] + 1) ** 2 * (x[::-1, 1] + 1)
    nearly = Power((A, B), (2.01, 0.98), 2.4)
    assert feynman.form_error(nearly, *rows) < 1e-9
    assert feynman.form_error(Sum((A, B), (3.0, 4.0)), *rows) > 0.01
    assert feynman.form_error(Sum((nearly, B), (1.0, 0.01)), *rows) == np.inf


def test_an_unknown_law_or_method_is_named():
    with pytest.raises(NALMError, match="nowhere"):
        feynman.jobs(feynman.Options(names="nowhere"))
