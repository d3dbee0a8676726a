"""Every rival fits a tiny problem, and one that cannot run says why."""

import importlib.util

import numpy as np
import pytest

from benchmarks.laws import rivals
from benchmarks.laws.rivals import RIVALS
from nalm.errors import NALMError

X = np.random.default_rng(0).uniform(1, 2, (60, 2))
FAR = np.random.default_rng(1).uniform(3, 4, (20, 2))


@pytest.mark.parametrize("name", ["nalm", "polynomial", "log-linear"])
def test_a_product_is_found_by_rivals_that_can_express_it(name):
    fitted = RIVALS[name].fit(X, 3 * X[:, 0] * X[:, 1], ("a", "b"), 5.0, 0)
    np.testing.assert_allclose(fitted.predict(FAR), 3 * FAR[:, 0] * FAR[:, 1], rtol=1e-9)
    assert fitted.formula and fitted.verdict == ("exact" if name == "nalm" else None)


def test_gplearn_finds_a_product_and_watches_the_clock():
    pytest.importorskip("gplearn")
    fitted = rivals.gplearn(X, X[:, 0] * X[:, 1], ("a", "b"), 5.0, 0, population=100, generations=3)
    assert "mul(a, b)" in fitted.formula
    np.testing.assert_allclose(fitted.predict(FAR), FAR[:, 0] * FAR[:, 1], rtol=1e-12)
    late = rivals.gplearn(X, np.sin(7 * X[:, 0]), ("a", "b"), 1e-6, 0, population=30, generations=1000)
    assert late.formula


@pytest.mark.parametrize("name", ["boosting", "mlp"])
def test_black_boxes_predict_numbers(name):
    pytest.importorskip("sklearn")
    fitted = RIVALS[name].fit(X, X[:, 0] + X[:, 1], ("a", "b"), 5.0, 0)
    assert fitted.predict(FAR).shape == (20,) and np.isfinite(fitted.predict(FAR)).all()
    assert fitted.verdict is None


def test_a_polynomial_stays_below_the_number_of_rows():
    x = np.random.default_rng(0).uniform(size=(60, 20))
    assert "degree 1 with 21" in RIVALS["polynomial"].fit(x, x[:, 0], [""] * 20, 1.0, 0).formula


def test_logarithms_leave_zeros_out_and_take_the_common_sign():
    x, y = X.copy(), -(X[:, 0] ** 2) / X[:, 1]
    x[0, 0], y[0] = 0.0, 0.0
    fitted = RIVALS["log-linear"].fit(x, y, ("a", "b"), 1.0, 0)
    np.testing.assert_allclose(fitted.predict(FAR), -(FAR[:, 0] ** 2) / FAR[:, 1], rtol=1e-9)
    assert RIVALS["log-linear"].fit(X, 0 * y, ("a", "b"), 1.0, 0).predict(FAR).tolist() == [0.0] * 20


def test_a_missing_package_is_reported_with_the_remedy(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert "pip install 'nalm[baselines]'" in RIVALS["gplearn"].missing()
    assert "pip install 'nalm[sklearn]'" in RIVALS["mlp"].missing()
    assert RIVALS["nalm"].missing() == ""
    with pytest.raises(NALMError, match="needs no_such_package: pip install"):
        rivals.needed("no_such_package", rivals.BASELINES)
