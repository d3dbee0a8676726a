"""Reversible noise: exact at solved weights for every rule, without effect where a unit is linear or a power."""

import pytest
import torch

from nalm.errors import NALMError
from nalm.units import INALU, NAU, NMRU, NMU, NRU, SNMRU, SNMU, SNRU, UNITS, ModifiedRealNPU, SModifiedRealNPU
from nalm.units.reversible import undone

RULES = {name: unit for name, unit in UNITS.items() if unit.inverse}
NEVER = ("NAC", "NAU", "INAC", "NACMul", "IMNAC", "ScientificNPU")  # units on which the noise has no effect
NOISED = {SNMRU: NMRU, SNRU: NRU, SModifiedRealNPU: ModifiedRealNPU, SNMU: NMU}
G = torch.Generator().manual_seed(0)
X = (torch.rand(64, 2, generator=G) + 0.5) * (torch.rand(64, 2, generator=G) - 0.5).sign()
N = 1 + 4 * torch.rand(64, 2, generator=G)


def solved(unit, operation):
    return unit.solved(operation, in_features=2 if unit.ignores else None).double().eval()


@pytest.mark.parametrize("name", RULES)
def test_at_solved_weights_the_noise_is_undone(name):
    for operation in RULES[name].gold:
        unit, x = solved(RULES[name], operation), X.double().abs()
        torch.testing.assert_close(undone(unit, x, N.double()), unit(x), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", RULES)
def test_elsewhere_it_acts_unless_the_unit_is_linear_or_a_power(name):
    unit = UNITS[name](2, 1, generator=torch.Generator().manual_seed(1)).double().exact_().eval()
    same = torch.allclose(undone(unit, X.double(), N.double()), unit(X.double()), rtol=1e-9)
    expected = name in NEVER or name in ("NaiveNPU",)
    assert same == expected, f"{name}: the noise {'has no' if same else 'has an'} effect"


@pytest.mark.parametrize("cls", NOISED, ids=lambda c: c.__name__)
def test_evaluation_is_the_unit_without_noise(cls):
    noisy, plain = cls(2, 1, generator=torch.Generator().manual_seed(0)).eval(), NOISED[cls](2, 1).eval()
    plain.load_state_dict({n: t for n, t in noisy.state_dict().items() if not n.startswith("noise")})
    assert torch.equal(noisy(X), plain(X))


@pytest.mark.parametrize("cls", NOISED, ids=lambda c: c.__name__)
def test_given_noise_is_used_and_undone(cls):
    unit = cls(2, 1, generator=torch.Generator().manual_seed(0))
    assert torch.equal(unit(X, noise=N), unit.compute(X * N) / unit.compute(N))
    with pytest.raises(NALMError, match="needs noise of x's shape"):
        unit(X, noise=N[:3])


def test_lognormal_noise_has_its_mass_between_the_ends():
    unit = SNMRU(
        2, 1, noise_range=(1.0, 4.0), distribution="lognormal", generator=torch.Generator().manual_seed(0)
    )
    drawn = unit.draw(torch.ones(20_000, 2))
    inside = ((drawn > 1) & (drawn < 4)).float().mean()
    assert (drawn > 0).all() and 0.94 < inside < 0.97
    assert abs(drawn.log().mean() - torch.tensor(4.0).log() / 2) < 0.02


def test_a_learnt_width_starts_at_the_range_and_gets_a_gradient():
    unit = SNMRU(2, 1, distribution="learnt", generator=torch.Generator().manual_seed(0))
    drawn = unit.draw(torch.ones(5_000, 2))
    assert drawn.min() >= 1 and 4.9 < drawn.max() <= 5
    unit(X).square().sum().backward()
    assert bool((unit.log_width.grad != 0).all())
    assert "log_width" not in dict(SNMRU(2, 1).named_parameters())


def test_a_unit_without_a_rule_and_wrong_options_are_refused():
    with pytest.raises(NALMError, match="has no rule"):
        undone(INALU(2, 1), X, N)
    with pytest.raises(NALMError, match="distribution of noise"):
        SNRU(2, 1, distribution="cauchy")
    with pytest.raises(NALMError, match="0 < low < high"):
        SNRU(2, 1, noise_range=(-1.0, 2.0))
    with pytest.raises(NALMError, match="uniform noise"):
        SNMU(2, 1, noise_range="batch", distribution="learnt")


def test_a_sum_is_undone_by_subtraction_for_any_weights():
    unit = NAU(2, 1, generator=torch.Generator().manual_seed(0)).double()
    torch.testing.assert_close(undone(unit, X.double(), N.double()), unit(X.double()))
