"""Limits by hand, and what counts as below them."""

import numpy as np
import pytest

from nalm.errors import NALMError
from nalm.images.limits import first_below, learnt, limits

QUANTILE = 2.896459  # one-sided 1% quantile of Student's t with 8 degrees of freedom, from a table


def test_limits_by_hand():
    errors = np.array([[1.0, 10.0], [2.0, 10.0], [3.0, 10.0]])
    assert limits(errors) == pytest.approx([2 + QUANTILE * 1 / 3**0.5, 10.0], abs=1e-6)


def test_the_degrees_of_freedom_stay_eight():
    few, many = np.array([[1.0], [3.0]]), np.array([[1.0], [3.0]] * 5)
    assert limits(few)[0] == pytest.approx(2 + QUANTILE * 2**0.5 / 2**0.5, abs=1e-6)
    assert limits(many)[0] == pytest.approx(2 + QUANTILE * (10 / 9) ** 0.5 / 10**0.5, abs=1e-6)


def test_one_reference_is_its_own_limit():
    assert limits(np.array([[4.0, 5.0]])).tolist() == [4.0, 5.0]


def test_no_reference_has_no_limit():
    with pytest.raises(NALMError, match="at least one reference"):
        limits(np.empty((0, 3)))


def test_references_that_did_not_learn_are_left_out():
    assert learnt([1.0, 99.0, 101.0, float("nan")], variance=200.0).tolist() == [True, True, False, False]


def test_solved_at_is_the_first_step_below():
    steps, errors = np.array([0, 5, 10, 15]), np.array([[9, 9, 1], [2, 9, 9], [9, 9, 9], [1, 9, 9.0]])
    assert first_below(steps, errors, np.array([3.0, 3.0, 3.0])) == [5, None, 0]
