"""Baselines: shapes, initialisation, populations and options."""

import pytest
import torch

import nalm
from nalm.testing import seeded


@pytest.mark.parametrize("baseline", nalm.BASELINES.values(), ids=nalm.BASELINES)
def test_a_baseline_has_the_shapes_and_the_starts_of_a_unit(baseline):
    layer = baseline(3, 2, generator=seeded(0))
    for lead in ((), (5,), (0,), (4, 5)):
        assert layer(torch.rand(*lead, 3)).shape == (*lead, 2)
    same = baseline(3, 2, generator=seeded(0))
    x = torch.randn(7, 3)
    torch.testing.assert_close(layer(x), same(x))
    assert layer.sparsity_error().shape == ()
    assert layer.penalties() == {}
    layer.project()
    with pytest.raises(nalm.NALMError, match="expects x of shape"):
        layer(torch.ones(2, 4))


@pytest.mark.parametrize("name", ["Linear", "Affine", "MLP", "Quadratic", "ProductFC"])
def test_a_population_of_baselines_equals_its_members(name):
    members = [nalm.BASELINES[name](3, 2, generator=seeded(s)) for s in range(4)]
    x = torch.randn(4, 6, 3)
    each = torch.stack([m(row) for m, row in zip(members, x, strict=True)])
    torch.testing.assert_close(nalm.stack(members)(x), each)


def test_the_mlp_is_the_network_of_the_papers():
    mlp = nalm.BASELINES["MLP"](2, 1, hidden=(4,), activation="relu6", generator=seeded(0))
    assert sum(p.numel() for p in mlp.parameters()) == 17
    x = torch.randn(9, 2)
    w = mlp.weights()
    hidden = torch.nn.functional.relu6(x @ w["weight0"].T + w["bias0"])
    torch.testing.assert_close(mlp(x), hidden @ w["weight1"].T + w["bias1"])
    assert w["weight0"].abs().max() <= 3**0.5  # Kaiming uniform: sqrt(6 / fan in)


def test_fixed_operations_repeat_for_every_output():
    layer = nalm.BASELINES["Fixed"](3, 2, operation="divide")
    torch.testing.assert_close(layer(torch.tensor([[6.0, 3.0, 9.0]])), torch.tensor([[2.0, 2.0]]))


@pytest.mark.parametrize("activation, widest", [("relu", (6 / 2) ** 0.5), ("tanh", (6 / 402) ** 0.5)])
def test_hidden_weights_start_as_their_activation_asks(activation, widest):
    layer = nalm.BASELINES["MLP"](2, 1, hidden=(400,), activation=activation, generator=seeded(0))
    assert 0.98 * widest < layer.weight0.abs().max() <= widest
    x = torch.tensor([[0.3, -2.0]])
    hidden = getattr(torch, activation)(x @ layer.weight0.mT + layer.bias0)
    torch.testing.assert_close(layer(x), hidden @ layer.weight1.mT + layer.bias1)
