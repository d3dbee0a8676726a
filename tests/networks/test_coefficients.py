"""Coefficients beside gates: what is computed, how gates open and close, and the formula."""

import math

import pytest
import sympy
import torch

from nalm.errors import NALMError
from nalm.networks import CoefficientUnit
from nalm.networks.coefficients import short, stretched
from nalm.units.spelling import number

X = torch.tensor([[1.0, -2.0, 3.0], [0.5, 4.0, -0.25]])


def solved(form):
    network = CoefficientUnit(3, 1, form=form, generator=torch.Generator().manual_seed(0))
    gate = {"gate": torch.tensor([[1.0, 0.0, 1.0]])}
    own = (
        {"coefficient": torch.tensor([[0.37, 9.0, 2.6]])}
        if form == "sum"
        else {"power": torch.tensor([[1.0, 1.0, -1.0]]), "factor": torch.tensor([2.6])}
    )
    return network.assign_(gate | own).eval()


def test_closed_gates_leave_inputs_out_of_sums_and_products():
    total, quotient = solved("sum"), solved("product")
    torch.testing.assert_close(total(X)[:, 0], 0.37 * X[:, 0] + 2.6 * X[:, 2])
    torch.testing.assert_close(quotient(X)[:, 0], 2.6 * X[:, 0] / X[:, 2])
    assert [str(u.formulas()[0]) for u in (total, quotient)] == ["0.37*a + 2.6*c", "2.6*a/c"]
    assert all(float(u.sparsity_error().detach()) < 1e-6 for u in (total, quotient))


def test_formulas_have_three_digits_and_whole_numbers_stay_whole():
    network = solved("sum").assign_({"coefficient": torch.tensor([[1.23456, 1.0, 2.0]])})
    assert network.formulas()[0] == 1.23 * sympy.Symbol("a") + 2 * sympy.Symbol("c")


def test_gates_are_exactly_at_their_ends_for_sure_logits():
    gates = stretched(torch.tensor([-5.0, -2.3, 0.0, 2.3, 5.0]))
    assert gates[0] == 0 and gates[-1] == 1 and gates[2] == 0.5
    assert 0 < gates[1] < 0.1 and 0.9 < gates[3] < 1


def test_the_penalty_is_the_expected_number_of_open_gates():
    network = CoefficientUnit(30_000, 1)
    with torch.no_grad():
        network.gate_hat.copy_(torch.tensor([-1.0, 0.0, 1.5]).repeat(10_000).unsqueeze(0))
    open_ones = float((network.gates() > 0).sum())
    assert float(network.penalties()["l0"].detach()) == pytest.approx(open_ones, rel=0.02)


def test_exponents_stay_within_bounds_and_are_put_on_the_grid_near_it():
    network = CoefficientUnit(3, 1, form="product")
    with torch.no_grad():
        network.power.copy_(torch.tensor([[1.7, 0.9995, 0.4]]))
    network.project()
    torch.testing.assert_close(network.power.detach(), torch.tensor([[1.0, 1.0, 0.4]]))


def test_an_unknown_form_is_refused():
    with pytest.raises(NALMError, match="product"):
        CoefficientUnit(3, 1, form="prod")


def quotient(factor=1.0):
    network = CoefficientUnit(2, 1, form="product")
    power, factor = torch.tensor([[1.0, -1.0]]), torch.tensor([factor])
    return network.assign_({"gate": torch.ones(1, 2), "power": power, "factor": factor}).eval()


def test_no_number_of_a_formula_becomes_0():
    network = solved("sum").assign_({"coefficient": torch.tensor([[6.674e-11, 1.0, 1.0]])})
    assert str(network.formulas()[0]) == "6.67e-11*a + c"
    assert str(quotient(6.674e-11).formulas()[0]) == "6.67e-11*a/b"
    network.assign_({"coefficient": torch.tensor([[0.0, 1.0, 1.0]])})
    assert str(network.formulas()[0]) == "c"


def test_large_whole_numbers_have_three_digits_too():
    numbers = (1.0, 300.0, 1234.0, 299792458.0, -8765432.1, 0.5)
    texts = [str(short(number(float(torch.tensor(v)))) * sympy.Symbol("a")) for v in numbers]
    assert texts == ["a", "300*a", "1.23e+3*a", "3.0e+8*a", "-8.77e+6*a", "0.5*a"]


@pytest.mark.parametrize("unit", [quotient(), quotient().exact_()])
def test_products_are_exact_in_evaluation(unit):
    x = torch.tensor(
        [[0.0, 0.0], [1.0, 0.0], [0.0, 2.0], [1e30, 1e-6], [-6.0, 3.0], [6.0, -3.0], [-6.0, -3.0]]
    )
    expected = torch.tensor([math.nan, math.inf, 0.0, 1e36, -2.0, -2.0, 2.0])
    torch.testing.assert_close(unit(x)[:, 0], expected, rtol=1e-6, atol=0, equal_nan=True)


def test_training_keeps_products_finite():
    unit = quotient().train()
    y = unit(torch.tensor([[1.0, 0.0], [0.0, 2.0], [0.0, 0.0]]))
    y.sum().backward()
    assert y.isfinite().all() and unit.power.grad.isfinite().all()


def test_gates_that_are_set_stay_open_or_closed_in_training():
    unit = CoefficientUnit(2, 1, generator=torch.Generator().manual_seed(0))
    unit.assign_({"gate": torch.tensor([[1.0, 0.0]]), "coefficient": torch.tensor([[1.0, 5.0]])})
    for _ in range(2):
        assert {unit.train()(torch.ones(1, 2)).item() for _ in range(200)} == {1.0}
        with torch.no_grad():
            unit.gate_hat.copy_(torch.tensor([[2.4, -2.4]]))  # sure without noise only
        unit.snap_()


def test_gates_beyond_their_ends_are_put_there_and_those_between_stay():
    unit = CoefficientUnit(4, 1).assign_({"gate": torch.tensor([[2.0, -1.0, 0.25, 0.75]])})
    assert unit.weights()["gate"].tolist()[0] == pytest.approx([1, 0, 0.25, 0.75])
