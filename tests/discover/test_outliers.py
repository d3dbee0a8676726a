"""Rows that are far off: they neither hide the law nor pass in silence."""

import numpy as np
import pytest

from nalm.discover import search
from nalm.discover.certificate.verdict import Verdict
from nalm.discover.law.expression import evaluate
from nalm.discover.law.json import certificate_of, plain_certificate
from nalm.discover.problem import Problem
from nalm.discover.selection.outliers import suspicious_rows

FAR = [7, 30, 52]  # rows from 0
LAWS = {
    "a quotient": lambda a, b, c: a * b / (1 + c),
    "a difference": lambda a, b, c: a * (6 + c - b),
}


def table(law, noise):
    rng = np.random.default_rng(3)
    x = rng.uniform(1, 5, (80, 3))
    y = law(*x.T) * (1 + noise * rng.standard_normal(80))
    return x, y


def spoilt(y):
    y = y.copy()
    y[FAR] *= [10.0, 0.1, 10.0]
    return y


@pytest.mark.parametrize("noise", [0.0, pytest.param(0.01, marks=pytest.mark.system)])
@pytest.mark.parametrize("name", LAWS)
def test_the_law_of_the_other_rows_is_found_and_the_rows_are_named(name, noise):
    x, y = table(LAWS[name], noise)
    found = search(x, spoilt(y), max_time=60)
    assert found.certificate.verdict == Verdict.CONSISTENT
    assert found.certificate.outliers == tuple(1 + row for row in FAR)
    assert "Far off and left out: rows 8, 31, 53." in found.certificate.tested
    assert evaluate(found.law.expression, x) == pytest.approx(LAWS[name](*x.T), rel=0.05)


@pytest.mark.system
def test_two_of_thirty_rows_that_are_far_off_are_named_and_no_pole_explains_them():
    rng = np.random.default_rng(5)
    x = rng.uniform(1, 5, (30, 3))
    y = x.prod(1) * (1 + 0.01 * rng.standard_normal(30))
    y[[4, 19]] *= [10.0, 0.1]
    found = search(x, y, max_time=60)
    assert found.certificate and found.certificate.outliers == (5, 20)
    assert evaluate(found.law.expression, x) == pytest.approx(x.prod(1), rel=0.05)


@pytest.mark.slow
def test_the_rows_are_saved_with_the_certificate():
    x, y = table(LAWS["a quotient"], 0.01)
    certificate = search(x, spoilt(y), max_time=60).certificate
    assert certificate_of(plain_certificate(certificate)) == certificate


def test_a_polynomial_finds_rows_that_are_far_off():
    x, y = table(LAWS["a difference"], 0.01)
    problem = Problem.from_table(x, spoilt(y))
    assert set(FAR) <= set(problem.order[suspicious_rows(problem)].tolist())


def test_noise_alone_is_not_suspicious():
    x, y = table(lambda a, b, c: 3 * a + b * c, 0.05)
    assert not suspicious_rows(Problem.from_table(x, y)).any()


@pytest.mark.parametrize("size", [1e-300, 1e300])
def test_numbers_of_any_size_are_no_reason_to_fail(size):
    x, y = table(LAWS["a quotient"], 0.01)
    with np.errstate(all="ignore"):
        assert suspicious_rows(Problem.from_table(x * size, y * size)).shape == y.shape


@pytest.mark.parametrize("seconds", [0.5, 1.0, 2.0])
def test_a_search_whose_time_is_over_answers(seconds):
    x, y = table(LAWS["a difference"], 0.01)
    assert np.isfinite(evaluate(search(x, spoilt(y), max_time=seconds).law.expression, x)).all()
