"""The question: how rows are split, which columns count, and what the data's precision is."""

import numpy as np
import pytest

from nalm.discover.problem import SEARCH_ROWS, Problem, TimeUpError


def test_two_thirds_are_searched_and_the_rest_is_held_out():
    x = np.arange(90.0).reshape(30, 3)
    problem = Problem.from_table(x, x[:, 0])
    assert (len(problem.y), len(problem.held_y)) == (20, 10)
    both = np.concatenate([problem.y, problem.held_y])
    assert sorted(both) == sorted(x[:, 0])


def test_many_rows_are_searched_in_part_and_all_others_held_out():
    x = np.random.default_rng(0).uniform(size=(50_000, 2))
    problem = Problem.from_table(x, x[:, 0])
    assert len(problem.y) == SEARCH_ROWS
    assert len(problem.held_y) == 50_000 - SEARCH_ROWS
    assert 400 <= len(problem.sample[1]) < 800


def test_the_split_is_a_function_of_the_seed():
    x = np.random.default_rng(0).uniform(size=(60, 2))
    first, again, other = (
        Problem.from_table(x, x[:, 0]),
        Problem.from_table(x, x[:, 0]),
        Problem.from_table(x, x[:, 0], seed=1),
    )
    np.testing.assert_array_equal(first.x, again.x)
    assert (first.x != other.x).any()


def test_constant_and_repeated_columns_are_not_looked_at():
    x = np.random.default_rng(0).uniform(size=(60, 5))
    x[:, 1], x[:, 3] = 7.0, x[:, 0]
    assert Problem.from_table(x, x[:, 0]).columns == [0, 2, 4]


def test_check_raises_after_the_deadline():
    x = np.random.default_rng(0).uniform(size=(60, 2))
    problem = Problem.from_table(x, x[:, 0], max_time=10.0)
    problem.check()
    problem.deadline = 0.0
    with pytest.raises(TimeUpError):
        problem.check()


def test_the_data_is_not_changed():
    x = np.random.default_rng(0).uniform(size=(60, 2))
    before = x.copy()
    problem = Problem.from_table(x, x[:, 0])
    problem.x[:] = 0.0
    np.testing.assert_array_equal(x, before)
