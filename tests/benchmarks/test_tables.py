"""The benchmark of small noisy tables: its jobs, its truths and its totals."""

import numpy as np
import pytest

from benchmarks import tables
from benchmarks.tables import GROUPS, LAWS, REAL, Job, Options, Trial
from nalm.discover.law.expression import Input, Power
from nalm.discover.selection.structure import structure


def test_every_table_is_read_and_its_noise_redrawn():
    for name, (_, columns, _, _) in REAL.items():
        job = Job("redraw", name, 0, 1.0)
        x, y = tables.redrawn(job, np.random.default_rng(0))
        assert x.shape == (len(y), len(columns)) and np.isfinite(y).all()
        assert (y != tables.redrawn(job, np.random.default_rng(1))[1]).all()


def test_truths_are_structures():
    gravity = Power((Input(0), Input(1), Input(2)), (1.0, 1.0, -2.0))
    assert tables.truth(LAWS["gravity"], ["a", "b", "c"]) == structure(gravity)


def test_draws_are_counted_per_table():
    jobs = tables.jobs(Options(draws=2))
    assert len(jobs) == 2 * (2 * len(REAL) - 1 + 2 * len(LAWS) + len(GROUPS))
    trials = [Trial("rows", "kepler", k, "consistent", k == 0, True, 0.0, 1.0, "a") for k in range(2)]
    (row,) = tables.totals(trials)
    assert (row["draws"], row["right"], row["listed"], row["none"]) == (2, 1, 2, 0)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "name"), [("redraw", "kepler"), ("outliers", "gravity"), ("groups", "decay")]
)
def test_a_draw_ends_with_its_law(kind, name):
    assert tables.one(Job(kind, name, 0, 20.0)).listed
