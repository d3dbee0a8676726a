"""Published numbers beside ours: when they agree, when they differ, and when nothing can be said."""

from dataclasses import replace

import pytest
from made import claim, outcomes

from nalm.claims import judge, of_published
from nalm.config import Range
from nalm.experiments import EXPERIMENTS
from nalm.experiments.published import tied


def test_a_rate_agrees_within_either_interval():
    full = outcomes("NMU", [True] * 25)
    assert judge(claim("success_rate", 1.0), full).verdict == "agrees"
    assert judge(claim("success_rate", 0.9), full).verdict == "agrees"  # in our [0.87, 1]
    assert judge(claim("success_rate", 0.5), full).verdict == "differs"
    most = outcomes("NMU", [True] * 21 + [False] * 4)
    assert judge(claim("success_rate", 1.0), most).verdict == "differs"
    assert judge(claim("success_rate", 1.0, 0.5, 1.0), most).verdict == "agrees"


def test_a_rate_agrees_with_a_lower_bound_that_its_interval_reaches():
    some = outcomes("NMU", [True] * 10 + [False] * 15)
    assert judge(claim("success_rate_lower_bound", 0.4), some).verdict == "agrees"
    assert judge(claim("success_rate_lower_bound", 0.9), some).verdict == "differs"


def test_ranges_with_some_and_with_full_success_are_counted():
    runs = outcomes("NMU", [True, True]) + outcomes("NMU", [True, False], train=Range(3, 4))
    runs += outcomes("NMU", [False, False], train=Range(5, 6))
    assert judge(claim("n_ranges_nonzero_success", 2, where="3 ranges"), runs).verdict == "agrees"
    assert judge(claim("n_ranges_full_success", 2, where="3 ranges"), runs).verdict == "differs"
    assert judge(claim("n_ranges_full_success", 1, where="3 ranges"), runs).ours.estimate == 1


def test_one_unit_better_than_another_is_counted_by_range():
    runs = outcomes("INALU", [True, True]) + outcomes("NALU", [True, False])
    runs += outcomes("INALU", [False], train=Range(3, 4)) + outcomes("NALU", [False], train=Range(3, 4))
    found = judge(claim("n_ranges_better_than_NALU", 1, unit="INALU", where="2 ranges"), runs)
    assert found.verdict == "agrees" and "INALU above NALU on 1 of 2" in found.why


def test_a_difference_of_rates_is_paired_by_seed():
    runs = outcomes("NPU", [True] * 20 + [False] * 5) + outcomes("RealNPU", [True] * 12 + [False] * 13)
    found = judge(claim("success_rate_difference", 0.32, unit="NPU minus RealNPU"), runs)
    assert found.verdict == "agrees" and found.ours.estimate == pytest.approx(0.32)


def test_steps_and_sparsity_are_compared_over_solved_runs():
    runs = outcomes("NMU", [True] * 10 + [False] * 5, at=2_800, sparsity=1e-8)
    assert judge(claim("solved_at_mean", 2_850, 2_800, 2_900), runs).verdict == "agrees"
    assert judge(claim("solved_at_mean", 9_000, 8_000, 9_500), runs).verdict == "differs"
    assert judge(claim("sparsity_error_mean", 0.0, 0.0, 0.0), runs).verdict == "agrees"
    assert judge(claim("sparsity_error_mean", 0.1, 0.05, 0.2), runs).verdict == "differs"
    none = outcomes("NMU", [False] * 5)
    assert judge(claim("solved_at_mean", 2_850), none).verdict == "not comparable"


def test_a_claim_without_runs_or_without_rule_is_not_comparable():
    assert judge(claim("success_rate", 1.0), []).verdict == "not comparable"
    assert judge(claim("success_rate", 1.0), outcomes("NMU", [True], inputs=10)).verdict == "not comparable"
    assert judge(claim("gpu_memory", 1.0), outcomes("NMU", [True])).why == "no rule for gpu_memory"


def test_a_count_of_ranges_needs_all_of_them():
    runs = outcomes("NMU", [True, True])
    found = judge(claim("n_ranges_full_success", 1, where="9 ranges"), runs)
    assert found.verdict == "not comparable" and found.why == "1 of 9 ranges were run"
    better = claim("n_ranges_better_than_NALU", 1, unit="INALU", where="9 ranges")
    assert judge(better, outcomes("INALU", [True])).verdict == "not comparable"


def test_runs_of_another_length_are_not_held_against_a_claim():
    experiment = EXPERIMENTS["thesis/ch3/mul"]
    case = experiment.cases[0]
    short = case.replace(recipe=case.recipe.replace(steps=100))
    (one,) = outcomes("NMU", [True])
    ours = [replace(one, case=case), replace(one, case=short)]
    assert of_published(experiment, ours) == ours[:1]


def test_a_tied_claim_is_about_its_cases_alone():
    runs = outcomes("SNMU", [True] * 4) + outcomes("SNMU", [False] * 4, train=Range(3, 4))
    names = {("MLP(1)", "multiply", "25 seeds"): runs[0].case}
    said = [
        claim("success_rate", 1.0, unit="MLP(1)", where="25 seeds"),
        claim("success_rate", 0.0, unit="NMU"),
    ]
    (only,) = tied(said, names)
    assert only.cases == (runs[0].case.hash,) and judge(only, runs).ours.n == 4
    assert judge(only, runs).verdict == "agrees" and judge(only, runs[4:]).verdict == "not comparable"


def test_errors_are_compared_by_their_mean_and_rounding_is_no_error():
    runs = [replace(o, validation=1.0 + o.seed, test=10.0 + 10 * o.seed) for o in outcomes("NMU", [True] * 3)]
    mean = {"where": "U[1,2)", "low": 1.5, "high": 2.5}
    assert judge(claim("interpolation_mse", 2.1, **mean), runs).ours.method == "Student-t"
    assert judge(claim("interpolation_mse", 2.1, **mean), runs).verdict == "agrees"
    assert judge(claim("extrapolation_mse", 2.1, **mean), runs).ours.estimate == 20
    assert judge(claim("extrapolation_mse", 200.0, 199, 201), runs).verdict == "differs"
    exact = [replace(o, test=1e-13) for o in runs]
    assert judge(claim("extrapolation_mse", 9.9e-13, 9.9e-13, 9.9e-13), exact).verdict == "agrees"
    assert judge(claim("interpolation_success", 0.0), runs).verdict == "agrees"
    assert judge(claim("extrapolation_success", 100.0), exact).verdict == "agrees"
    assert judge(claim("extrapolation_solved_by_some_seed", 0.0), exact).verdict == "differs"
    assert judge(claim("solved_at", 5_400, 5_300, 5_500), runs).ours.estimate == 5_000


def test_a_median_published_with_two_digits_may_be_off_by_them():
    runs = outcomes("NMU", [True] * 9, at=1_370_000)
    assert judge(claim("solved_at_median", 1_400_000), runs).verdict == "agrees"
    assert judge(claim("solved_at_median", 1_600_000), runs).verdict == "differs"
