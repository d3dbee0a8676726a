"""Coefficients beside gates: what is computed, how gates open and close, and the formula."""

import pytest
import sympy
import torch

from nalm.errors import NALMError
from nalm.networks import CoefficientUnit
from nalm.networks.coefficients import stretched

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
