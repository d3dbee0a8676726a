"""Standard errors of columns, and intervals by bootstrap."""

import numpy as np
import pytest

from nalm import NALMError, NALMRegressor
from nalm.discover import search

# Pearson's points with the weights of York (1966); his line is 5.47991 - 0.480533 x with errors 0.29 and 0.058
X = np.array([0.0, 0.9, 1.8, 2.6, 3.3, 4.4, 5.2, 6.1, 6.5, 7.4])[:, None]
Y = np.array([5.9, 5.4, 4.4, 4.6, 3.5, 3.7, 2.8, 2.8, 2.4, 1.5])
X_ERR = np.array([1000, 1000, 500, 800, 200, 80, 60, 20, 1.8, 1.0])[:, None] ** -0.5
Y_ERR = np.array([1, 1.8, 4, 8, 20, 20, 70, 70, 100, 500]) ** -0.5


def test_errors_of_both_axes_give_the_published_line():
    found = NALMRegressor(form="a + b*x").fit(X, Y, ["x"], y_err=Y_ERR, x_err=X_ERR)
    a, b = found.equations_[0].constants
    assert (a.value, b.value) == pytest.approx((5.47991, -0.480533), abs=2e-5)
    assert (a.error, b.error) == pytest.approx((0.29, 0.058), rel=0.05)
    plain = NALMRegressor(form="a + b*x").fit(X, Y, ["x"], y_err=Y_ERR).equations_[0].constants
    assert abs(plain[0].value - 5.48) > 0.3


def test_a_search_is_not_misled_by_noise_on_a_column():
    rng = np.random.default_rng(0)
    truth = rng.uniform(1, 5, (80, 1))
    x, y = truth + 0.5 * rng.standard_normal((80, 1)), 2.4 * truth[:, 0] + 0.05 * rng.standard_normal(80)
    found = search(x, y, stages=["additive"], y_err=0.05, x_err=[0.5])
    slope = found.candidates[0].constants[0]
    assert slope.low < 2.4 < slope.high and found.certificate.verdict == "consistent"
    blind = search(x, y, stages=["additive"], y_err=0.05)
    assert blind.certificate.verdict == "none"


def test_intervals_by_bootstrap_are_near_those_of_the_curvature():
    rng = np.random.default_rng(1)
    x = rng.uniform(1, 9, (60, 1))
    y = 3.7 * np.sqrt(x[:, 0]) * np.exp(0.1 * rng.standard_normal(60))
    (plain,) = search(x, y, stages=["power"]).candidates[0].constants
    (drawn,) = search(x, y, stages=["power"], bootstrap=100).candidates[0].constants
    assert drawn.error == pytest.approx(plain.error, rel=0.4) and drawn.low < plain.value < drawn.high
    assert drawn.error != plain.error
    found = NALMRegressor(form="log(y) = a + p*log(x)", bootstrap=100).fit(x, y, ["x"])
    assert all(
        c.low < truth < c.high
        for c, truth in zip(found.equations_[0].constants, (np.log(3.7), 0.5), strict=True)
    )


def test_mistakes_about_errors_are_sentences():
    for options in (
        {"x_err": X_ERR},
        {"y_err": Y_ERR, "x_err": X_ERR[:3]},
        {"y_err": Y_ERR, "x_err": -X_ERR},
        {"bootstrap": 3},
    ):
        with pytest.raises(NALMError):
            search(X, Y, **options)
    for form in (None, "a*x"):
        with pytest.raises(NALMError, match="bootstrap"):
            NALMRegressor(bootstrap=3, form=form).fit(X, Y, ["x"], groups=[1, 2] * 5)
