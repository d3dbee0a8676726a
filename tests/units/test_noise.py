"""Noise inside a forward pass: its source, that every call draws new numbers, and all transforms of torch."""

import copy
import json
from pathlib import Path

import pytest
import torch
from torch import nn

from nalm.population import stack
from nalm.units import NAU, NMU, SNMU, StgNMU, StgProduct

GOLDEN = {
    v["id"]: v
    for v in json.loads((Path(__file__).parents[1] / "data" / "golden_units.json").read_text("utf-8"))
}
NOISY = {
    "SNMU": lambda g: SNMU(3, 2, generator=g),
    "SNMU of the batch": lambda g: SNMU(3, 2, noise_range="batch", generator=g),
    "StgNMU": lambda g: StgNMU(3, 2, generator=g),
    "StgProduct": lambda g: StgProduct(3, 2, generator=g),
    "NAU, SNMU, SNMU": lambda g: nn.Sequential(
        NAU(3, 3, generator=g), SNMU(3, 2, generator=g), SNMU(2, 2, generator=g)
    ),
}
every_kind = pytest.mark.parametrize("kind", NOISY)
X = 0.5 + torch.rand((5, 3), generator=torch.Generator().manual_seed(1))


def build(kind: str = "SNMU", seed: int = 0) -> nn.Module:
    return NOISY[kind](torch.Generator().manual_seed(seed))


def counters(module: nn.Module) -> list[int]:
    return [int(value) for name, value in module.named_buffers() if name.endswith("counter")]


def squared(module: nn.Module, parameters: dict[str, torch.Tensor]) -> torch.Tensor:
    return torch.func.functional_call(module, parameters, (X,)).square().sum()


# -- in an ordinary network --------------------------------------------------------------------


def test_layers_built_from_one_generator_have_keys_of_their_own():
    generator = torch.Generator().manual_seed(0)
    first, second = SNMU(3, 2, generator=generator), SNMU(3, 2, generator=generator)
    assert not torch.equal(first.noise.key, second.noise.key)
    second.load_state_dict(first.state_dict() | {"noise.key": second.noise.key})
    assert torch.equal(first.weight, second.weight)
    assert not torch.isclose(first(X), second(X)).all(-1).any()


def test_layers_built_without_a_generator_have_keys_of_their_own():
    assert not torch.equal(SNMU(3, 2).noise.key, SNMU(3, 2).noise.key)


@every_kind
def test_consecutive_passes_differ_and_count(kind):
    unit = build(kind)
    passes = [unit(X) for _ in range(3)]
    for a, b in ((0, 1), (1, 2), (0, 2)):
        assert not torch.isclose(passes[a], passes[b]).all(-1).any()
    assert set(counters(unit)) == {3}


def test_every_sample_and_input_has_noise_of_its_own_within_the_range():
    unit = SNMU(3, 2, noise_range=(2.0, 3.0), generator=torch.Generator().manual_seed(0))
    noise = unit.draw(X)
    assert noise.unique().numel() == X.numel()
    assert ((noise > 2) & (noise < 3)).all()


@every_kind
def test_the_same_state_makes_the_same_noise(kind):
    unit, other = build(kind), build(kind, seed=1)
    unit(X)
    other.load_state_dict(unit.state_dict())
    assert counters(other) == counters(unit)
    for _ in range(2):
        assert torch.equal(unit(X), other(X))
    behind = {n: torch.zeros_like(t) if n.endswith("counter") else t for n, t in unit.state_dict().items()}
    other.load_state_dict(behind)
    assert not torch.isclose(unit(X), other(X)).all(-1).any()


def test_a_reset_starts_from_another_key_at_zero():
    unit = build()
    unit(X)
    before = unit.noise.key.clone()
    unit.reset_parameters(torch.Generator().manual_seed(9))
    assert counters(unit) == [0]
    assert not torch.equal(unit.noise.key, before)


@every_kind
def test_the_global_generator_is_neither_read_nor_moved(kind):
    state = torch.random.get_rng_state()
    unit = build(kind)
    clone = copy.deepcopy(unit)
    y = unit(X)
    y.sum().backward()
    assert torch.equal(torch.random.get_rng_state(), state)
    with torch.random.fork_rng(devices=[]):
        torch.rand(1)  # moves it, which must not matter
        assert torch.equal(clone(X), y)


@every_kind
def test_evaluation_draws_nothing(kind):
    unit = build(kind)
    unit(X)
    unit.eval()
    assert torch.equal(unit(X), unit(X))
    assert set(counters(unit)) == {1}


def test_evaluation_is_the_unit_without_noise():
    unit, plain = build().eval(), NMU(3, 2)
    plain.load_state_dict({"weight": unit.weight})
    assert torch.equal(unit(X), plain(X))
    assert not torch.isclose(unit.train()(X), plain(X)).all(-1).any()


