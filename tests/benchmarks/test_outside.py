"""Targets outside the class: the same on every machine, and none of them is called exact."""

import numpy as np
import pytest

from benchmarks import outside
from benchmarks.outside_targets import KINDS, target


def test_targets_are_finite_tables_of_every_kind_and_follow_from_their_seed():
    drawn = [target(seed) for seed in range(60)]
    assert [kind for kind, _ in drawn] == 10 * list(KINDS)
    assert {p.x.shape[1] for _, p in drawn} == {1, 2, 3, 5}
    assert all(np.isfinite(p.y).all() and len(p.y) >= 60 for _, p in drawn)
    np.testing.assert_array_equal(target(17)[1].y, drawn[17][1].y)


def test_a_slow_function_that_is_found_is_right_and_its_series_is_not():
    problem = next(p for kind, p in map(target, range(200)) if kind == "slow" and len(p.far_y))
    assert outside.is_right(problem, lambda x: problem.far_y)
    assert not outside.is_right(problem, lambda x: problem.far_y * (1 + 1e-3))
    _, network = target(list(KINDS).index("network"))
    assert not outside.is_right(network, lambda x: np.zeros(len(x)))


def test_a_few_targets_are_not_called_exact():
    trials = [outside.one(outside.Job(seed, 0.1)) for seed in range(18)]
    assert not any(t.false for t in trials)
    assert outside.totals(trials)[-1]["targets"] == 18


@pytest.mark.slow
def test_none_of_a_thousand_targets_is_called_exact():
    trials = [outside.one(job) for job in outside.jobs(outside.Options())]
    assert [t for t in trials if t.false] == []
