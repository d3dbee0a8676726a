"""Simulation of every rule: equal truths are called different in at most 5% of cases, large differences are found.

Both sides are drawn from one truth, theirs is published as the papers print it, and judged beside ours. Of N draws
with a chance of 5% each, more than the limit differ in one of a thousand simulations; the seed is fixed.
"""

import dataclasses

import numpy as np
import pytest
from made import claim, outcomes
from scipy.special import bdtrc

from nalm import stats
from nalm.claims import judge
from nalm.claims.rules import RULES
from nalm.config import Range

RARE = 1e-3
(RUN,) = outcomes("NMU", [True])


@pytest.fixture(autouse=True)
def without_needed_runs(monkeypatch):
    """Leave out how many runs would tell, which takes most of the time and has no part in p."""
    for module, name in (
        ("two_rates", "runs_needed"),
        ("two_medians", "fewest"),
        ("two_counts", "_enough_times"),
    ):
        monkeypatch.setattr(f"nalm.stats.{module}.{name}", lambda *_: None)


def limit(n):
    """The number of false alarms in n draws that more than 5% would exceed in one of a thousand simulations."""
    return next(k for k in range(n) if bdtrc(k, n, 0.05) < RARE)


def solved(rng, rate, n, unit="NMU", train=None):
    return outcomes(unit, (rng.random(n) < rate).tolist(), train=train)


def measured(values, **fields):
    return [
        dataclasses.replace(RUN, seed=i, **{name: of(v) for name, of in fields.items()})
        for i, v in enumerate(values)
    ]


# -- draws: a claim about one truth and runs of another, which is the same but for tests of power --------------------


def rate(rng, truth, other, m, n):
    return claim("success_rate", rng.binomial(m, truth) / m, n=m), solved(rng, other, n)


def at_least(rng, truth, other, m, n):
    return claim("success_rate_lower_bound", rng.binomial(m, truth) / m, n=m), solved(rng, other, n)


def counted(rng, truth, other, m, n):
    rates, others = ([min(1.0, t * f) for f in (0, 0.1, 0.5, 1, 1, 1, 2, 4, 9)] for t in (truth, other))
    count = sum(int(rng.binomial(m, r) > 0) for r in rates)
    runs = [o for i, r in enumerate(others) for o in solved(rng, r, n, train=Range(i, i + 1))]
    return claim("n_ranges_nonzero_success", count, where="9 ranges", n=m), runs


def versus(rng, truth, other, m, n):
    """Two units whose seeds share half of their luck; the second solves half of them."""

    def pair(rate, runs):
        luck = 0.5 * rng.random(runs)
        return (luck + 0.5 * rng.random(runs) < level for level in (rate, 0.5))

    count = sum(int(sum(a) > sum(b)) for a, b in (pair(truth, m) for _ in range(9)))
    runs = []
    for i in range(9):
        for unit, found in zip(("INALU", "NALU"), pair(other, n), strict=True):
            runs += outcomes(unit, found.tolist(), train=Range(i, i + 1))
    return claim("n_ranges_better", count, unit="INALU vs NALU", where="9 ranges", n=m), runs


def difference(rng, truth, other, m, n):
    lead = (rng.binomial(m, truth) - rng.binomial(m, 0.3)) / m
    runs = solved(rng, other, n, "NPU") + solved(rng, 0.3, n, "RealNPU")
    return claim("success_rate_difference", lead, unit="NPU minus RealNPU", n=m), runs


def steps(rng, shape, n, scale):
    """Steps to a success, at evaluations every 1,000 steps; the shape 0 has a second mode far away."""
    x = (
        rng.gamma(shape, 1e5, n)
        if shape
        else np.where(rng.random(n) < 0.1, 4e6, 2e4) * rng.uniform(0.8, 1.2, n)
    )
    return np.ceil(scale * x / 1_000) * 1_000


def solved_mean(rng, truth, other, m, n):
    told = stats.solved_at_published(steps(rng, truth[0], m, truth[1]))
    runs = measured(steps(rng, other[0], n, other[1]), solved_at=int)
    return claim("solved_at_mean", told.estimate, told.low, told.high, n=m), runs


def solved_median(rng, truth, other, m, n):
    told = float(np.median(steps(rng, truth[0], m, truth[1])))
    return claim("solved_at_median", told, n=m), measured(steps(rng, other[0], n, other[1]), solved_at=int)


def sparsity(rng, truth, other, m, n):
    told = stats.sparsity_published(rng.beta(truth[0], 20, m) * truth[1])
    runs = measured(rng.beta(other[0], 20, n) * other[1], sparsity=float)
    return claim("sparsity_error_mean", told.estimate, told.low, told.high, n=m), runs


def mean_error(rng, truth, other, m, n):
    told = stats.mean(steps(rng, truth[0], m, truth[1]))
    runs = measured(steps(rng, other[0], n, other[1]), test=float)
    return claim("extrapolation_mse", told.estimate, told.low, told.high, n=m), runs


