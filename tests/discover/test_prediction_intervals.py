"""Intervals of predictions: a new measurement lies in them as often as they say, whatever the kind of noise."""

import numpy as np
import pytest

from nalm import NALMError, NALMRegressor

FORMS = {
    "additive": "a*x0/x1**2 + b",
    "given": "a*x0/x1**2 + b",
    "relative": "log(y) = a + log(x0) - p*log(x1)",
}


def measured(x, kind, rng):
    e = 0.05 * rng.standard_normal(len(x))
    law = 3.3 * x[:, 0] / x[:, 1] ** 2
    return law * np.exp(e) if kind == "relative" else law + 1.2 + e


@pytest.mark.parametrize("kind", ["additive", "relative", "given"])
def test_new_measurements_lie_in_the_interval_as_often_as_it_says(kind):
    hits = []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        seen, new = rng.uniform(1, 5, (20, 2)), rng.uniform(1, 5, (300, 2))
        errors = np.full(20, 0.05) if kind == "given" else None
        found = NALMRegressor(form=FORMS[kind]).fit(seen, measured(seen, kind, rng), y_err=errors)
        y, ends = found.predict(new, return_interval=True)
        assert ends.shape == (300, 2) and (ends[:, 0] < y).all() and (y < ends[:, 1]).all()
        later = measured(new, kind, rng)
        hits.append(np.mean((ends[:, 0] <= later) & (later <= ends[:, 1])))
    assert 0.92 < np.mean(hits) < 0.98


def test_intervals_grow_away_from_the_data_and_with_the_value_under_relative_noise(tmp_path):
    rng = np.random.default_rng(0)
    x = rng.uniform(1, 5, (25, 1))
    found = NALMRegressor(stages=["additive"]).fit(x, 2.34 * x[:, 0] + 7.7 + 0.3 * rng.standard_normal(25))
    (_, words, ends) = found.predict([[3.0], [30.0]], return_support=True, return_interval=True)
    assert words.tolist() == ["inside", "outside"] and np.ptp(ends[1]) > 2 * np.ptp(ends[0])
    found.save(tmp_path / "law.json")
    again = NALMRegressor.load(tmp_path / "law.json").predict([[3.0], [30.0]], return_interval=True)[1]
    assert np.allclose(again, ends)
    y = -6.7 * x[:, 0] ** 2 * np.exp(0.05 * rng.standard_normal(25))
    wide = NALMRegressor(stages=["power"]).fit(x, y).predict([[1.0], [4.0]], return_interval=True)[1]
    assert (np.diff(wide) > 0).all() and np.ptp(wide[1]) == pytest.approx(16 * np.ptp(wide[0]), rel=0.3)


def test_an_exact_law_leaves_no_interval_and_a_search_without_noise_has_none_to_give():
    x = np.random.default_rng(0).uniform(1, 5, (60, 2))
    exact = NALMRegressor(stages=["additive", "power"]).fit(x, np.stack([x[:, 0] / x[:, 1], x.sum(1)], 1))
    y, ends = exact.predict(x[:3], return_interval=True)
    assert ends.shape == (3, 2, 2) and (ends == y[..., None]).all()
    inexact = NALMRegressor(stages=["additive"], noise=0).fit(x, np.sin(9 * x[:, 0]))
    with pytest.raises(NALMError, match="noise=None"):
        inexact.predict(x, return_interval=True)
