"""Each study of division runs small, at full length, and points where the published one points."""

import pytest
from studies import Small

pytestmark = pytest.mark.slow

NEGATIVE = ("U[-20,-10)", "U[-2,-1)", "U[-1.2,-1.1)", "U[-0.2,-0.1)")
POSITIVE = ("U[0.1,0.2)", "U[1,2)", "U[1.1,1.2)", "U[10,20)")
L1 = "RealNPU (L1 1e-09 to 1e-07)"


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp(
        "division"
    )  # one for all: cases that stand in two studies are trained once


def test_among_ten_inputs_the_nru_solves_positive_ranges_and_no_negative_one(folder):
    found = Small(folder, "thesis/ch5/main", 2, lambda c: c.inputs == 10 and c.model[0].unit == "NRU")
    assert found.rate("NRU", *POSITIVE) == 1 and found.rate("NRU", *NEGATIVE, "U[-2,2)") == 0
    assert found.compared() >= 5


def test_of_two_inputs_the_nru_solves_every_range(folder):
    found = Small(folder, "thesis/ch5/main", 2, lambda c: c.inputs == 2)
    assert found.rate("NRU") == 1 and found.rate("NMRU") == 1
    assert found.rate("RealNPU") < found.rate("ModifiedRealNPU")
    assert found.compared() >= 20


def test_the_real_npu_needs_l1_on_some_ranges(folder):
    found = Small(folder, "thesis/ch5/l1", 4)
    assert found.rate("RealNPU", "U[1,2)") <= found.rate(L1, "U[1,2)") == 1
    assert found.compared() == 2


def test_strong_l1_prevents_all_success(folder):
    found = Small(folder, "thesis/ch5/beta", 2)
    assert found.rate("RealNPU (L1 0.1 to 10)") == 0 < found.rate(L1)
