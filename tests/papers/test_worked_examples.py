"""Weights worked out by hand (Mistry 2023, Figs 1.4 and 1.5, section C.2; a mean of the NLRL), put into the layers."""

import pytest
import torch
from torch import tensor

import nalm

EVERYWHERE = 200 * torch.rand(500, 2, generator=torch.Generator().manual_seed(0)) - 100


def perceptron(hidden, offset, output, last):
    """A perceptron with one hidden layer of ReLUs and these parameters."""
    mlp = nalm.BASELINES["MLP"](2, 1, hidden=(len(hidden),), activation="relu")
    names = ("weight0", "bias0", "weight1", "bias1")
    with torch.no_grad():
        for name, value in zip(names, (hidden, offset, [output], [last]), strict=True):
            mlp.get_parameter(name).copy_(tensor(value))
    return mlp


@pytest.mark.parametrize(("w", "b"), [(1.0, 0.0), (0.5, -3.0), (4.0, 2.0)])
def test_one_relu_adds_where_its_input_is_positive_and_only_there(w, b):
    """Figure 1.4: relu(x1 w + x2 w - b) / w + b / w, for any positive w."""
    mlp, truth = perceptron([[w, w]], [-b], [1 / w], b / w), EVERYWHERE.sum(-1, keepdim=True)
    above = (w * truth > b).squeeze(-1)
    torch.testing.assert_close(mlp(EVERYWHERE)[above], truth[above], rtol=1e-5, atol=1e-4)
    torch.testing.assert_close(mlp(EVERYWHERE)[~above], torch.full_like(truth[~above], b / w))
    assert 0 < above.sum() < len(above)


@pytest.mark.parametrize(
    ("operation", "output"), [("add", [1.0, -1.0, 1.0, -1.0]), ("subtract", [1.0, -1.0, -1.0, 1.0])]
)
def test_four_relus_add_or_subtract_any_two_numbers(operation, output):
    """Figure 1.5: each input and its negative pass a ReLU of their own."""
    mlp = perceptron([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]], [0.0] * 4, output, 0.0)
    truth = nalm.OPERATIONS[operation].formula(*EVERYWHERE.unbind(-1))
    torch.testing.assert_close(mlp(EVERYWHERE).squeeze(-1), truth, rtol=1e-6, atol=1e-5)


def test_the_worked_nalu_subtracts_the_second_input_and_ignores_the_third():
    """Section C.2: x = [2 3 4], W = [1 -1 0], an open gate; each step of the example."""
    x, weight = tensor([2.0, 3.0, 4.0]), tensor([[1.0, -1.0, 0.0]])
    unit = nalm.NALU(3, 1, eps=0.0).assign_({"weight": weight, "gate": torch.full((1, 3), 1e3)})
    torch.testing.assert_close(torch.tanh(unit.w_hat[0, :2]), tensor([1.0, -1.0]))
    torch.testing.assert_close(torch.sigmoid(unit.m_hat[0, :2]), tensor([1.0, 1.0]))
    torch.testing.assert_close(unit.weights()["weight"], weight)
    torch.testing.assert_close(nalm.NAC(3, 1).assign_({"weight": weight})(x), tensor([-1.0]))
    torch.testing.assert_close(nalm.NACMul(3, 1, eps=0.0).assign_({"weight": weight})(x), tensor([2 / 3]))
    torch.testing.assert_close(unit(x), tensor([-1.0]))
    closed = unit.assign_({"weight": weight, "gate": torch.full((1, 3), -1e3)})
    torch.testing.assert_close(closed(x), tensor([2 / 3]))


def test_an_nlrl_halfway_between_and_and_or_is_the_mean():
    """How a layer of logic "adds with division" (section D.3.1): (ab + a + b - ab) / 2."""
    x = torch.rand(50, 2, generator=torch.Generator().manual_seed(1))
    unit = nalm.NLRL.solved("and").assign_(
        {"weight": torch.ones(1, 2), "negate": torch.zeros(1, 2), "output": tensor([0.5])}
    )
    torch.testing.assert_close(unit(x), x.mean(-1, keepdim=True))
