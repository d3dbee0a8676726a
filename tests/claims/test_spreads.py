"""Numbers published as median and MAD, or mean and standard error, beside ours."""

import dataclasses
import math

import numpy as np
import pytest
from made import claim, outcomes

from nalm.claims import judge
from nalm.claims.rules.spreads import mean_spread, median_spread


def measured(values, name="multiply", tests=None):
    runs = outcomes("NMU", [False] * len(values))
    tests = tests or values
    found = [{name: v, "test": t} for v, t in zip(values, tests, strict=True)]
    return [dataclasses.replace(o, measures=m) for o, m in zip(runs, found, strict=True)]


def test_a_median_stands_beside_a_median_and_a_mean_beside_a_mean():
    values = [0.1, 0.2, 0.3, 0.4, 4.0]
    median = judge(claim("test_mean_abs_error", 0.35, 0.3, 0.4), measured(values))
    assert median.verdict == "agrees" and median.ours.estimate == 0.3 and "MAD" in median.ours.method
    code = claim("test_mean_abs_error", 0.35, 0.3, 0.4).replace(note="code writes mean +- std/sqrt(20)")
    mean = judge(code, measured(values))
    assert mean.ours.estimate == pytest.approx(1.0) and mean.verdict == "agrees"  # its error is wide
    assert judge(claim("test_mean_abs_error", 30.0, 29.0, 31.0), measured(values)).verdict == "differs"


def test_the_spread_is_what_numpy_says():
    x = np.random.default_rng(0).normal(size=20)
    median, mean = median_spread(x), mean_spread(x)
    assert median.high - median.estimate == pytest.approx(np.median(abs(x - np.median(x))))
    assert mean.high - mean.estimate == pytest.approx(x.std(ddof=1) / math.sqrt(20))


def test_only_the_ten_best_runs_stand_in_the_large_table():
    tests = [*range(10), *[1e9] * 10]
    runs = measured([float(t) for t in tests], "test", [float(t) for t in tests])
    assert judge(claim("test_mse", 4.5, 2.0, 7.0), runs).ours.n == 10
    assert judge(claim("test_mse", 4.5, 2.0, 7.0), runs).ours.estimate == 4.5


def test_runs_that_overflow_agree_with_numbers_that_do():
    runs = measured([1.0, math.inf, math.nan, math.inf], "test")
    assert median_spread([o.measures["test"] for o in runs]).estimate == math.inf
    assert judge(claim("test_mse", 2.9e83, 0.0, 5.8e83), runs).verdict == "agrees"
    assert judge(claim("test_mse", 3.0, 2.0, 4.0), runs).verdict == "differs"


def test_without_measures_there_is_nothing_to_compare():
    assert judge(claim("test_mse", 3.0), outcomes("NMU", [True])).verdict == "not comparable"
    assert math.isnan(median_spread([]).estimate) and math.isnan(mean_spread([]).estimate)
