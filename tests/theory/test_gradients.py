"""The papers' gradients against autograd: draft of Madsen & Johansen 2020, section 2; Mistry 2023, eq. 5.3, appendix H.

Where a printed formula is wrong, the right one is asserted, and beside it that the printed one fails.
"""

import functools

import pytest
import torch
from torch import Tensor

from nalm.losses import mse
from nalm.units import NAC, NAU, NMU, NRU, SNMU, NACMul

close = functools.partial(torch.testing.assert_close, rtol=1e-9, atol=1e-11)


def uniform(seed):
    """Draws u(low, high, *shape) from one seeded generator, in float64."""
    generator = torch.Generator().manual_seed(seed)
    return lambda low, high, *shape: (
        low + (high - low) * torch.rand(shape, generator=generator, dtype=torch.float64)
    )


def built(cls, inputs, outputs, options=None, **parameters):
    unit = cls(inputs, outputs, dtype=torch.float64, **(options or {}))
    with torch.no_grad():
        for name, value in parameters.items():
            unit.get_parameter(name).copy_(value)
    return unit


def differs(actual: Tensor, wrong: Tensor) -> bool:
    return not torch.allclose(actual, wrong, rtol=1e-2, atol=1e-6)


# -- gradients of single units ------------------------------------------------------------------


def equation_2(unit, to_weight: Tensor) -> tuple[Tensor, Tensor]:
    """dL/dW_hat and dL/dM_hat from dL/dW, draft of Madsen & Johansen 2020, eq. 2."""
    t, s = torch.tanh(unit.w_hat), torch.sigmoid(unit.m_hat)
    return (to_weight * (1 - t**2) * s).detach(), (to_weight * t * s * (1 - s)).detach()


def test_the_nac_gradients_are_equation_2():
    u = uniform(1)
    unit = built(NAC, 4, 3, w_hat=u(-2, 2, 3, 4), m_hat=u(-2, 2, 3, 4))
    x, delta = u(-3, 3, 5, 4), u(-1, 1, 5, 3)  # delta = dL/dz, so that dL/dW = delta^T x
    (delta * unit(x)).sum().backward()
    close((unit.w_hat.grad, unit.m_hat.grad), equation_2(unit, delta.T @ x))


@pytest.mark.parametrize("eps", [0.0, 1e-7, 0.05])
def test_the_nac_product_gradients_are_equation_4(eps):
    u = uniform(2)
    unit = built(NACMul, 4, 3, {"eps": eps}, w_hat=u(-2, 2, 3, 4), m_hat=u(-2, 2, 3, 4))
    x, delta = u(-3, 3, 5, 4).requires_grad_(), u(-1, 1, 5, 3)
    z = unit(x)
    (delta * z).sum().backward()
    with torch.no_grad():
        weight = unit.weights()["weight"]
        to_weight = (delta * z).T @ (x.abs() + eps).log()
        to_input = (delta * z) @ weight * x.sign() / (x.abs() + eps)
    close((unit.w_hat.grad, unit.m_hat.grad), equation_2(unit, to_weight))
    close(x.grad, to_input)


def test_the_nmu_gradients_are_equation_6():
    u = uniform(3)
    weight = u(0, 1, 3, 4)
    unit = built(NMU, 4, 3, weight=weight)
    x, delta = u(-3, 3, 5, 4).requires_grad_(), u(-1, 1, 5, 3)
    z = unit(x)
    (delta * z).sum().backward()
    with torch.no_grad():
        others = z.unsqueeze(-1) / (weight * x.unsqueeze(1) + 1 - weight)  # (batch, out, in)
        to_weight = (delta.unsqueeze(-1) * others * (x.unsqueeze(1) - 1)).sum(0)
        to_input = (delta.unsqueeze(-1) * others * weight).sum(1)
        printed = (others * weight).sum(1)  # the last term of eq. 6 forgets dL/dz
    close(unit.weight.grad, to_weight)
    close(x.grad, to_input)
    assert differs(x.grad, printed)


def equation_5_3(weight: Tensor, x: Tensor, exponent: Tensor) -> Tensor:
    """dy_o/dw_oi for one sample x, thesis eq. 5.3, as (out, in)."""
    outputs, inputs = weight.shape
    t, s = torch.tanh(1000 * weight), 1 / torch.cosh(1000 * weight)
    power = x.sign() * x.abs() ** exponent
    own = t * (power * (t * x.abs().log() + 2000 * s**2) - 2000 * s**2)
    rest = [[j for j in range(inputs) if j != i] for i in range(inputs)]
    others = [built(NRU, inputs - 1, outputs, weight=weight[:, r])(x[r]).detach() for r in rest]
    return own * torch.stack(others, -1)


@pytest.mark.parametrize("size", [1.0, 2e-3], ids=["ordinary", "surrogate-active"])
def test_the_nru_gradient_is_equation_5_3(size):
    u = uniform(4)
    weight, x = u(-size, size, 3, 4), torch.tensor([-2.5, 0.3, -0.7, 4.0], dtype=torch.float64)
    unit = built(NRU, 4, 3, weight=weight).train()
    unit(x).sum().backward()
    close(unit.weight.grad, equation_5_3(weight, x, weight))
    # Document 000 eq. 6 prints |x_i| for |x_i|^w_i.
    assert differs(unit.weight.grad, equation_5_3(weight, x, torch.ones_like(weight)))


