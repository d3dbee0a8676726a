"""Each study of division runs small, at full length, and points where the published one points."""

import pytest
from studies import Small

pytestmark = pytest.mark.slow

NEGATIVE = ("U[-20,-10)", "U[-2,-1)", "U[-1.2,-1.1)", "U[-0.2,-0.1)")
POSITIVE = ("U[0.1,0.2)", "U[1,2)", "U[1.1,1.2)", "U[10,20)")
L1 = "RealNPU (L1 1e-09 to 1e-07)"
BOTH = "ModifiedRealNPU (clip weight gate, not constrained"


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    # one for all: cases that stand in two studies are trained once
    return tmp_path_factory.mktemp("division")


def test_among_ten_inputs_the_nru_solves_positive_ranges_and_no_negative_one(folder):
    found = Small(folder, "thesis/ch5/main", 2, lambda c: c.inputs == 10 and c.model[0].unit == "NRU")
    assert found.rate("NRU", *POSITIVE) == 1 and found.rate("NRU", *NEGATIVE, "U[-2,2)") == 0
    assert found.compared() >= 5


def test_of_two_inputs_the_new_units_solve_every_range(folder):
    found = Small(folder, "thesis/ch5/main", 2, lambda c: c.inputs == 2)
    assert found.rate("NRU") == 1 and found.rate("NMRU") == 1
    assert found.rate("RealNPU") < found.rate("ModifiedRealNPU")
    assert found.compared() >= 20


def test_without_l1_the_real_npu_is_no_better(folder):
    found = Small(folder, "thesis/ch5/l1")
    assert found.rate("RealNPU") <= found.rate(L1)
    assert found.compared() == 2


def test_strong_l1_prevents_all_success(folder):
    found = Small(folder, "thesis/ch5/beta")
    assert found.rate("RealNPU (L1 0.1 to 10)") == 0 < found.rate(L1)


def test_clamping_gates_and_weights_helps(folder):
    found = Small(folder, "thesis/ch5/clipping")
    assert found.rate(f"{BOTH})") > found.rate("RealNPU")


def test_pressure_on_gates_and_weights_helps(folder):
    found = Small(folder, "thesis/ch5/discretisation")
    assert found.rate(f"{BOTH}, weight 1, gate 1)") > found.rate(f"{BOTH})")


def test_a_start_close_to_zero_helps(folder):
    found = Small(folder, "thesis/ch5/start")
    assert found.rate("ModifiedRealNPU") >= found.rate(f"{BOTH})")


def test_l2_is_no_better_than_l1(folder):
    found = Small(folder, "thesis/ch5/l2")
    assert found.rate("RealNPU (L2 1e-07 to 1e-05)") <= found.rate(L1)
    assert found.compared() == 5


def test_the_published_rate_suits_the_real_npu(folder):
    found = Small(folder, "thesis/ch5/realnpu-lr")
    assert found.rate("ModifiedRealNPU (lr 0.005)") >= found.rate("ModifiedRealNPU (lr 0.5)")


def test_only_large_steps_make_the_nru_solve_negative_ranges(folder):
    found = Small(folder, "thesis/ch5/nru-lr")
    assert found.rate("NRU (lr 1)") == 1 > found.rate("NRU (lr 0.001)", *NEGATIVE)
    assert found.compared() == 9


def test_the_nru_needs_a_sharp_stand_in(folder):
    found = Small(folder, "thesis/ch5/nru-tanh")
    assert found.rate("NRU") == 1 > found.rate("NRU (tanh scale 1)")


def test_complex_weights_do_not_help(folder):
    found = Small(folder, "thesis/ch5/complex")
    assert found.rate("ModifiedNPU (imaginary part free)", "U[-2,2)") == 0
    assert found.rate("ModifiedRealNPU", *POSITIVE) == 1


def test_weights_are_pressed_to_either_set(folder):
    found = Small(folder, "thesis/ch5/ternary")
    assert found.rate("ModifiedRealNPU", *POSITIVE) == 1
    assert found.rate("ModifiedRealNPU (towards -1 0 1)", *POSITIVE) == 1


def test_the_nmru_without_its_sign_solves_both_signs(folder):
    found = Small(folder, "thesis/ch5/nmru-ablation")
    assert found.rate("NMRUNoSign (clip 1)", "U[-2,2)") == 1
    assert found.compared() == 1


def test_the_published_rate_suits_the_nmru(folder):
    found = Small(folder, "thesis/ch5/nmru-lr")
    assert found.rate("NMRU (lr 0.01)") >= found.rate("NMRU (lr 0.1)")


def test_plain_gradient_descent_is_no_better_than_adam(folder):
    found = Small(folder, "thesis/ch5/nmru-optimiser")
    assert found.rate("NMRU (adam)") > found.rate("NMRU (sgd)")
    assert found.compared() == 2


def test_a_sign_apart_does_not_help_the_nru(folder):
    found = Small(folder, "thesis/ch5/nru-sign")
    assert found.rate("NRUSeparateSign", *NEGATIVE) == found.rate("NRU", *NEGATIVE) == 0


def test_of_two_inputs_of_different_signs_the_new_units_solve_all(folder):
    found = Small(folder, "thesis/ch5/mixed", 2, lambda c: c.inputs == 2)
    assert found.rate("NRU") == found.rate("NMRU") == 1 > found.rate("ModifiedRealNPU")
    assert found.compared() == 3


def test_among_ten_inputs_of_different_signs_the_nru_solves_nothing(folder):
    found = Small(folder, "thesis/ch5/mixed-corrected", 2, lambda c: c.model[0].unit == "NRU")
    assert found.rate("NRU") == 0


def test_all_units_divide_benfords_numbers(folder):
    found = Small(folder, "thesis/ch5/distributions", 2, lambda c: c.inputs == 2)
    assert found.rate("NRU") == found.rate("NMRU") == 1 == found.rate("ModifiedRealNPU", "B[10,100)")
    assert found.compared() >= 18


def test_the_real_npu_cannot_divide_by_small_numbers(folder):
    found = Small(folder, "thesis/ch5/small")
    assert found.rate("ModifiedRealNPU", operation="divide") == 0
    assert found.rate("NMRU", operation="divide") > 0
    assert found.compared() >= 45
