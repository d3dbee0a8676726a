"""Certificates: what is proven, and above all what is not."""

import numpy as np
import pytest
from scipy import special

from nalm.discover import STAGES, search
from nalm.discover.certificate import certify, certify_noisy
from nalm.discover.law.expression import Input, Power, Sum
from nalm.discover.problem import Problem

A, B = Input(0), Input(1)
PLUS = Sum((A, B), (1.0, 1.0))


def table(low=-2.0, high=2.0, rows=600, columns=3, seed=0):
    return np.random.default_rng(seed).uniform(low, high, (rows, columns))


def test_the_law_itself_is_exact():
    x = table()
    certificate = certify(PLUS, Problem.from_table(x, x[:, 0] + x[:, 1]), ["a", "b", "c"])
    assert certificate.verdict == "exact"
    assert bool(certificate)
    assert certificate.rows == 200
    assert certificate.precision == "float64"
    assert certificate.error <= 1
    assert certificate.bound < 1e-13
    assert set(certificate.domain) == {"a", "b"}
    assert certificate.domain["a"] == (x[:, 0].min(), x[:, 0].max())
    assert "200 held-out rows" in str(certificate)


def test_a_constant_of_a_millionth_of_a_millionth_is_seen():
    x = table(1, 2)
    assert not certify(PLUS, Problem.from_table(x, x[:, 0] + x[:, 1] + 1e-12))


def test_one_wrong_row_among_many_is_seen():
    x = table(rows=5000)
    y = x[:, 0] + x[:, 1]
    for row in (0, 2500, 4999):
        wrong = y.copy()
        wrong[row] += 1e-10
        assert not certify(PLUS, Problem.from_table(x, wrong))


def test_noise_of_a_billionth_is_no_law():
    x = table()
    noise = np.random.default_rng(1).standard_normal(600)
    assert search(x, x[:, 0] / x[:, 1] * (1 + 1e-9 * noise), noise=0.0).certificate.verdict == "none"


def test_the_precision_of_the_data_is_noticed():
    x = table()
    y = x[:, 0] + x[:, 1]
    assert Problem.from_table(x, y).precision == "float64"
    assert Problem.from_table(x, y.astype(np.float32)).precision == "float32"
    assert Problem.from_table(x, y.astype(np.float32).astype(np.float64)).precision == "float32"


@pytest.mark.system
def test_a_parabola_is_not_taken_for_an_exponential():
    x = table(1.1, 1.2, columns=1).astype(np.float32)
    y = np.exp(x[:, 0])
    found = search(x, y, noise=0.0)
    assert found.certificate.verdict == "none"


def test_a_range_too_narrow_to_tell_proves_nothing():
    x = 1 + 1e-8 * table(0, 1, columns=2)
    y = x[:, 0] * x[:, 1]
    plane = Sum((A, B), (1.0, 1.0), -1.0)  # differs from the product by less than rounding there
    certificate = certify(plane, Problem.from_table(x, y))
    assert certificate.verdict == "none"
    assert "too narrow" in certificate.tested


def test_digits_that_no_row_feels_prove_nothing():
    x = table(1, 2)
    law = Sum((A, B), (1.0, 1.2345678912e-15))
    assert not certify(law, Problem.from_table(x, x[:, 0]))


def test_a_law_without_a_value_on_some_row_is_not_proven():
    x = table()
    x[7, 1] = 0.0
    law = Power((A, B), (1.0, -1.0))
    y = np.where(x[:, 1] != 0, x[:, 0] / np.where(x[:, 1] == 0, 1, x[:, 1]), 0.0)
    with np.errstate(all="ignore"):
        assert not certify(law, Problem.from_table(x, y))


def noisy(level, declared, seed=0, extra=0.0):
    x = table(1, 3, seed=seed, rows=900)
    y = x[:, 0] * x[:, 1] + extra * np.sin(3 * x[:, 0])
    y = y + level * y.std() * np.random.default_rng(seed + 1).standard_normal(900)
    return Problem.from_table(x, y, noise=declared)


PRODUCT = Power((A, B), (1.0, 1.0))


@pytest.mark.parametrize("declared", [pytest.param(0.05, marks=pytest.mark.slow), None])
@pytest.mark.system
def test_the_right_law_is_consistent_with_its_noise(declared):
    verdicts = [certify_noisy(PRODUCT, noisy(0.05, declared, seed)).verdict for seed in range(40)]
    assert verdicts.count("consistent") >= 38


def test_noise_above_the_declared_level_is_noticed():
    assert not any(certify_noisy(PRODUCT, noisy(0.1, 0.05, seed)) for seed in range(40))


def test_a_wrong_coefficient_is_noticed_under_noise():
    wrong = Power((A, B), (1.0, 1.0), 1.05)
    certificate = certify_noisy(wrong, noisy(0.05, None))
    assert certificate.verdict == "none"
    assert "free numbers" in certificate.tested


def test_a_missing_term_is_noticed_under_noise():
    certificate = certify_noisy(PRODUCT, noisy(0.05, None, extra=0.5))
    assert certificate.verdict == "none"


@pytest.mark.slow
def test_many_fitted_numbers_prove_less_than_few():
    x = table(1, 2, columns=8)
    weights = np.random.default_rng(0).standard_normal(8)
    assert search(x, x @ weights).certificate.verdict == "exact"
    single = x.astype(np.float32)
    rounded = (single.astype(np.float64) @ weights).astype(np.float32)
    # any smooth curve has eight such numbers
    assert search(single, rounded, noise=0.0).certificate.verdict == "none"


@pytest.mark.system
def test_an_angle_is_not_taken_for_a_quotient_of_polynomials():
    rng = np.random.default_rng(439)
    x = np.stack([rng.uniform(10, 20, 600), rng.uniform(0.1, 0.2, 600)], 1)
    assert search(x, np.arctan2(x[:, 0], x[:, 1]), noise=0.0).certificate.verdict == "none"


def test_a_difference_of_huge_terms_is_not_taken_for_a_logarithm():
    """(a^p - 1) / p with p near 0 fits b log(a) to rounding."""
    x = np.random.default_rng(0).uniform(0.5, 3, (300, 2))
    algebraic = list(STAGES)[: list(STAGES).index("factors")]
    found = search(x, x[:, 1] * np.log(x[:, 0]), noise=0.0, stages=[*algebraic, "monomials"])
    assert found.certificate.verdict == "none"


@pytest.mark.parametrize(
    ("stage", "law"),
    [
        ("deep", lambda a, b: special.j0(a) * b),
        ("powersum", lambda a, b: special.sici(a)[0] + b),
        ("monomials", lambda a, b: special.erf(a) + b),
    ],
)
def test_a_plain_law_bent_by_a_small_missing_term_is_not_certified(stage, law):
    x = np.random.default_rng(7).uniform(1e-3, 2e-3, (300, 2))
    found = search(x, law(*x.T), noise=0.0, stages=[stage])
    assert found.certificate.verdict == "none"
