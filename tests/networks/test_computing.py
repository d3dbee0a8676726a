"""Networks that compute with units: a graph network and a reader of digits, exact at any size once they are solved."""

import pytest
import sympy
import torch

import nalm
from nalm.errors import NALMError
from nalm.networks import NumberReader, Routes
from nalm.tasks.lists import of_list

DIGITS = torch.tensor([*range(10), 0.0, 0.0, 0.0])


def seeded(seed: int) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def routes() -> Routes:
    """Shortest paths by hand."""
    weights = {"message.weight": torch.ones(1, 2), "choice": torch.tensor([1.0, 0.0, 0.0])}
    return Routes(16, 1, generator=seeded(0)).assign_(weights).double()


def reader() -> NumberReader:
    """The decimal system with +, - and x by hand."""
    rows = torch.ones(13, 2)
    rows[11, 1] = -1.0
    weights = {"value": DIGITS, "base": torch.tensor([10.0]), "stop": (torch.arange(13) > 9).float()}
    weights |= {"sum.weight": rows, "product.weight": torch.ones(13, 2)}
    return (
        NumberReader(13, 1, generator=seeded(0))
        .assign_({**weights, "gate": (torch.arange(13) < 12).float()})
        .double()
    )


def symbols(text: str) -> torch.Tensor:
    return torch.tensor([["0123456789+-x".index(c) for c in text]], dtype=torch.float64)


@pytest.mark.parametrize("nodes", [2, 4, 20])
@torch.no_grad()
def test_solved_routes_are_shortest_paths_in_any_graph(nodes):
    x = torch.randint(100, 1000, (30, nodes**2), generator=seeded(nodes)).double()
    assert torch.equal(routes()(x), of_list("shortest_path", x).unsqueeze(-1))
    assert torch.equal(routes().snap_()(x), routes()(x))


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("7+5", 12),
        ("12-34", -22),
        ("0040x25", 1000),
        ("98765432+12345678", 111111110),
        ("99999999x9999999", 99999999 * 9999999),
    ],
)
@torch.no_grad()
def test_a_solved_reader_calculates_with_numbers_of_any_length(text, result):
    assert reader()(symbols(text)).item() == result == reader().snap_()(symbols(text)).item()


def test_they_spell_what_they_do():
    s, h, x = sympy.symbols("s h x")
    assert reader().formulas() == [10 * h + x] and str(routes().formulas()) == "[min(h + x)]"
    assert reader().operators() == {10: s + h, 11: s - h, 12: s * h}


def test_rounding_moves_values_to_whole_numbers_and_gates_to_their_ends():
    near = reader()
    with torch.no_grad():
        near.value.add_(0.3)
        near.base.sub_(0.4)
        near.stop_hat.mul_(0.01)
    near.snap_()
    assert torch.equal(near.value, DIGITS.double()) and near.base.item() == 10.0
    assert torch.equal(near.weights()["stop"], (torch.arange(13) > 9).double())


@pytest.mark.parametrize(
    "make", [lambda g: Routes(9, 1, generator=g), lambda g: NumberReader(9, 1, generator=g)]
)
def test_a_population_equals_its_members_and_trains_with_attach(make):
    members = [make(seeded(seed)) for seed in range(3)]
    x = torch.randint(1, 9, (3, 5, 9), generator=seeded(1)).float()
    together = nalm.stack(members)
    assert together.runs == (3,)
    torch.testing.assert_close(together(x), torch.stack([m(r) for m, r in zip(members, x, strict=True)]))
    optimiser = torch.optim.Adam(together.parameters(), lr=0.1)
    handle = nalm.attach(together, optimiser, steps=10)
    assert set(handle.weights()[""]) == {"weight", "gate"}
    before = [p.clone() for p in together.parameters()]
    together(x).square().sum().backward()
    assert all(p.grad.flatten(1).abs().sum(1).gt(0).all() for p in together.parameters())
    optimiser.step()
    assert all(not torch.equal(p, q) for p, q in zip(together.parameters(), before, strict=True))
    assert together.sparsity_error().shape == (3,)


def test_other_inputs_are_refused():
    with pytest.raises(NALMError, match="n x n inputs"):
        Routes(9, 1)(torch.ones(2, 5))
    with pytest.raises(NALMError, match="one number of a list"):
        NumberReader(13, 2)