def standard_error(rng, truth, other, m, n):
    x = steps(rng, truth[0], m, truth[1])
    told, error = x.mean(), x.std(ddof=1) / m**0.5
    said = claim("test_mean_abs_error", told, told - error, told + error, n=m)
    runs = measured(steps(rng, other[0], n, other[1]), measures=lambda v: {"multiply": v})
    return said.replace(note="code writes mean +- standard error"), runs


def median_and_mad(rng, truth, other, m, n):
    x = steps(rng, truth[0], m, truth[1])
    mad = np.median(abs(x - np.median(x)))
    said = claim("median_mse", np.median(x), np.median(x) - mad, np.median(x) + mad, n=m)
    return said, measured(steps(rng, other[0], n, other[1]), measures=lambda v: {"test": v})


def least(rng, truth, other, m, n):
    said = claim("least_mse", steps(rng, truth[0], m, truth[1]).min(), n=m)
    return said, measured(steps(rng, other[0], n, other[1]), measures=lambda v: {"test": v})


SIZES = [(25, 25), (25, 5), (10, 10), (100, 10), (25, 100)]
STEPS = ([(9, 1), (2, 1), (1, 1), (0, 1)], ((9, 1), (9, 3)))
DRAWS = {  # equal truths, then a truth and another that is to be told from it
    rate: ([0.0, 0.04, 0.3, 0.5, 0.96], (0.9, 0.3)),
    at_least: ([0.04, 0.3, 0.5, 0.96], (0.9, 0.3)),
    counted: ([0.02, 0.1, 0.3], (0.001, 0.5)),
    versus: ([0.3, 0.5, 0.7], (0.9, 0.2)),
    difference: ([0.1, 0.3, 0.6], (1.0, 0.2)),
    solved_mean: STEPS,
    solved_median: STEPS,
    sparsity: ([(0.3, 0.1), (2, 0.5)], ((20, 0.5), (2, 0.05))),
    mean_error: STEPS,
    standard_error: STEPS,
    median_and_mad: STEPS,
    least: (STEPS[0], ((9, 3), (9, 1))),
}
REPEATS = {solved_mean: 5, sparsity: 10, counted: 8, versus: 4, difference: 10}  # of a setting; of others 16


def differ(draw, truth, other, m, n, repeats, seed):
    rng = np.random.default_rng(seed)
    return sum(judge(*draw(rng, truth, other, m, n)).verdict == "differs" for _ in range(repeats))


@pytest.mark.parametrize("draw", DRAWS, ids=lambda draw: draw.__name__)
def test_equal_truths_are_called_different_in_at_most_5_percent(draw):
    truths, _ = DRAWS[draw]
    repeats = REPEATS.get(draw, 16)
    settings = [(truth, m, n) for truth in truths for m, n in SIZES]
    alarms = sum(differ(draw, t, t, m, n, repeats, [i, 7]) for i, (t, m, n) in enumerate(settings))
    assert alarms <= limit(repeats * len(settings)), f"{alarms} of {repeats * len(settings)}"


@pytest.mark.parametrize("draw", DRAWS, ids=lambda draw: draw.__name__)
def test_a_large_difference_is_found(draw):
    _, (truth, other) = DRAWS[draw]
    assert differ(draw, truth, other, 25, 25, 20, 1) >= 16


def test_the_interval_rule_of_before_would_fail_here():
    """One number inside the other's 95% interval, the rule that these tests replace: 17% false alarms of rates."""
    rng, alarms, n = np.random.default_rng(0), 0, 400
    for _ in range(n):
        a, b = (stats.wilson(int(rng.binomial(25, 0.5)), 25) for _ in range(2))
        alarms += a.estimate not in b and b.estimate not in a
    assert alarms > limit(n)


ALIKE = {  # the rules that are judged by the tests of those above, and exact ones
    *("mean_success_rate", "interpolation_success", "extrapolation_success", "success_rate_at_length"),
    *("extrapolation_solved_by_some_seed", "runs_with_weights_exactly_1", "false_positive", "success"),
    *("n_ranges_full_success", "n_ranges_NAC+_better", "n_ranges_better_than_NALU", "n_ranges_equal"),
    *("n_ranges_worse", "interpolation_mse", "solved_at", "solved_at_mean_at_length"),
    *("sparsity_error_mean_at_length", "test_mse", "train_mse", "median_params", "median_params_of_best"),
    *("test_output_accuracy", "test_output_accuracy_rounded", "label1_accuracy_gain"),
    *("interpolation_mse_median_at_best_validation", "extrapolation_mse_median_at_best_validation"),
    *("kappa", "gamma", "R exponent", "solved_at_sample_mean", "sparsity_error_sample_mean"),
    *("n_correct", "interp_mse_mean", "extrap_mse_mean"),
    *("success_threshold_mse", "min_per_digit_accuracy", "iterations", "n_params", "typical_solved_at"),
}


def test_no_rule_is_forgotten_here():
    rng = np.random.default_rng(0)
    simulated = {draw(rng, truths[0], truths[0], 25, 25)[0].metric for draw, (truths, _) in DRAWS.items()}
    assert set(RULES) == simulated | ALIKE, "simulate a new rule above, or name it as alike"
