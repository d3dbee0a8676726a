"""The residual of a law: a flexible model sees a smooth rest that families of terms miss, and takes noise for noise."""

import numpy as np

from nalm.discover import search
from nalm.discover.certificate import certify_noisy
from nalm.discover.certificate.smoothness import leftover
from nalm.discover.law.expression import Input, Power, Sum
from nalm.discover.problem import Problem

A, B = Input(0), Input(1)
LAW = Sum((A, B), (1.0, 1.0))


def posed(rest, rows=300, columns=4, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.uniform(-2, 2, (rows, columns))
    return Problem.from_table(x, x[:, 0] + x[:, 1] + rest(x, rng))


def test_a_smooth_rest_is_seen_however_small():
    for rest in (
        lambda x, rng: 1e-5 * np.cos(2 * x[:, 0]) * x[:, 1],
        lambda x, rng: 1e-3 / (3 + x[:, 2] * x[:, 3] + x[:, 2]),
        lambda x, rng: 1e-2 * np.abs(x[:, 2]) * x[:, 3],
    ):
        assert leftover(LAW, posed(rest)) < 1e-3


def test_noise_is_no_rest_also_where_its_size_differs_from_row_to_row():
    kinds = (
        lambda x, rng: rng.standard_normal(len(x)),
        lambda x, rng: np.abs(x[:, 0]) ** 3 * rng.standard_normal(len(x)),
        lambda x, rng: rng.standard_t(2, len(x)),
    )
    for noise in kinds:
        p = [leftover(LAW, posed(noise, seed=seed)) for seed in range(5)]
        assert min(p) > 1e-3 and np.median(p) > 0.1


def test_a_law_that_is_a_percent_off_is_not_called_consistent():
    rng = np.random.default_rng(0)
    x = rng.uniform(0.5, 3, (500, 4))
    y = x[:, 0] + x[:, 1] + 6.21 + 1 / (x[:, 2] * x[:, 3] + x[:, 2] + 2.08)
    found = search(x, y, stages=["additive", "product"])
    assert found.certificate.verdict == "none"


def test_a_law_without_a_column_is_not_called_consistent():
    rng = np.random.default_rng(0)
    x = rng.uniform(1, 2, (300, 2))
    y = 0.01 * rng.standard_normal(300)
    y[np.random.default_rng(0).choice(300, 200, replace=False)[:3]] = 50.0  # among the rows searched
    found = certify_noisy(Sum((), (), 0.0), Problem.from_table(x, y))
    assert (found.verdict, "the law is a number" in found.tested) == ("none", True)


def test_the_true_law_stays_consistent_with_noise():
    rng = np.random.default_rng(1)
    x = rng.uniform(1, 3, (400, 3))
    y = x[:, 0] / x[:, 1]
    problem = Problem.from_table(x, y + 0.05 * y.std() * rng.standard_normal(400))
    assert certify_noisy(Power((A, B), (1.0, -1.0)), problem).verdict == "consistent"
