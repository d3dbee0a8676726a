"""Laws in noise: the description length, simplification, and the tests a law must pass."""

import numpy as np
import pytest

from nalm.discover import search
from nalm.discover.certificate.lack_of_fit import f_test, structure
from nalm.discover.certificate.verdict import Verdict
from nalm.discover.fit.description_length import description_length, pruned, shortened, simplified
from nalm.discover.law.expression import Input, Power, Sum, evaluate, numbers
from nalm.discover.problem import Problem
from nalm.discover.stages.rational import rational
from nalm.discover.stages.separable import factors
from nalm.discover.stages.weights import weights

A, B, C = Input(0), Input(1), Input(2)


def posed(law, level=0.01, seed=0, rows=600):
    rng = np.random.default_rng(seed)
    x = rng.uniform(1, 3, (rows, 4))
    y = law(*x.T)
    return Problem.from_table(x, y + level * y.std() * rng.standard_normal(rows), noise=level)


def test_the_true_law_has_the_shortest_description():
    problem = posed(lambda a, b, c, d: a * b)
    true = Power((A, B), (1.0, 1.0))
    more = Sum((true, C), (1.0, 0.001))
    other = Power((A, B), (1.01, 0.99), 1.002)
    lengths = [description_length(n, problem) for n in (true, more, other, Power((A, C), (1.0, 1.0)))]
    assert lengths[0] == min(lengths)


def test_terms_that_are_noise_are_dropped():
    problem = posed(lambda a, b, c, d: 2 * a - b)
    draft = Sum((A, B, C, Input(3)), (1.9, -1.1, 0.02, -0.03), 0.05)
    node = simplified(pruned(draft, problem), problem)
    assert node == Sum((A, B), (2.0, -1.0))


def test_terms_that_are_alike_are_not_dropped_together():
    problem = posed(lambda a, b, c, d: (a * c + b * d) / (a + b))
    draft = list(rational(problem))[-3]  # 15 terms over 5: each of them is faint beside the others
    before, after = (np.std(problem.y - evaluate(n, problem.x)) for n in (draft, pruned(draft, problem)))
    assert len(numbers(draft)) > 15 > len(numbers(pruned(draft, problem)))
    assert after < 1.05 * before


def test_columns_that_only_multiply_are_seen_where_most_rows_are_noise():
    rng = np.random.default_rng(0)
    x = rng.uniform(1, 3, (600, 5))
    a, b, c, d, e = x.T
    y = a**2 / b**4 / e**3 * c * (c + d)
    problem = Problem.from_table(x, y + 0.01 * np.sqrt(np.mean(y**2)) * rng.standard_normal(600))
    alike, even = (factors(problem, w) for w in weights(problem, 0.0))
    assert even == {0: 2.0, 1: -4.0, 4: -3.0}
    assert alike != even


def test_exponents_are_found_where_small_values_are_noise_of_either_sign():
    rng = np.random.default_rng(0)
    x = rng.uniform(1, 3, (600, 4))
    y = x[:, 0] ** 3 * x[:, 1] ** 2 / x[:, 2] ** 4
    noisy = y + 0.02 * np.sqrt(np.mean(y**2)) * rng.standard_normal(600)
    assert (noisy < 0).any()
    found = search(x, noisy, stages=["power"])
    assert (str(found.law), found.certificate.verdict) == ("a**3*b**2/c**4", "consistent")


def test_digits_are_kept_to_a_tenth_of_their_error():
    problem = posed(lambda a, b, c, d: 3.7182818 * a)
    node = shortened(Sum((A,), (3.71828182845,)), problem)
    (weight,) = numbers(node)
    assert 3.71 < weight < 3.73
    assert len(repr(weight)) <= 7


def test_chance_has_no_structure_and_a_wave_has():
    rng = np.random.default_rng(0)
    ps = []
    for seed in range(40):
        problem = posed(lambda a, b, c, d: a + b, seed=seed)
        ps.append(structure(Sum((A, B), (1.0, 1.0)), rng.standard_normal(len(problem.held_y)), problem))
        wave = np.sin(4 * problem.held_x[:, 0]) * problem.held_x[:, 1]
        assert structure(Sum((A, B), (1.0, 1.0)), wave, problem) < 1e-6
    assert sum(p < 0.05 for p in ps) <= 6


def test_a_better_fit_than_chance_is_significant():
    rng = np.random.default_rng(0)
    r = rng.standard_normal(100)
    assert f_test(r, 0.5 * r, 3) < 1e-6
    assert f_test(r, 0.999 * r, 3) > 0.5
    assert f_test(r[:3], 0.1 * r[:3], 5) == 1.0


def system(law, expected):
    return pytest.param(law, expected, marks=pytest.mark.system)


@pytest.mark.parametrize(
    ("law", "expected"),
    [
        system(lambda a, b, c, d: a * b / (a + b), {"a*b/(a + b)", "1/(1/b + 1/a)"}),
        system(lambda a, b, c, d: a / (1 + b), {"a/(b + 1)"}),
        system(lambda a, b, c, d: np.sqrt(a * a + b * b), {"sqrt(a**2 + b**2)"}),
        system(lambda a, b, c, d: a * a + b * b + c * c, {"a**2 + b**2 + c**2"}),
    ],
)
def test_the_structure_of_a_law_is_found_in_one_per_cent_noise(law, expected):
    rng = np.random.default_rng(2)
    x = rng.uniform(1, 3, (600, 4))
    y = law(*x.T)
    found = search(x, y + 0.01 * y.std() * rng.standard_normal(600), noise=0.01)
    assert str(found.law) in expected
    assert found.certificate.verdict == "consistent"


def test_fifteen_rows_are_enough_for_one_column_and_too_few_for_chance():
    rng = np.random.default_rng(0)
    x = rng.uniform(1, 3, (15, 3))
    found = search(x, x[:, 0] + 0.01 * rng.standard_normal(15), stages=["additive", "power"])
    assert str(found.law) == "a" and found.certificate.verdict == "consistent"
    for _ in range(5):
        found = search(x, rng.standard_normal(15), stages=["additive", "power"])
        assert found.certificate.verdict == "none"


@pytest.mark.parametrize(("level", "verdict"), [(0.01, Verdict.CONSISTENT), (0.03, Verdict.NONE)])
def test_a_law_of_large_values_keeps_to_the_declared_noise(level, verdict):
    """Of values that hardly vary additive and relative noise look alike; the declared size counts for both."""
    rng = np.random.default_rng(4)
    x = rng.uniform(20, 21, (300, 2))
    y = x[:, 0] * x[:, 1]
    y = y + level * np.std(y) * rng.standard_normal(300)
    assert search(x, y, noise=0.01, max_time=30).certificate.verdict == verdict