def test_the_nru_gradient_at_inputs_of_size_one_vanishes_except_at_minus_one_for_small_weights():
    # The thesis says below eq. 5.3 that it does "regardless of the value of w", and that it is 0 at w = 0.
    def slopes(w, inputs):
        unit = built(NRU, 1, 1, weight=torch.tensor([[w]], dtype=torch.float64))
        x = torch.tensor(inputs, dtype=torch.float64).reshape(-1, 1)
        return [torch.autograd.grad(unit(x_n).sum(), unit.weight)[0].item() for x_n in x]

    assert slopes(0.5, [1, -1]) == pytest.approx([0, 0], abs=1e-9)
    assert slopes(5e-4, [1, -1]) == pytest.approx([0, -1453.7], abs=0.05)
    assert slopes(0.0, [1, -1, 2.5, -0.3]) == [0, 0, 0, 0]


# -- gradients of two layers: thesis appendix H; its W^A (in, hidden) and W^M (hidden, 1) are ours transposed


def stacked(seed, inputs, hidden, second=NMU):
    u = uniform(seed)
    first = built(NAU, inputs, hidden, weight=u(-0.9, 0.9, hidden, inputs))
    return u, first, built(second, hidden, 1, weight=u(0.1, 0.9, 1, hidden))


def without(values: Tensor, left_out: int) -> Tensor:
    return values[[j for j in range(len(values)) if j != left_out]]


def test_the_gradients_of_a_3_2_1_nau_nmu_are_those_of_appendix_h_2():
    u, nau, nmu = stacked(5, 3, 2)
    x, y = u(-2, 2, 1, 3), u(-2, 2, 1, 1)
    prediction = nmu(nau(x))
    mse(prediction, y).backward()
    a, m = nau.weight.detach().T, nmu.weight.detach().T
    x1, x2, x3 = x[0]
    z1 = x1 * a[0, 0] + x2 * a[1, 0] + x3 * a[2, 0]
    z2 = x1 * a[0, 1] + x2 * a[1, 1] + x3 * a[2, 1]
    first, second = m[0, 0] * z1 + 1 - m[0, 0], m[1, 0] * z2 + 1 - m[1, 0]
    close(prediction[0, 0].detach(), first * second)
    residual = -2 * (y[0, 0] - first * second)
    close(nau.weight.grad.T[0, 0], residual * m[0, 0] * x1 * second)
    close(nau.weight.grad.T[0, 1], residual * first * m[1, 0] * x1)
    close(nmu.weight.grad.T[0, 0], residual * (z1 - 1) * second)


def test_the_gradients_of_any_nau_nmu_are_those_of_appendix_h_3():
    u, nau, nmu = stacked(6, 4, 3)
    x, y = u(-2, 2, 5, 4), u(-2, 2, 5, 1)
    prediction = nmu(nau(x))
    mse(prediction, y).backward()
    a, m = nau.weight.detach().T, nmu.weight.detach()[0]
    to_a, to_m = torch.zeros_like(a), torch.zeros_like(m)
    for x_n, residual in zip(x, -2 * (y - prediction.detach())[:, 0], strict=True):  # H.1: the mean over n
        z = x_n @ a
        for k in range(3):  # the thesis' l
            others = without(m * z + 1 - m, k).prod()
            to_a[:, k] += residual * m[k] * x_n * others / len(x)
            to_m[k] += residual * (z[k] - 1) * others / len(x)
    close(nau.weight.grad.T, to_a)
    close(nmu.weight.grad[0], to_m)


def nau_snmu(inputs, hidden):
    """Gradients of a NAU-sNMU under fixed noise, and what appendix H.4.2 is written in."""
    u, nau, snmu = stacked(7, inputs, hidden, SNMU)
    x, y, n = u(-2, 2, 1, inputs), u(-2, 2, 1, 1), u(1, 5, 1, hidden)
    prediction = snmu(nau(x), noise=n)
    mse(prediction, y).backward()
    residual = -2 * (y - prediction.detach())[0, 0]
    weights = nau.weight.detach().T, snmu.weight.detach()[0]
    return nau.weight.grad.T, snmu.weight.grad[0], (*weights, x[0], n[0], residual)


@pytest.mark.parametrize(("inputs", "hidden"), [(4, 3), (3, 3), (1, 2)])
def test_the_gradients_of_a_nau_snmu_are_those_of_appendix_h_4_with_its_indices_corrected(inputs, hidden):
    actual_a, actual_m, (a, m, x, n, residual) = nau_snmu(inputs, hidden)
    z = x @ a
    noised, denoising = n * m * z + 1 - m, n * m + 1 - m
    d = denoising.prod()
    to_a, to_m = torch.zeros_like(a), torch.zeros_like(m)
    for k in range(hidden):  # the thesis' l
        others = without(noised, k).prod()  # its A, which leaves l out
        to_a[:, k] = residual * others / d * m[k] * n[k] * x
        bracket = d * (n[k] * z[k] - 1) - noised[k] * (n[k] - 1) * without(denoising, k).prod()
        to_m[k] = residual * others / d**2 * bracket
    close(actual_a, to_a)
    close(actual_m, to_m)


def test_the_indices_printed_in_appendix_h_4_2_do_not_give_the_gradient_of_a_nau_snmu():
    # W^M_{i,1} N_{1,i} X_{1,i} for W^M_{l,1} N_{1,l} X_{1,i}; it can be evaluated where I = O.
    actual, _, (a, m, x, n, residual) = nau_snmu(3, 3)
    noised, d = n * m * (x @ a) + 1 - m, (n * m + 1 - m).prod()
    others = torch.stack([without(noised, k).prod() for k in range(3)])
    printed = residual / d * torch.outer(m * n * x, others)
    assert differs(actual, printed)
    close(actual.diagonal(), printed.diagonal())  # where i = l the two are the same
