"""Published numbers beside ours: when they agree, when they differ, and when nothing can be told."""

from dataclasses import replace

import pytest
from made import claim, outcomes

from nalm import stats
from nalm.claims import corrected, judge, of_published
from nalm.config import Range
from nalm.experiments import EXPERIMENTS
from nalm.experiments.published import tied


def test_a_rate_differs_by_fishers_test_and_agrees_if_a_large_difference_is_excluded():
    full = outcomes("NMU", [True] * 25)
    assert judge(claim("success_rate", 1.0), full).verdict == "agrees"
    assert judge(claim("success_rate", 0.5), full).verdict == "differs"
    most = outcomes("NMU", [True] * 19 + [False] * 6)
    found = judge(claim("success_rate", 1.0), most)
    assert found.verdict == "differs" and found.p == pytest.approx(0.0223, abs=1e-4)  # of 25 published runs
    assert judge(claim("success_rate", 1.0, n=10), most).verdict == "cannot tell"


def test_what_cannot_be_told_says_how_many_runs_would_tell():
    found = judge(claim("success_rate", 1.0), outcomes("NMU", [True] * 21 + [False] * 4))
    assert found.verdict == "cannot tell" and found.p > 0.05
    assert 25 < found.needed < 200 and f"{found.needed} runs of ours would find a difference" in found.reason
    more = outcomes("NMU", [i % 25 < 21 for i in range(10 * found.needed)])
    assert judge(claim("success_rate", 1.0), more).verdict != "cannot tell"
    none = judge(claim("success_rate", 0.5, n=4), outcomes("NMU", [True] * 21 + [False] * 4))
    assert none.needed is None and "too few published runs" in none.reason


def test_the_runs_behind_a_rate_are_those_of_its_interval():
    half = stats.wilson(50, 100)
    runs = outcomes("NMU", [i < 16 for i in range(25)])
    assert "50 of 100 published" in judge(claim("success_rate", 0.5, half.low, half.high), runs).why
    assert "5 of 10 published" in judge(claim("success_rate", 0.5).replace(note="10 seeds"), runs).why


def test_a_rate_agrees_with_a_lower_bound_that_it_reaches():
    some = outcomes("NMU", [True] * 10 + [False] * 15)
    assert judge(claim("success_rate_lower_bound", 0.4), some).verdict == "agrees"
    assert judge(claim("success_rate_lower_bound", 0.5), some).verdict == "cannot tell"
    assert judge(claim("success_rate_lower_bound", 0.9), some).verdict == "differs"


def ranges(*solved):
    """Runs of the NMU on as many ranges, so many of 25 solved on each."""
    return [
        o
        for i, k in enumerate(solved)
        for o in outcomes("NMU", [j < k for j in range(25)], train=Range(i, i + 1))
    ]


def test_ranges_with_some_and_with_full_success_are_counted():
    few = ranges(25, 25, 25, 0, 25, 25)
    assert judge(claim("n_ranges_nonzero_success", 5, where="6 ranges"), few).verdict == "agrees"
    assert judge(claim("n_ranges_nonzero_success", 2, where="6 ranges"), few).verdict == "differs"
    assert judge(claim("n_ranges_full_success", 5, where="6 ranges"), few).ours.estimate == 5
    rare = ranges(*[1] * 9)
    found = judge(claim("n_ranges_nonzero_success", 6, where="9 ranges"), rare)  # ours is 9
    assert found.verdict == "cannot tell"


def test_one_unit_better_than_another_is_counted_by_range():
    runs = [o for i in range(4) for o in outcomes("INALU", [i < 3] * 20, train=Range(i, i + 1))]
    runs += [o for i in range(4) for o in outcomes("NALU", [False] * 20, train=Range(i, i + 1))]
    found = judge(claim("n_ranges_better_than_NALU", 3, unit="INALU", where="4 ranges"), runs)
    assert found.verdict == "agrees" and "INALU above NALU on 3 of 4" in found.why
    none = judge(claim("n_ranges_better_than_NALU", 0, unit="INALU", where="4 ranges"), runs)
    assert none.verdict == "differs"


def test_a_difference_of_rates_is_paired_by_seed():
    runs = outcomes("NPU", [True] * 200 + [False] * 50) + outcomes("RealNPU", [True] * 120 + [False] * 130)
    found = judge(claim("success_rate_difference", 0.32, unit="NPU minus RealNPU"), runs)
    assert found.verdict == "agrees" and found.ours.estimate == pytest.approx(0.32)
    assert judge(claim("success_rate_difference", -0.2, unit="NPU minus RealNPU"), runs).verdict == "differs"
    few = [o for o in runs if o.seed % 50 == 0]
    assert (
        judge(claim("success_rate_difference", 0.2, unit="NPU minus RealNPU"), few).verdict == "cannot tell"
    )


def test_steps_and_sparsity_are_compared_over_solved_runs():
    runs = outcomes("NMU", [True] * 10 + [False] * 5, at=2_800, sparsity=1e-8)
    assert judge(claim("solved_at_mean", 2_850, 2_800, 2_900, n=25), runs).verdict == "agrees"
    assert judge(claim("solved_at_mean", 9_000, 8_000, 9_500, n=25), runs).verdict == "differs"
    assert judge(claim("sparsity_error_mean", 0.0, 0.0, 0.0, n=25), runs).verdict == "agrees"
    assert judge(claim("sparsity_error_mean", 0.1, 0.08, 0.12, n=25), runs).verdict == "differs"
    none = outcomes("NMU", [False] * 5)
    assert judge(claim("solved_at_mean", 2_850, n=25), none).verdict == "cannot tell"


