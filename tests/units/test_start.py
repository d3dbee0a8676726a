"""Initialisation: the distributions, the sources of random numbers, and the published ranges."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Generator

from nalm.population import stack
from nalm.units import INALU, NAU, NMU, SNMU, UNITS
from nalm.units.baselines import BASELINES
from nalm.units.start import Constant, FromGenerator, Normal, Orthogonal, Uniform

LAYERS = {**UNITS, **BASELINES}
RANDOM = [  # layers with anything to draw
    name
    for name, layer in LAYERS.items()
    if any(isinstance(s, Uniform | Normal | Orthogonal) for s in layer(2, 1).start().values())
]
seeds = st.integers(0, 2**16)
sides = st.integers(1, 12)


def source(seed: int = 0) -> FromGenerator:
    return FromGenerator.of(Generator().manual_seed(seed))


def raw(layer: torch.nn.Module) -> torch.Tensor:
    """Every parameter, end to end."""
    return torch.nn.utils.parameters_to_vector(layer.parameters()).detach()


# -- distributions -----------------------------------------------------------------------------


@given(sides, sides, seeds)
@settings(deadline=None, max_examples=60)
def test_an_orthogonal_start_has_orthonormal_rows_or_columns(rows, columns, seed):
    q = Orthogonal((rows, columns)).sample(source(seed))
    assert q.shape == (rows, columns)
    assert q.dtype == torch.float64
    gram = q @ q.mT if rows <= columns else q.mT @ q
    torch.testing.assert_close(gram, torch.eye(min(rows, columns), dtype=q.dtype), rtol=0, atol=1e-12)


def test_an_orthogonal_start_is_uniform_over_both_signs():
    """Without the correction of signs, the factor of a positive diagonal is not: every mean is near 0."""
    drawn = torch.stack([Orthogonal((2, 2)).sample(s) for s in [source()] for _ in range(2000)])
    assert (drawn.mean(0).abs() < 4 * math.sqrt(0.5 / 2000)).all()
    assert abs(torch.linalg.det(drawn).mean()) < 4 / math.sqrt(2000)


def test_a_square_orthogonal_start_is_the_identity_if_asked_for():
    assert torch.equal(Orthogonal((3, 3), identity_if_square=True).sample(source()), torch.eye(3).double())
    assert not torch.equal(Orthogonal((3, 3)).sample(source()), torch.eye(3).double())
    wide = Orthogonal((2, 3), identity_if_square=True).sample(source())
    torch.testing.assert_close(wide @ wide.mT, torch.eye(2).double())
    assert not torch.equal(wide, torch.eye(2, 3).double())


@given(st.floats(-5, 5), st.floats(0.1, 5), seeds)
@settings(deadline=None, max_examples=30)
def test_a_uniform_start_fills_its_bounds(low, width, seed):
    high = low + width
    drawn = Uniform((20, 50), low, high).sample(source(seed))
    assert drawn.shape == (20, 50)
    assert low <= drawn.min() < low + 0.05 * width
    assert high - 0.05 * width < drawn.max() <= high
    assert abs(drawn.mean() - (low + high) / 2) < 5 * width / math.sqrt(12 * 1000)


def test_a_normal_start_has_its_mean_and_deviation():
    n = 100_000
    drawn = Normal((n,), -2.0, 0.5).sample(source())
    assert abs(drawn.mean() + 2) < 4 * 0.5 / math.sqrt(n)
    assert abs(drawn.std() - 0.5) < 4 * 0.5 / math.sqrt(2 * n)
    beyond = ((drawn + 2).abs() > 1.0).double().mean()  # two deviations
    assert abs(beyond - 0.0455) < 4 * math.sqrt(0.0455 / n)


def test_a_constant_start_draws_nothing():
    generator = Generator().manual_seed(0)
    before = generator.get_state()
    assert Constant((2, 3), 0.5).sample(FromGenerator.of(generator)).tolist() == [[0.5] * 3] * 2
    assert torch.equal(generator.get_state(), before)


# -- where the numbers come from ---------------------------------------------------------------


@pytest.mark.parametrize("name", LAYERS)
def test_a_generator_makes_a_start_reproducible(name):
    one, two = (LAYERS[name](3, 2, generator=Generator().manual_seed(4)) for _ in range(2))
    state = one.state_dict()
    assert all(torch.equal(value, state[key]) for key, value in two.state_dict().items())
    two.reset_parameters()
    two.reset_parameters(Generator().manual_seed(4))
    assert all(torch.equal(value, state[key]) for key, value in two.state_dict().items())


@pytest.mark.parametrize("name", RANDOM)
def test_other_seeds_and_no_generator_make_other_starts(name):
    layer = LAYERS[name]
    seeded = [raw(layer(3, 2, generator=Generator().manual_seed(s))) for s in (0, 1)]
    unseeded = layer(3, 2)
    first = raw(unseeded)
    unseeded.reset_parameters()
    drawn = [*seeded, first, raw(unseeded), raw(layer(3, 2))]
    for i, a in enumerate(drawn):
        assert not any(torch.equal(a, b) for b in drawn[i + 1 :])


@pytest.mark.parametrize("name", LAYERS)
def test_without_a_generator_the_global_one_decides_and_with_one_it_is_left_alone(name):
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(7)
        one = LAYERS[name](3, 2)
        moved = torch.random.get_rng_state()
        torch.manual_seed(7)
        two = LAYERS[name](3, 2)
        assert all(torch.equal(value, one.state_dict()[key]) for key, value in two.state_dict().items())
        assert torch.equal(torch.random.get_rng_state(), moved)
        two.reset_parameters(Generator().manual_seed(0))
        LAYERS[name](3, 2, generator=Generator().manual_seed(0))
        assert torch.equal(torch.random.get_rng_state(), moved)
        torch.manual_seed(8)
        other = LAYERS[name](3, 2)
    if name in RANDOM:
        assert not torch.equal(raw(one), raw(other))


def test_units_that_the_library_builds_for_itself_leave_the_global_generator_alone():
    from nalm import discover
    from nalm.config import Arithmetic, Case, Layer, Range, Recipe
    from nalm.discover.law.expression import Input, Power, Sum
    from nalm.engine import train
    from nalm.formulas.capabilities import capability
    from nalm.formulas.from_formula import from_formula

    before = torch.random.get_rng_state()
    SNMU.solved("multiply")
    from_formula("a*b/c")
    from_formula("a < b")
    capability(SNMU)
    ratio = Power((Input(0), Input(1)), (1.0, -1.0), 2.5)
    discover.Law(Sum((ratio, Input(1)), (1.0, 2.0), 1.0), ("a", "b")).to_module()
    case = Case((Layer("SNMU"),), Arithmetic("multiply", Range(1, 2), Range(2, 6)), Recipe(steps=2))
    train(case, seeds=range(2), compiled=False)
    assert torch.equal(torch.random.get_rng_state(), before)


def test_layers_built_from_one_generator_start_differently():
    generator = Generator().manual_seed(0)
    assert not torch.equal(NMU(3, 2, generator=generator).weight, NMU(3, 2, generator=generator).weight)


def test_single_precision_starts_at_the_rounded_numbers_of_double_precision():
    single, double = (NMU(3, 2, generator=Generator().manual_seed(0), dtype=d) for d in (None, torch.float64))
    assert single.weight.dtype == torch.float32
    assert torch.equal(single.weight, double.weight.float())


def test_a_population_starts_anew_with_runs_that_differ():
    population = stack([SNMU(3, 2)] * 4)
    population(torch.ones(4, 5, 3))
    population.reset_parameters(Generator().manual_seed(0))
    assert population.weight.flatten(1).unique(dim=0).shape[0] == 4
    assert population.noise.key.unique(dim=0).shape[0] == 4
    assert population.noise.counter.tolist() == [0] * 4
    assert population.weight.min() >= 0.25
    assert population.weight.max() <= 0.75


def test_a_layer_on_the_meta_device_is_initialised_once_it_has_memory():
    layer = SNMU(3, 2, device="meta")
    layer.reset_parameters(Generator().manual_seed(0))  # nothing to fill yet
    layer.to_empty(device="cpu").reset_parameters(Generator().manual_seed(0))
    expected = SNMU(3, 2, generator=Generator().manual_seed(0)).state_dict()
    assert all(torch.equal(value, expected[name]) for name, value in layer.state_dict().items())


# -- published ranges --------------------------------------------------------------------------


def fills(drawn: torch.Tensor, low: float, high: float) -> bool:
    """Uniform between the bounds, as far as the extremes of many numbers tell (float32 rounds the bounds)."""
    margin, slack = 0.02 * (high - low), 1e-6
    return low - slack <= drawn.min() < low + margin and high - margin < drawn.max() <= high + slack


def test_the_nmu_starts_between_one_and_three_quarters():
    assert fills(NMU(50, 40, generator=Generator().manual_seed(0)).weight, 0.25, 0.75)


@pytest.mark.parametrize("shape", [(2, 1000), (100, 100), (4, 20), (30, 30), (2000, 1)], ids=str)
def test_the_nau_starts_within_half_or_the_bound_of_glorot(shape):
    generator = Generator().manual_seed(0)
    drawn = torch.cat([NAU(*shape, generator=generator).weight.flatten() for _ in range(20)])
    bound = min(0.5, math.sqrt(6 / sum(shape)))
    assert fills(drawn, -bound, bound)


def test_a_small_nau_starts_within_half():
    generator = Generator().manual_seed(0)
    assert fills(torch.cat([NAU(2, 1, generator=generator).weight for _ in range(500)]), -0.5, 0.5)


def test_the_inalu_starts_at_its_means_with_deviation_one_fifth():
    unit = INALU(100, 100, generator=Generator().manual_seed(0))
    means = {"add_w_hat": 0.88, "multiply_w_hat": 0.88, "add_m_hat": 0.5, "multiply_m_hat": 0.5}
    gates = INALU(1, 10_000, generator=Generator().manual_seed(1)).gate_hat
    drawn = {**{name: unit.get_parameter(name) for name in means}, "gate_hat": gates}
    for name, values in drawn.items():
        assert abs(values.mean() - means.get(name, 0.0)) < 4 * 0.2 / math.sqrt(10_000)
        assert abs(values.std() - 0.2) < 4 * 0.2 / math.sqrt(20_000)
    assert set(drawn) == {name for name, _ in unit.named_parameters()}
