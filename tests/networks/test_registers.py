"""Status registers in a loop: hand-made weights are exact on lists and graphs far beyond any training."""

import pytest
import sympy
import torch

import nalm
from nalm.errors import NALMError
from nalm.networks import NETWORKS, Counter, Paths, RegisterLoop, Smallest
from nalm.tasks.lists import of_list
from nalm.units import NAU, NSR, NSRNAU

LOOPS = [name for name, network in NETWORKS.items() if issubclass(network, RegisterLoop)]

TASKS = {"Smallest": "smallest", "Counter": "count", "Paths": "shortest_path"}


def by_hand(name: str):
    """The network with gold weights."""
    made = NETWORKS[name](4, 1)
    if name == "Counter":
        made.register, made.sum = NSR.solved("equal"), NAU.solved("add")
    else:
        made.cell = NSRNAU.solved("minimum")
    return made


def lists(name: str, length: int, size: int) -> torch.Tensor:
    low = 1 if name == "Paths" else -size
    return torch.randint(low, size, (20, length), generator=torch.Generator().manual_seed(length)).double()


@pytest.mark.parametrize("length", [4, 9, 100, 400])
@pytest.mark.parametrize("size", [3, 1_000_000])
@pytest.mark.parametrize("name", LOOPS)
@torch.no_grad()
def test_hand_made_weights_are_exact_at_any_length_and_magnitude(name, size, length):
    x = lists(name, length, size)
    truth = of_list(TASKS[name], x).unsqueeze(-1)
    network = by_hand(name).double()
    assert torch.equal(network(x), truth)
    assert torch.equal(network.snap_().exact_()(x), truth)


@torch.no_grad()
def test_every_short_list_of_small_numbers_is_right():
    x = torch.cartesian_prod(*[torch.arange(-2.0, 3.0)] * 4)
    for name in ("Smallest", "Counter"):
        assert torch.equal(by_hand(name)(x), of_list(TASKS[name], x).unsqueeze(-1))


def test_the_formula_is_that_of_a_step():
    x, q, d, h = sympy.symbols("x q d h")
    assert by_hand("Smallest").formulas() == [sympy.Piecewise((h, h < x), (x, True))]
    assert by_hand("Counter").formulas() == [h + sympy.Piecewise((1, sympy.Eq(q, x)), (0, True))]
    assert by_hand("Paths").formulas() == [sympy.Piecewise((h, h < d + x), (d + x, True))]


@pytest.mark.parametrize("name", LOOPS)
def test_a_population_equals_its_members(name):
    members = [NETWORKS[name](9, 1, generator=torch.Generator().manual_seed(s)) for s in range(3)]
    x = torch.randn(3, 5, 9)
    together = nalm.stack(members)
    assert together.runs == (3,)
    torch.testing.assert_close(together(x), torch.stack([m(r) for m, r in zip(members, x, strict=True)]))
    torch.testing.assert_close(together(x[:, 0]), together(x)[:, 0])
    torch.testing.assert_close(together(x.reshape(3, 5, 1, 9)), together(x).reshape(3, 5, 1, 1))


@pytest.mark.parametrize("name", LOOPS)
def test_every_parameter_receives_a_gradient(name):
    network = NETWORKS[name](9, 1, redundancy=2, generator=torch.Generator().manual_seed(0))
    network(torch.randint(1, 4, (64, 9)).float()).square().sum().backward()
    assert all(p.grad.abs().sum() > 0 for p in network.parameters())
    assert set(network.weights()) == set(network.rounded()) and network.penalties()["weight"] >= 0


def test_a_generator_decides_the_start():
    first, second = (Paths(9, 1, generator=torch.Generator().manual_seed(3)) for _ in range(2))
    assert all(torch.equal(a, b) for a, b in zip(first.parameters(), second.parameters(), strict=True))


def test_short_lists_and_several_outputs_are_refused():
    with pytest.raises(NALMError, match="out_features=2"):
        Smallest(3, 2)
    with pytest.raises(NALMError, match=r"real lists of shape \(\.\.\., 2 or more\), got \(5, 1\)"):
        Counter(3, 1)(torch.ones(5, 1))