def test_a_fitted_mean_of_steps_with_outliers_decides_nothing():
    steps = [replace(o, solved_at=2_000_000 if o.seed < 5 else 20_000) for o in outcomes("NMU", [True] * 50)]
    theirs = stats.solved_at_published([o.solved_at for o in steps])
    found = judge(claim("solved_at_mean", theirs.estimate, theirs.low, theirs.high, n=50), steps[5:])
    assert found.verdict == "cannot tell" and "no mean" in found.why and found.ours.estimate == 20_000


def test_a_claim_without_runs_or_without_rule_is_not_judged():
    assert judge(claim("success_rate", 1.0), []).verdict == "not run"
    assert judge(claim("success_rate", 1.0), outcomes("NMU", [True], inputs=10)).verdict == "not run"
    found = judge(claim("gpu_memory", 1.0), outcomes("NMU", [True]))
    assert (found.verdict, found.why) == ("no rule", "no rule for gpu_memory")


def test_a_count_of_ranges_needs_all_of_them():
    runs = outcomes("NMU", [True, True])
    found = judge(claim("n_ranges_full_success", 1, where="9 ranges"), runs)
    assert found.verdict == "cannot tell" and found.why == "1 of 9 ranges were run"
    better = claim("n_ranges_better_than_NALU", 1, unit="INALU", where="9 ranges")
    assert judge(better, outcomes("INALU", [True])).verdict == "not run"


def test_tests_of_a_study_are_corrected_by_holms_method():
    runs = outcomes("NMU", [True] * 19 + [False] * 6)
    one = judge(claim("success_rate", 1.0), runs)  # p = 0.022
    assert one.verdict == "differs" and corrected([one])[0].verdict == "differs"
    several = corrected([one, one, one, judge(claim("success_threshold_mse", 1e-7), runs)])
    assert [v.verdict for v in several] == ["cannot tell"] * 3 + ["agrees"]
    assert several[0].corrected == pytest.approx(3 * one.p) and several[3].corrected is None  # exact, no test
    assert "p = 0.022 is no difference among the tests of this study" in several[0].reason


def test_runs_of_another_length_are_not_held_against_a_claim():
    experiment = EXPERIMENTS["thesis/ch3/mul"]
    case = experiment.cases[0]
    short = case.replace(recipe=case.recipe.replace(steps=100))
    (one,) = outcomes("NMU", [True])
    ours = [replace(one, case=case), replace(one, case=short)]
    assert of_published(experiment, ours) == ours[:1]


def test_a_tied_claim_is_about_its_cases_alone():
    runs = outcomes("SNMU", [True] * 40) + outcomes("SNMU", [False] * 40, train=Range(3, 4))
    names = {("MLP(1)", "multiply", "25 seeds"): runs[0].case}
    said = [
        claim("success_rate", 1.0, unit="MLP(1)", where="25 seeds"),
        claim("success_rate", 0.0, unit="NMU"),
    ]
    (only,) = tied(said, names)
    assert only.cases == (runs[0].case.hash,) and judge(only, runs).ours.n == 40
    assert judge(only, runs).verdict == "agrees" and judge(only, runs[40:]).verdict == "not run"


def test_errors_are_compared_by_their_mean_and_rounding_is_no_error():
    runs = [
        replace(o, validation=2.0 + o.seed % 3, test=20.0 + 10 * (o.seed % 3))
        for o in outcomes("NMU", [True] * 30)
    ]
    mean = {"where": "U[1,2)", "low": 2.8, "high": 3.4, "n": 25}
    assert judge(claim("interpolation_mse", 3.1, **mean), runs).ours.method == "Student-t"
    assert judge(claim("interpolation_mse", 3.1, **mean), runs).verdict == "agrees"
    assert judge(claim("extrapolation_mse", 3.1, **mean), runs).ours.estimate == 30
    assert judge(claim("extrapolation_mse", 200.0, 199, 201, n=25), runs).verdict == "differs"
    assert judge(claim("extrapolation_mse", 30.0, 0, 60, n=2), runs[:2]).verdict == "cannot tell"
    exact = [replace(o, test=1e-13) for o in runs]
    assert judge(claim("extrapolation_mse", 9.9e-13, 9.9e-13, 9.9e-13, n=25), exact).verdict == "agrees"
    assert judge(claim("interpolation_success", 0.0), runs).verdict == "agrees"
    assert judge(claim("extrapolation_success", 100.0), exact).verdict == "agrees"
    assert judge(claim("extrapolation_solved_by_some_seed", 0.0), exact).verdict == "differs"
    assert judge(claim("extrapolation_solved_by_some_seed", 1.0), exact).verdict == "agrees"
    assert judge(claim("solved_at", 5_400, 5_300, 5_500, n=25), runs).ours.estimate == 5_000


def test_a_median_published_with_two_digits_may_be_off_by_them():
    runs = [replace(o, solved_at=1_370_000 + 100 * o.seed) for o in outcomes("NMU", [True] * 20)]
    assert judge(claim("solved_at_median", 1_400_000, n=100), runs).verdict == "agrees"
    assert judge(claim("solved_at_median", 1_600_000, n=100), runs).verdict == "differs"
    assert judge(claim("solved_at_median", 1_400_000, n=100), runs[:3]).verdict == "cannot tell"
