"""The general search: its pool, its look-ups, and what it does with the time it is given."""

import numpy as np
import pytest

from nalm.discover import search
from nalm.discover.law.expression import Input, Power, Sum, evaluate
from nalm.discover.problem import Problem
from nalm.discover.stages.general.lookup import Index, explained, paired, probes
from nalm.discover.stages.general.pool import Pool
from nalm.discover.stages.general.states import Step, reached, returned
from nalm.discover.stages.separable import factors


def columns(rows=28, n=3, low=1.0, high=3.0, seed=0):
    return np.random.default_rng(seed).uniform(low, high, (rows, n))


def grown(x, levels=2):
    pool = Pool(x, list(range(x.shape[1])))
    for _ in range(levels):
        pool.grow(100_000, lambda: None)
    return pool


def test_every_expression_of_the_pool_has_the_values_it_is_listed_with():
    x = columns()
    pool = grown(x)
    assert pool.ends[0] == 4 and len(pool) == pool.ends[2] == len(pool.values)
    for place in range(0, len(pool), 7):
        np.testing.assert_allclose(evaluate(pool.node(place), x), pool.values[place], rtol=1e-12)


def test_no_two_expressions_of_the_pool_are_in_proportion():
    pool = grown(columns())
    unit = pool.values / np.sqrt((pool.values**2).sum(1))[:, None]
    likeness = np.abs(unit @ unit.T) - np.eye(len(unit))
    assert likeness.max() < 1 - 1e-12


def test_a_pool_stops_at_its_size():
    pool = Pool(columns(), [0, 1, 2])
    assert pool.grow(100_000, lambda: None)
    assert not pool.grow(100, lambda: None)


def test_probes_do_not_see_the_base():
    base = np.column_stack([np.ones(28), columns()])
    np.testing.assert_allclose(probes(base) @ base, 0.0, atol=1e-12)


def test_a_target_is_found_with_any_weights_and_any_sum_of_inputs_added():
    x = columns()
    pool = grown(x)
    index = Index.of(pool.values, np.column_stack([np.ones(len(x)), x]))
    wanted = next(i for i in range(len(pool)) if pool.node(i) == Power((Input(0), Input(2)), (1.0, 1.0)))
    targets = np.stack(
        [-1.7 * x[:, 0] * x[:, 2] + 3 * x[:, 1] - 0.4, np.exp(x[:, 0]) * x[:, 1], 2 * x[:, 1] + 5]
    )
    assert index.find(targets) == [(2, -1), (0, wanted)]


def test_quotients_of_sums_and_pairs_of_expressions_are_found():
    x = columns()
    pool = grown(x)
    below = (x[:, 0] + 2.5) / (x[:, 1] + 0.3 * x[:, 0] * x[:, 2] + 4)
    assert any(is_below for _, is_below in explained(below, x, pool.values))
    found = paired(2.2 * x[:, 0] * x[:, 1] - 0.7 * x[:, 2] ** 2 + x[:, 1], x, pool.values[: pool.ends[1]])
    assert found and all(i != j for i, j in found)


def test_steps_are_undone_with_the_sign_of_a_root():
    x = columns(60)
    nodes = {0: Power((Input(1), Input(2)), (1.0, 1.0))}
    steps = (Step("", -1, 1.0), Step("subtract", 0, 2.0))
    for sign in (1.0, -1.0):
        y = x[:, 1] * x[:, 2] + sign * np.sqrt(x[:, 0] + 1)
        np.testing.assert_allclose(reached(steps, y, x, nodes), x[:, 0] + 1)
        law = returned(steps, y, x, nodes, Sum((Input(0),), (1.0,), 1.0))
        assert law is not None
        np.testing.assert_allclose(evaluate(law, x), y)
    assert returned(steps, x[:, 1] * x[:, 2] + x[:, 0] - 2, x, nodes, Input(0)) is None


def test_columns_that_only_multiply_are_seen_with_their_exponents():
    x = columns(600, 5)
    y = x[:, 0] ** 2 / np.sqrt(x[:, 1]) * (x[:, 2] + x[:, 3] * x[:, 4])
    assert factors(Problem.from_table(x, y)) == {0: 2.0, 1: -0.5}
    assert factors(Problem.from_table(x, x[:, 0] + y)) == {}


@pytest.mark.system
def test_a_nested_law_is_found_in_the_time_that_is_given():
    x = columns(300, 4)
    y = np.sqrt(x[:, 0] + x[:, 1]) * (2.2 * x[:, 1] ** 2 + x[:, 3] * x[:, 1] + 1)
    found = search(x, y, noise=0.0, stages=["general"], max_time=60)
    assert (found.stage, found.certificate.verdict) == ("general", "exact")


@pytest.mark.parametrize("stop", [KeyboardInterrupt, None])
def test_the_search_reports_and_keeps_the_best_law_when_it_is_stopped(stop):
    x = columns(300, 3)
    lines = []

    def watch(line):
        lines.append(line)
        if stop is not None and line.startswith("general"):
            raise stop

    y = np.sin(3 * x[:, 0]) * np.exp(x[:, 1]) + np.tanh(x[:, 2])
    found = search(x, y, noise=0.0, stages=["additive", "general"], max_time=2, watch=watch)
    assert found.certificate.verdict == "none"
    assert np.isfinite(found.law.predict(x)).all()
    told = [line for line in lines if line.startswith("general")]
    assert told and "the nearest" in told[0]
    assert len(told) == 1 or stop is None


def test_noise_ends_the_search_early():
    x = columns(300, 3)
    lines = []
    y = x[:, 0] + np.random.default_rng(0).standard_normal(300)
    search(x, y, stages=["additive", "power", "general"], max_time=60, watch=lines.append)
    assert not any(line.startswith("general") for line in lines)
