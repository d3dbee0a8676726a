"""Moments and initialisation (draft of Madsen & Johansen 2020, section 2.3) by Monte Carlo.

Where a printed formula is wrong, the right one is asserted, and beside it that the printed one fails.
"""

import math

import pytest
import torch
from torch.func import functional_call

from nalm import functional as F
from nalm.units import NAC, NMU, NACMul
from nalm.units.nac import nac_start


def uniform(seed):
    """Draws u(low, high, *shape) from one seeded generator, in float64."""
    generator = torch.Generator().manual_seed(seed)
    return lambda low, high, *shape: (
        low + (high - low) * torch.rand(shape, generator=generator, dtype=torch.float64)
    )


def equation_8(r: float) -> float:
    return (1 - math.tanh(r) / r) * (r - math.tanh(r / 2)) / (2 * r)


@pytest.mark.parametrize("r", [0.3, 2.0, 9.0])
def test_the_variance_of_the_nac_weight_is_equation_8(r):
    u, n = uniform(8), 1_000_000
    weight = F.signed_unit(u(-r, r, n), u(-r, r, n))
    assert weight.var().item() == pytest.approx(equation_8(r), rel=0.005)


def test_the_nac_start_solves_equation_8_for_the_variance_of_glorot():
    published = {(1, 1): 9.4714, (2, 3): 9.4714, (4, 2): 5.4255, (10, 1): 2.2605, (100, 1): 0.5066}
    for (inputs, outputs), r in published.items():
        assert nac_start(inputs, outputs) == pytest.approx(r, abs=5e-5)
        target = 2 / max(inputs + outputs, 5)
        assert equation_8(nac_start(inputs, outputs)) == pytest.approx(target, rel=1e-5)
    unit = NAC(300, 200, generator=torch.Generator().manual_seed(9), dtype=torch.float64)
    assert unit.weights()["weight"].var().item() == pytest.approx(2 / 500, rel=0.03)


RUNS, INPUTS, OUTPUTS = 400_000, 8, 2


def back_through(unit, parameters, z, u):
    """Outputs of RUNS independent layers, and dL/dz of their inputs for independent dL/dy of variance 1/3."""
    z = z.requires_grad_()
    y = functional_call(unit, parameters, z)
    (to_input,) = torch.autograd.grad(y, z, u(-1, 1, *y.shape))
    return y.detach(), to_input


def test_the_moments_of_the_nac_product_are_those_of_equation_9():
    # Second order in W and z, so right for small variances: to 1 % in E - 1 and to 2 % in Var here.
    u, r, mean, half = uniform(10), 0.3, 3.0, 0.5
    shape = (RUNS // 2, OUTPUTS, INPUTS)
    w_hat, m_hat = u(-r, r, *shape), u(-r, r, *shape)
    pairs = {"w_hat": torch.cat([w_hat, -w_hat]), "m_hat": torch.cat([m_hat, m_hat])}  # less noise
    z = u(mean - half, mean + half, RUNS, 1, INPUTS)
    unit = NACMul(INPUTS, OUTPUTS, dtype=torch.float64)
    y, to_input = back_through(unit, pairs, z, u)

    var_w, var_z, size = equation_8(r), half**2 / 3, mean + unit.eps

    def f(c1, c2):
        return (1 + c1 / 2 * var_w * math.log(size) ** 2) ** (c2 * INPUTS)

    assert y.mean().item() - 1 == pytest.approx(f(1, 1) - 1, rel=0.01)
    assert y.var().item() == pytest.approx(f(4, 1) - f(1, 2), rel=0.02)
    spread = to_input.std().item() / math.sqrt(to_input.numel())
    assert to_input.mean().item() == pytest.approx(0, abs=4 * spread)
    # E[y^2] is f(4, 1), where eq. 9 prints f(2, 1). It remains an approximation: y is taken as uncorrelated
    # with W, although E[W^2 y^2] has E[W^4] = 1.8 Var[W]^2 where the product has Var[W]^2; 1.4 % here.
    rest = OUTPUTS / 3 * var_w * (1 / size**2 + 3 / size**4 * var_z)
    assert to_input.var().item() == pytest.approx(rest * f(4, 1), rel=0.025)
    assert to_input.var().item() != pytest.approx(rest * f(2, 1), rel=0.06)


@pytest.mark.parametrize("var_z", [1.0, 0.1])
def test_the_moments_of_the_nmu_are_those_of_equation_10(var_z):
    # Exact for independent z of mean 0 and W of mean 1/2; here W starts as published, U[1/4, 3/4].
    u, inputs, half = uniform(11), 3, math.sqrt(3 * var_z)
    weight = u(0.25, 0.75, RUNS, OUTPUTS, inputs)
    unit = NMU(inputs, OUTPUTS, dtype=torch.float64)
    y, to_input = back_through(unit, {"weight": weight}, u(-half, half, RUNS, 1, inputs), u)

    second = 1 / 48 + 1 / 4  # Var[W] + 1/4
    assert y.mean().item() == pytest.approx(0.5**inputs, rel=0.01)
    assert y.var().item() == pytest.approx((second * (var_z + 1)) ** inputs - 0.25**inputs, rel=0.015)
    spread = to_input.std().item() / math.sqrt(to_input.numel())
    assert to_input.mean().item() == pytest.approx(0, abs=4 * spread)
    # With E[dL/dy] = 0 it is E[(dy/dz)^2] that counts, where eq. 10 prints Var[dy/dz]: (1/4)^H too little.
    exact = second**inputs * (var_z + 1) ** (inputs - 1)
    assert to_input.var().item() == pytest.approx(OUTPUTS / 3 * exact, rel=0.01)
    assert to_input.var().item() != pytest.approx(OUTPUTS / 3 * (exact - 0.25**inputs), rel=0.1)


def test_the_gradient_of_the_nac_gate_is_zero_at_first_only_if_that_of_the_weight_does_not_depend_on_it():
    # Equation 2.38 of Mistry 2023 splits E[dL/dW dW/dM]. That holds for a dL/dW that is independent of W, but the
    # squared error's is not: its expectation is 2 E[x^2] E[tanh^2] E[sigma sigma'].
    u, r, runs = uniform(12), 2.0, 400_000
    w_hat, m_hat = u(-r, r, runs, 1, 3), u(-r, r, runs, 1, 3).requires_grad_()
    x, target = u(1, 2, runs, 1, 3), u(1, 2, runs, 1, 1)
    y = functional_call(NAC(3, 1, dtype=torch.float64), {"w_hat": w_hat, "m_hat": m_hat}, x)
    for loss, expected in (
        ((y * u(0, 2, *y.shape)).sum(), 0.0),
        ((y - target).square().sum(), 2 * 7 / 3 * (1 - math.tanh(r) / r) * math.tanh(r / 2) / (4 * r)),
    ):
        (found,) = torch.autograd.grad(loss, m_hat, retain_graph=True)
        spread = found.std().item() / math.sqrt(found.numel())
        assert found.mean().item() == pytest.approx(expected, abs=4 * spread)
    assert expected > 20 * spread
