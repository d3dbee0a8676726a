"""The reductions the units are made of: both ways of computing them, zeros, precision and what they call."""

import itertools
import math

import pytest
import torch

from nalm import functional as F

SIZES = (1, 2, 3, 7, 16, 17, 33, 100)
REDUCTIONS = {
    "linear": F.linear,
    "total": lambda x, w: F.total(lambda x_i, w_i: torch.sin(w_i * x_i), x, w),
    "product": lambda x, w: F.product(lambda x_i, w_i: 1 + w_i * x_i, x, w),
    "gated_product": F.gated_product,
    "power_product": F.power_product,
    "log_product": F.log_product,
}
IN_LOOPS = {
    "linear": lambda x, w: sum(w_i * x_i for x_i, w_i in zip(x, w, strict=True)),
    "total": lambda x, w: sum(math.sin(w_i * x_i) for x_i, w_i in zip(x, w, strict=True)),
    "product": lambda x, w: math.prod(1 + w_i * x_i for x_i, w_i in zip(x, w, strict=True)),
    "gated_product": lambda x, w: math.prod(w_i * x_i + 1 - w_i for x_i, w_i in zip(x, w, strict=True)),
    "power_product": lambda x, w: math.prod(x_i**w_i for x_i, w_i in zip(x, w, strict=True)),
    "log_product": lambda x, w: math.prod(x_i**w_i for x_i, w_i in zip(x, w, strict=True)),
}
jit_is_old = pytest.mark.filterwarnings("ignore:`torch.jit.script` is deprecated:DeprecationWarning")


def problem(size: int, runs: tuple[int, ...] = (), batch: int = 3, out: int = 2):
    """x near 1 and w in [0, 1), so that products of a hundred factors stay in range."""
    generator = torch.Generator().manual_seed(size)
    x = 0.5 + torch.rand((*runs, batch, size), generator=generator, dtype=torch.float64)
    return x, torch.rand((*runs, out, size), generator=generator, dtype=torch.float64)


def zeros(size: int, *places: int):
    """A problem whose factors are exactly 0 at these places: x = 0 and w = 1 there."""
    x, w = problem(size, batch=1, out=1)
    x[..., list(places)], w[..., list(places)] = 0.0, 1.0
    return x, w


def others(factors: list[float], *left_out: int) -> float:
    return math.prod(f for i, f in enumerate(factors) if i not in left_out)


