"""Populations: stacking, taking members out, and the same numbers as the members."""

import copy

import pytest
import torch
from torch import nn

from nalm.population import keep, member, stack
from nalm.units import INALU, NAU, NMU, NSR, SNMU, ModifiedRealNPU, NormalisedNMU, StgNMU
from nalm.units.baselines import MLP, Fixed

KINDS = {
    "NMU": lambda g: NMU(3, 2, generator=g),
    "NormalisedNMU": lambda g: NormalisedNMU(3, 2, generator=g),
    "SNMU": lambda g: SNMU(3, 2, generator=g),
    "SNMU of the batch": lambda g: SNMU(3, 2, noise_range="batch", generator=g),
    "StgNMU": lambda g: StgNMU(3, 2, generator=g),
    "INALU": lambda g: INALU(3, 2, generator=g),
    "ModifiedRealNPU": lambda g: ModifiedRealNPU(3, 2, generator=g),
    "NSR": lambda g: NSR(3, 2, redundancy=2, generator=g),
    "MLP": lambda g: MLP(3, 2, hidden=(4,), generator=g),
    "wide NAU": lambda g: nn.Sequential(NAU(3, 20, generator=g), NMU(20, 2, generator=g)),
    "NAU, SNMU": lambda g: nn.Sequential(NAU(3, 2, generator=g), SNMU(2, 1, generator=g)),
}
every_kind = pytest.mark.parametrize("kind", KINDS)
RUNS = 4


def members(kind: str = "NAU, SNMU", runs: int = RUNS, seed: int = 0) -> list[nn.Module]:
    generator = torch.Generator().manual_seed(seed)
    return [KINDS[kind](generator) for _ in range(runs)]


def inputs(*shape: int, runs: int = RUNS) -> torch.Tensor:
    return 0.5 + torch.rand((runs, *shape, 3), generator=torch.Generator().manual_seed(1))


def same(a: nn.Module, b: nn.Module) -> bool:
    left, right = a.state_dict(), b.state_dict()
    return list(left) == list(right) and all(
        left[n].dtype == right[n].dtype and torch.equal(left[n], right[n]) for n in left
    )


def storages(module: nn.Module) -> set[int]:
    return {t.untyped_storage().data_ptr() for t in module.state_dict().values()}


@every_kind
def test_every_parameter_and_buffer_gains_an_axis(kind):
    parts = members(kind)
    state = stack(parts).state_dict()
    for name, value in parts[0].state_dict().items():
        assert state[name].shape == (RUNS, *value.shape)
        assert torch.equal(state[name], torch.stack([m.state_dict()[name] for m in parts]))
    assert list(state) == list(parts[0].state_dict())


@every_kind
@pytest.mark.parametrize("batch", [(), (5,), (2, 3)], ids=str)
@pytest.mark.parametrize("training", [True, False])
def test_a_population_is_its_members(kind, batch, training):
    parts = [m.train(training) for m in members(kind)]
    population, x = stack(parts), inputs(*batch)
    for _ in range(3):  # noise is fresh each time, and each time the same as the members'
        together = population(x)
        singly = torch.stack([m(x_m) for m, x_m in zip(parts, x, strict=True)])
        torch.testing.assert_close(together, singly, rtol=1e-6, atol=1e-6)
        assert together.shape[:-1] == (RUNS, *batch)


def test_the_noise_of_a_population_is_fresh_each_time_and_differs_between_runs():
    parts = [member_ for m in members("SNMU", runs=1) for member_ in (m, copy.deepcopy(m))]
    parts[1].reset_parameters(torch.Generator().manual_seed(5))
    with torch.no_grad():
        parts[1].weight.copy_(parts[0].weight)
    population, x = stack(parts), inputs(5, runs=1).expand(2, 5, 3)
    first, second = population(x), population(x)
    assert not torch.isclose(first, second).all(-1).any()
    assert not torch.isclose(first[0], first[1]).all(-1).any()


@every_kind
def test_a_member_taken_out_is_the_one_put_in(kind):
    parts = members(kind)
    for m, x in zip(parts, inputs(5), strict=True):
        m(x)  # counters move before stacking
    population = stack(parts)
    for i in range(-RUNS, RUNS):
        assert same(member(population, i), parts[i])
    assert member(population, 1)(inputs(5)[0]).shape == parts[1](inputs(5)[0]).shape