# -- noise handed in ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("id_", "unit", "parameter", "noise"),
    [("g044", SNMU, "W", "noise"), ("g045", SNMU, "W", "noise"), ("g049", StgNMU, "mu", "noise_eps")],
)
def test_noise_handed_in_reproduces_the_golden_vector_and_draws_nothing(id_, unit, parameter, noise):
    golden = {
        k: torch.tensor(v, dtype=torch.float64) for k, v in GOLDEN[id_].items() if k in ("x", "y", noise)
    }
    built = unit(2, 1, dtype=torch.float64)
    with torch.no_grad():
        weight = torch.tensor(GOLDEN[id_]["params"][parameter], dtype=torch.float64)
        next(built.parameters()).copy_(weight.mT)  # stored (in, out)
    given = golden[noise] if unit is SNMU else golden[noise].mT
    torch.testing.assert_close(built(golden["x"], noise=given), golden["y"], rtol=1e-10, atol=0)
    assert counters(built) == [0]


# -- torch.func --------------------------------------------------------------------------------


@every_kind
def test_vmap_over_stacked_state_is_the_members_one_by_one(kind):
    generator = torch.Generator().manual_seed(0)
    members = [NOISY[kind](generator) for _ in range(4)]
    members[2](X)  # a counter that is ahead of the others'
    state = torch.func.stack_module_state(members)
    base = copy.deepcopy(members[0]).to("meta")
    x = torch.stack([X * (i + 1) for i in range(4)])
    together = torch.func.vmap(lambda p, b, x_m: torch.func.functional_call(base, (p, b), (x_m,)))(*state, x)
    population = stack(members)(x)
    singly = torch.stack([m(x_m) for m, x_m in zip(members, x, strict=True)])
    torch.testing.assert_close(together, singly)
    torch.testing.assert_close(population, singly)


def test_a_layer_used_twice_draws_twice_under_vmap():
    generator = torch.Generator().manual_seed(0)
    layers = [SNMU(3, 3, generator=generator) for _ in range(4)]
    members = [nn.Sequential(layer, layer) for layer in layers]
    state, base = torch.func.stack_module_state(members), copy.deepcopy(members[0])
    call = torch.func.vmap(lambda p, b: torch.func.functional_call(base, (p, b), (X,)))
    torch.testing.assert_close(call(*state), torch.stack([m(X) for m in members]))
    assert [counters(m) for m in members] == [[2]] * 4


@every_kind
def test_functional_gradients_are_those_of_backward_and_the_counter_moves(kind):
    unit = build(kind)
    twin = copy.deepcopy(unit)
    for passes in (1, 2):
        grads = torch.func.grad(lambda p: squared(unit, p))(dict(unit.named_parameters()))
        assert set(counters(unit)) == {passes}
        twin.zero_grad()
        twin(X).square().sum().backward()
        for name, parameter in twin.named_parameters():
            torch.testing.assert_close(grads[name], parameter.grad)


def test_a_unit_can_be_copied_after_functional_gradients():
    unit = build()
    torch.func.grad(lambda p: squared(unit, p))(dict(unit.named_parameters()))
    assert torch.equal(copy.deepcopy(unit)(X), unit(X))


# -- torch.compile -----------------------------------------------------------------------------


@pytest.fixture
def compiler():
    """Compile in one graph without code generation; how many graphs there were."""
    graphs = []

    def backend(graph, inputs):
        graphs.append(graph)
        return torch._dynamo.lookup_backend("aot_eager")(graph, inputs)

    torch._dynamo.reset()
    yield (lambda module: torch.compile(module, fullgraph=True, backend=backend)), graphs
    torch._dynamo.reset()


@pytest.mark.parametrize("kind", ["SNMU", "StgNMU", "NAU, SNMU, SNMU", "population"])
def test_a_compiled_unit_makes_the_same_noise_and_counts(compiler, kind):
    compiled, graphs = compiler
    unit = stack([build(seed=s) for s in range(3)]) if kind == "population" else build(kind)
    x = X.expand(3, 5, 3) if kind == "population" else X
    twin = copy.deepcopy(unit)
    fast = compiled(unit)
    for _ in range(5):
        y, expected = fast(x), twin(x)
        torch.testing.assert_close(y, expected)
        y.sum().backward()
        expected.sum().backward()
        for (name, a), b in zip(unit.named_buffers(), twin.buffers(), strict=True):
            assert torch.equal(a, b), name
    for a, b in zip(unit.parameters(), twin.parameters(), strict=True):
        torch.testing.assert_close(a.grad, b.grad)
    assert 1 <= len(graphs) <= 2


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.filterwarnings("ignore::FutureWarning")
@pytest.mark.parametrize("rows", [5, pytest.param(33, marks=pytest.mark.slow)])
def test_inductor_draws_the_same_noise_to_the_end_of_a_batch(rows):
    """A batch that is no multiple of a vector's width: its end once came out unwritten."""
    unit = SNMU(3, 2, generator=torch.Generator().manual_seed(0))
    x = torch.rand(rows, 3, generator=torch.Generator().manual_seed(1)) + 0.3
    torch._dynamo.reset()
    compiled = torch.compile(copy.deepcopy(unit), fullgraph=True, dynamic=False)
    torch.testing.assert_close(compiled(x), unit(x))
