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
    values = [0.1, 0.2, 0.3, 0.4, 4.0] * 4
    told = claim("test_mean_abs_error", 0.35, 0.3, 0.4, n=20)
    median = judge(told, measured(values))
    assert median.ours.estimate == pytest.approx(0.3) and "MAD" in median.ours.method
    assert "control median" in median.why and median.p > 0.05
    mean = judge(told.replace(note="code writes mean +- std/sqrt(20)"), measured(values))
    assert mean.ours.estimate == pytest.approx(1.0) and mean.verdict == "cannot tell"  # its error is wide
    close = [0.34 + 0.001 * i for i in range(20)]
    assert {judge(c, measured(close)).verdict for c in (told, told.replace(note="code writes mean"))} == {
        "agrees"
    }
    far = claim("test_mean_abs_error", 30.0, 29.0, 31.0, n=20)
    assert {judge(c, measured(close)).verdict for c in (far, far.replace(note="code writes mean"))} == {
        "differs"
    }


def test_one_run_beside_many_decides_nothing():
    code = claim("test_mean_abs_error", 0.3, 0.29, 0.31, n=20).replace(note="code writes mean")
    assert judge(code, measured([0.9])).verdict == "cannot tell"
    assert judge(claim("test_mse", 0.3, 0.29, 0.31, n=10), measured([0.9], "test")).verdict == "cannot tell"


def test_means_of_runs_that_are_not_finite_are_compared_by_their_share():
    code = claim("test_mean_abs_error", 0.3, 0.29, 0.31, n=20).replace(note="code writes mean")
    assert judge(code, measured([0.3] * 10 + [math.inf] * 10)).verdict == "differs"
    assert judge(code, measured([0.3] * 19 + [math.inf])).verdict == "agrees"


def test_the_lowest_error_differs_if_many_of_ours_are_lower():
    assert (
        judge(claim("least_mse", 1.0, n=100), measured([1.5 + i for i in range(100)], "test")).verdict
        == "agrees"
    )
    assert (
        judge(claim("least_mse", 1.0, n=100), measured([0.1] * 30 + [3.0] * 70, "test")).verdict == "differs"
    )
    assert judge(claim("least_mse", 1.0, n=100), measured([9.0] * 100, "test")).verdict == "cannot tell"


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
    many = measured([math.inf] * 20, "test")
    assert judge(claim("test_mse", 3.0, 2.0, 4.0, n=10), many).verdict == "differs"
    assert judge(claim("test_mse", 3.0, 2.0, 4.0, n=10), runs).verdict == "cannot tell"


def test_without_measures_there_is_nothing_to_compare():
    assert judge(claim("test_mse", 3.0), outcomes("NMU", [True])).verdict == "not run"
    assert math.isnan(median_spread([]).estimate) and math.isnan(mean_spread([]).estimate)