def test_members_are_taken_with_the_counter_the_population_has_reached():
    population = stack(members())
    for _ in range(3):
        population(inputs(5))
    assert member(population, 2)[1].noise.counter.item() == 3


@pytest.mark.parametrize(
    ("which", "expected"),
    [
        ([3, 1], [3, 1]),
        ([2], [2]),
        ([0, 0, 2], [0, 0, 2]),
        ([-1, -4], [3, 0]),
        (torch.tensor([1, 3]), [1, 3]),
        ([True, False, False, True], [0, 3]),
        (torch.tensor([False, True, False, False]), [1]),
    ],
    ids=str,
)
def test_some_runs_are_kept_by_number_or_by_mask(which, expected):
    parts = members()
    kept = keep(stack(parts), which)
    assert kept[0].runs == kept[1].runs == (len(expected),)
    assert same(kept, stack([parts[i] for i in expected]))


@pytest.mark.parametrize(
    "nothing", [[], torch.zeros(RUNS, dtype=torch.bool), torch.tensor([], dtype=torch.int64)], ids=str
)
def test_no_run_may_be_kept(nothing):
    kept = keep(stack(members()), nothing)
    assert kept[0].runs == (0,)
    assert kept(inputs(5)[:0]).shape == (0, 5, 1)


def test_populations_of_populations_have_two_axes():
    rows = [members("SNMU", seed=s) for s in range(2)]
    population, x = stack([stack(row) for row in rows]), inputs(5, runs=8).reshape(2, 4, 5, 3)
    assert population.runs == (2, 4)
    together = population(x)
    for i, row in enumerate(rows):
        for j, m in enumerate(row):
            torch.testing.assert_close(together[i, j], m(x[i, j]))
    assert member(population, 1).runs == (4,)


def test_the_originals_are_left_alone_and_share_no_memory():
    parts = members()
    before = copy.deepcopy(parts)
    population = stack(parts)
    taken, kept = member(population, 0), keep(population, [0, 1])
    modules = [*parts, population, taken, kept]
    for i, a in enumerate(modules):
        for b in modules[i + 1 :]:
            assert not storages(a) & storages(b)
    untouched = copy.deepcopy(population)
    for other in (taken, kept):
        other(inputs(5)[0] if other is taken else inputs(5)[:2]).sum().backward()
        for p in other.parameters():
            p.data.zero_()
    assert same(population, untouched)
    for p in population.parameters():
        p.data.zero_()
    assert all(same(a, b) for a, b in zip(parts, before, strict=True))
    assert all(p.grad is None for m in parts for p in m.parameters())


@pytest.mark.parametrize("training", [True, False])
def test_frozen_parameters_stay_frozen_and_the_mode_is_kept(training):
    parts = [m.train(training) for m in members()]
    for m in parts:
        m[0].weight.requires_grad_(False)
    population = stack(parts)
    for module in (population, member(population, 1), keep(population, [0, 2])):
        assert [p.requires_grad for p in module.parameters()] == [False, True]
        assert all(isinstance(p, nn.Parameter) and p.is_leaf for p in module.parameters())
        assert module.training == module[1].training == training


@every_kind
def test_gradients_of_a_population_are_those_of_its_members(kind):
    parts = members(kind)
    population, x = stack(parts), inputs(5)
    population(x).square().sum().backward()
    for m, x_m in zip(parts, x, strict=True):
        m(x_m).square().sum().backward()
    for name, p in population.named_parameters():
        expected = torch.stack([m.get_parameter(name).grad for m in parts])
        assert expected.any()
        torch.testing.assert_close(p.grad, expected, rtol=1e-5, atol=1e-6)


def test_a_population_may_contain_a_layer_without_parameters():
    parts = [nn.Sequential(NAU(3, 2), Fixed(2, 1)) for _ in range(3)]
    assert same(member(stack(parts), 1), parts[1])


def test_parameters_shared_by_two_layers_are_stacked_in_both():
    parts = [nn.Sequential(NMU(2, 2), NMU(2, 2)) for _ in range(3)]
    for m in parts:
        m[1].weight = m[0].weight
    population = stack(parts)
    for module in (population, keep(population, [2, 0]), member(population, 1)):
        assert module[0].weight is module[1].weight
    assert population[1].weight.shape == (3, 2, 2)
    assert same(member(population, 1), parts[1])
