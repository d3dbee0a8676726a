"""Laws as networks of units: the same numbers, trainable, exportable, and readable again."""

import numpy as np
import pytest
import torch

from benchmarks.ladder import random_law
from nalm.discover import Law, search
from nalm.discover.law.expression import Input, Power, Sum, bounded
from nalm.discover.law.network import LawNetwork
from nalm.discover.law.tidy import tidied
from nalm.errors import NALMError
from nalm.units import NAU, RealNPU

NAMES = ("a", "b", "c", "d", "e")
A, B, C = Input(0), Input(1), Input(2)
RICH = Sum(
    (Power((A, B), (1.0, 2.0)), C, Power((Sum((A, C), (1.0, -0.7), 2.0),), (-1.0,))), (np.pi, -3.7, 0.5), 1.25
)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("seed", range(30))
def test_a_network_agrees_with_its_law_to_rounding(seed, dtype):
    rng = np.random.default_rng(seed)
    law = Law(tidied(random_law(rng, 1 + seed % 3)), NAMES)
    x = torch.from_numpy(rng.uniform(-2, 2, (200, 5))).to(dtype)
    with np.errstate(all="ignore"):
        y, bound = bounded(law.expression, x.double().numpy(), torch.finfo(dtype).eps / 2)
    out = law.to_module(dtype)(x)
    assert out.shape == (200, 1)
    assert out.dtype == dtype
    fine = np.isfinite(y)
    assert (np.abs(out[:, 0].double().detach().numpy()[fine] - y[fine]) <= 16 * bound[fine] + 1e-45).all()


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize(
    "node", [RICH, A, Sum((), (), 2.5), Power((A,), (0.5,), 6.674), Power((A, B), (1.0, -1.0), -1.0)]
)
def test_a_network_prints_the_law_it_was_made_of(node, dtype):
    law = Law(node, ("a", "b", "c"))
    network = law.to_module(dtype)
    assert network.law().python() == Law(tidied(node), law.names).python()
    assert f"y = {network.law()}" in repr(network)


def test_sums_are_naus_and_products_are_power_units():
    network = Law(Power((Sum((A, B), (1.0, -3.0)), C), (1.0, -1.0)), ("a", "b", "c")).to_module()
    units = [type(m) for m in network.modules() if isinstance(m, NAU | RealNPU)]
    assert units == [NAU, RealNPU]


def test_a_network_trains_on_and_prints_what_it_has_learnt():
    network = Law(Sum((A, B), (1.0, -1.0), 0.5), ("a", "b")).to_module(torch.float64)
    x = torch.rand(256, 2, dtype=torch.float64, generator=torch.Generator().manual_seed(0)) * 4 - 2
    y = 2.5 * x[:, :1] - x[:, 1:] + 0.75
    optimiser = torch.optim.LBFGS(
        network.parameters(), max_iter=100, line_search_fn="strong_wolfe", tolerance_change=0
    )

    def closure():
        optimiser.zero_grad()
        loss = (network(x) - y).square().mean()
        loss.backward()
        return loss

    optimiser.step(closure)
    network.project()
    law = network.law()
    assert law.predict(np.array([[10.0, 20.0]])) == pytest.approx([5.75], abs=1e-3)
    assert law.inputs == ["a", "b"]


def test_every_number_but_the_gates_has_a_gradient():
    network = Law(RICH, ("a", "b", "c")).to_module()
    network(torch.rand(8, 3) + 1).sum().backward()
    trained = {n: p for n, p in network.named_parameters() if p.requires_grad}
    assert all(p.grad is not None and p.grad.isfinite().all() for p in trained.values())
    assert {n.rsplit(".")[-1] for n, p in network.named_parameters() if not p.requires_grad} == {"gate"}


def test_a_network_is_exported_with_any_batch():
    network = Law(RICH, ("a", "b", "c")).to_module().eval()
    batch = torch.export.Dim("batch", min=2, max=4096)
    program = torch.export.export(network, (torch.rand(4, 3),), dynamic_shapes={"x": {0: batch}})
    x = torch.rand(9, 3) + 1
    torch.testing.assert_close(program.module()(x), network(x))


def test_weights_are_saved_and_loaded():
    law = Law(RICH, ("a", "b", "c"))
    network, other = law.to_module(), law.to_module()
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.mul_(0.9)
    other.load_state_dict(network.state_dict())
    x = torch.rand(5, 3) + 1
    torch.testing.assert_close(other(x), network(x))


def test_the_batch_may_have_any_shape():
    network = LawNetwork(Law(Power((A, B), (1.0, 1.0)), ("a", "b")))
    x = torch.rand(2, 3, 2)
    torch.testing.assert_close(network(x), x[..., :1] * x[..., 1:])
    torch.testing.assert_close(network(x[0, 0]), x[0, 0, :1] * x[0, 0, 1:])
    with pytest.raises(NALMError, match="takes 2 inputs"):
        network(torch.rand(4, 3))


def test_a_found_law_becomes_a_network():
    x = np.random.default_rng(0).uniform(-2, 2, (300, 4))
    network = search(x, (x[:, 0] + x[:, 1]) * x[:, 2]).law.to_module(torch.float64)
    y = network(torch.from_numpy(x))[:, 0].detach().numpy()
    np.testing.assert_allclose(y, (x[:, 0] + x[:, 1]) * x[:, 2], rtol=1e-14, atol=1e-15)