@pytest.mark.parametrize("runs", [(), (4,), (2, 3)], ids=str)
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", REDUCTIONS)
def test_a_reduction_is_the_same_written_out_and_not(monkeypatch, name, size, runs):
    x, w = problem(size, runs)
    usual = REDUCTIONS[name](x, w)
    monkeypatch.setattr(F, "UNROLL", 0)
    whole = REDUCTIONS[name](x, w)
    monkeypatch.setattr(F, "UNROLL", 1000)
    written_out = REDUCTIONS[name](x, w)
    assert usual.shape == (*runs, 3, 2)
    torch.testing.assert_close(whole, usual, rtol=1e-12, atol=1e-13)
    torch.testing.assert_close(written_out, usual, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("size", [1, 3, 16, 17, 33])
@pytest.mark.parametrize("name", REDUCTIONS)
def test_a_reduction_is_what_a_loop_computes(name, size):
    x, w = problem(size)
    expected = [[IN_LOOPS[name](row, weights) for weights in w.tolist()] for row in x.tolist()]
    torch.testing.assert_close(
        REDUCTIONS[name](x, w), torch.tensor(expected, dtype=x.dtype), rtol=1e-12, atol=1e-13
    )


@pytest.mark.parametrize("size", [3, 16, 20])
@pytest.mark.parametrize("places", [(1,), (0, 2), (0, 1, 2)], ids=str)
def test_gradients_are_right_where_factors_are_zero(size, places):
    x, w = zeros(size, *places)
    F.gated_product(x.requires_grad_(), w.requires_grad_()).sum().backward()
    x_, w_ = x.flatten().tolist(), w.flatten().tolist()
    factors = [b * a + (1 - b) for a, b in zip(x_, w_, strict=True)]
    rest = torch.tensor([others(factors, i) for i in range(size)], dtype=x.dtype)
    assert (rest != 0).sum() == (len(places) == 1)
    torch.testing.assert_close(x.grad.flatten(), w.detach().flatten() * rest)
    torch.testing.assert_close(w.grad.flatten(), (x.detach().flatten() - 1) * rest)


@pytest.mark.parametrize("places", [(1,), (0, 2)], ids=str)
@pytest.mark.parametrize("size", [3, 20])
def test_finite_differences_agree_where_factors_are_zero_to_second_order(size, places):
    x, w = (t.requires_grad_() for t in zeros(size, *places))
    assert torch.autograd.gradcheck(F.gated_product, (x, w))
    assert torch.autograd.gradgradcheck(F.gated_product, (x, w))


def test_a_power_of_zero_is_exact_and_has_finite_gradients():
    size = torch.tensor([[0.0, 2.0]], dtype=torch.float64, requires_grad=True)
    weight = torch.tensor(
        [[1.0, 3.0], [0.0, -1.0], [2.0, 0.0], [0.5, 1.0]], dtype=torch.float64, requires_grad=True
    )
    y = F.power_product(size, weight)
    assert y.tolist() == [[0.0, 0.5, 0.0, 0.0]]
    y.sum().backward()
    assert size.grad.isfinite().all()
    assert size.grad[0, 1] == -0.25  # of 0 ** 0 / 2
    assert weight.grad.isfinite().all()
    assert math.isclose(weight.grad[1, 1], 0.5 * math.log(2))


@jit_is_old
@pytest.mark.parametrize("size", [4, 20])
def test_hessian_and_forward_mode_are_right_where_factors_are_zero(size):
    x, w = zeros(size, 0, 2)
    factors = (w * x + (1 - w)).flatten().tolist()
    w_ = w.flatten().tolist()
    expected = torch.zeros(size, size, dtype=x.dtype)
    for i, j in itertools.permutations(range(size), 2):
        expected[i, j] = w_[i] * w_[j] * others(factors, i, j)
    assert (expected != 0).sum() == 2  # d²y / dx_0 dx_2 alone
    hessian = torch.func.hessian(lambda v: F.gated_product(v.unsqueeze(0), w).sum())(x[0])
    torch.testing.assert_close(hessian, expected)

    x, w = zeros(size, 1)
    tangent = torch.randn(x.shape, generator=torch.Generator().manual_seed(1), dtype=x.dtype)
    _, forward = torch.func.jvp(lambda v: F.gated_product(v, w), (x,), (tangent,))
    rest = others((w * x + (1 - w)).flatten().tolist(), 1)
    torch.testing.assert_close(forward.squeeze(), tangent[0, 1] * rest)


@pytest.mark.parametrize("size", [1, 2, 16, 17, 40])
def test_a_weight_of_one_keeps_a_tiny_input_exactly(size):
    x = torch.full((1, size), 3.0)
    x[0, -1] = 1e-30
    w = torch.zeros(1, size)
    w[0, -1] = 1.0
    assert F.gated_product(x, w).item() == x[0, -1].item() != 0


def test_a_sum_has_full_precision_under_autocast():
    generator = torch.Generator().manual_seed(0)
    x = torch.rand(5, 100, generator=generator)
    w = torch.rand(3, 100, generator=generator).requires_grad_()
    expected = F.linear(x, w)
    (grad,) = torch.autograd.grad(expected.sum(), w)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert torch.matmul(x, w.mT).dtype == torch.bfloat16  # what would happen without care
        y = F.linear(x, w)
        few = F.linear(x[:, :16], w[:, :16])
    assert y.dtype == few.dtype == torch.float32
    assert torch.equal(y, expected)
    assert torch.equal(torch.autograd.grad(y.sum(), w)[0], grad)
    assert torch.equal(few, F.linear(x[:, :16], w[:, :16]))


WAITS = {"aten::prod", "aten::item", "aten::_local_scalar_dense", "aten::nonzero"}


def operators(work) -> set[str]:
    """The names of all operators that run, those of the backward pass included."""
    with torch.autograd.profiler.profile() as profile:
        work()
    return {event.name for event in profile.function_events}


def test_the_profiler_would_notice_prod_and_waiting():
    x = torch.zeros(3, requires_grad=True)
    assert {"aten::prod", "aten::nonzero"} <= operators(lambda: x.prod().backward())
    assert "aten::item" in operators(lambda: x.sum().item())


@pytest.mark.parametrize("size", [3, 16, 17, 40])
@pytest.mark.parametrize("name", [n for n in REDUCTIONS if n != "log_product"])
def test_no_reduction_calls_prod_or_waits_for_the_device(name, size):
    x, w = (t.requires_grad_() for t in zeros(size, 1))

    def twice_differentiated():
        y = REDUCTIONS[name](x, w)
        grad, _ = torch.autograd.grad(y.sum(), (x, w), create_graph=True)
        grad.square().sum().backward()

    seen = operators(twice_differentiated)
    assert "aten::mul" in seen
    assert not seen & WAITS


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_the_inverses_are_exact_on_the_grids(dtype):
    weight = torch.tensor([-1.0, -0.5, 0.0, 0.5, 1.0], dtype=dtype)
    raw = F.signed_unit_inverse(weight)
    assert all(r.dtype == dtype and r.isfinite().all() for r in raw)
    assert torch.equal(F.signed_unit(*raw), weight)
    assert torch.equal(torch.sigmoid(F.sigmoid_inverse(weight[2:])), weight[2:])


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_the_inverses_invert_between_the_grids(dtype):
    weight = torch.linspace(-0.999, 0.999, 101, dtype=dtype)
    torch.testing.assert_close(F.signed_unit(*F.signed_unit_inverse(weight)), weight)
    torch.testing.assert_close(torch.sigmoid(F.sigmoid_inverse(weight.abs())), weight.abs())
