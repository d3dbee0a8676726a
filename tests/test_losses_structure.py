"""The losses that ignore a constant, a factor or a linear trend: their values, and what is learnt with them."""

import pytest
import torch

import nalm
from nalm.config import Arithmetic, Case, Layer, Range, Recipe
from nalm.engine import train
from nalm.formulas.truth import right
from nalm.losses import asinh, centred, log, projected


def data(rows=64, columns=3, seed=0, dtype=torch.float64):
    generator = torch.Generator().manual_seed(seed)
    return 1.1 + 0.1 * torch.rand(4, rows, columns, generator=generator, dtype=dtype)


def test_centred_sees_no_shift_and_log_no_factor_or_sign():
    y = data()[..., :1]
    torch.testing.assert_close(centred(y + 5, y), torch.zeros(4, dtype=y.dtype))
    torch.testing.assert_close(log(-7 * y, y), torch.zeros(4, dtype=y.dtype), atol=1e-12, rtol=0)
    assert (centred(1.1 * y, y) > 1e-3).all() and (log(y * y, y) > 0.1).all()


def test_projected_sees_nothing_linear_in_the_inputs():
    x = data()
    y = x[..., :1] * x[..., 1:2]
    linear = 3 + x @ torch.tensor([[1.0], [-2.0], [0.5]], dtype=x.dtype)
    assert (projected(y + linear, y, x) < 1e-9).all()
    torch.testing.assert_close(projected(linear, y, x), torch.ones(4, dtype=x.dtype), atol=1e-6, rtol=0)


def test_projected_is_least_squares():
    x = data()
    y, guess = x[..., :1] * x[..., 1:2], x[..., 2:] ** 2
    basis = torch.cat([torch.ones_like(x[..., :1]), x], -1)

    def rest(v):
        return v - basis @ torch.linalg.lstsq(basis, v).solution

    expected = rest(guess - y).square().mean((-2, -1)) / rest(y).square().mean((-2, -1))
    torch.testing.assert_close(projected(guess, y, x), expected, rtol=1e-4, atol=0)


def test_projected_in_float32_still_tells_a_product_on_a_narrow_range():
    x = data(rows=128, columns=100, dtype=torch.float32)
    a, b = x[..., :25].sum(-1, keepdim=True), x[..., 13:38].sum(-1, keepdim=True)
    assert (projected(a * b, a * b, x) < 1e-3).all()
    assert (projected(a * a, a * b, x) > 0.1).all()


@pytest.mark.parametrize("rows", [1, 3, 4])
def test_too_few_rows_are_refused(rows):
    x = data(rows)
    with pytest.raises(nalm.NALMError, match=r"more rows than columns \+ 1"):
        projected(x[..., :1], x[..., :1], x)


def test_losses_compile_and_are_finite_for_constant_targets():
    x = torch.ones(4, 16, 2)
    for loss in (centred, log, projected):
        value = torch.compile(loss, backend="aot_eager")(x[..., :1] * 2, x[..., :1], x)
        assert value.isfinite().all()


CELLS = {
    "centred": Case(
        (Layer("NAU"),), Arithmetic("add", Range(1.1, 1.2), Range(1.2, 6), inputs=5), Recipe(2_000, lr=1e-2)
    ),
    "log": Case(
        (Layer("ModifiedRealNPU"),),
        Arithmetic("divide", Range(-2, 2), Range(2, 6), inputs=4),
        Recipe(3_000, lr=2e-2),
    ),
}


@pytest.mark.parametrize("loss", ["centred", pytest.param("log", marks=pytest.mark.slow)])
@pytest.mark.system
def test_a_unit_learns_in_the_engine_what_squared_errors_hide(loss):
    recipe = CELLS[loss].recipe.replace(loss=loss, schedule="cosine")
    runs = train(CELLS[loss].replace(recipe=recipe), range(4), "cpu", compiled=False)
    assert all(right(case, s, f) for case, s, f in zip(runs.cases, runs.seeds, runs.formulas, strict=True))


def test_the_asinh_loss_grows_slowly_and_has_no_unit_of_measurement():
    y = torch.tensor([[1.0], [3.0], [-2.0]])
    losses = [float(asinh(factor * y, y)) for factor in (1.0, 2.0, 1e6)]
    assert losses[0] == 0 and losses[1] < losses[2] < 2 * losses[1]
    assert float(asinh(2e9 * y, 1e9 * y)) == pytest.approx(losses[1], rel=1e-5)


SCALE_FREE = ("centred", "projected", "paths", "experts", "asinh")


@pytest.mark.parametrize("name", SCALE_FREE)
@pytest.mark.parametrize("power", [-95, -60, -40, 40, 62, 100, 120])
def test_a_wrong_prediction_is_as_wrong_in_any_unit_of_measurement(name, power):
    x, scale = data(columns=2, dtype=torch.float32), 2.0**power
    y, guess = x[..., :1] * x[..., 1:], x[..., 1:] * x[..., 1:] + x[..., :1]
    guess.requires_grad_()
    value, expected = nalm.loss(name)(guess * scale, y * scale, x), nalm.loss(name)(guess, y, x)
    torch.testing.assert_close(value, expected, rtol=2e-6, atol=0)
    assert (value > 1e-3).all()
    (slope,) = torch.autograd.grad(value.sum(), guess)
    rounding = 1e-3 if name == "paths" else 1e-5  # logarithms of large numbers are coarse
    wanted = torch.autograd.grad(expected.sum(), guess)[0]
    torch.testing.assert_close(slope, wanted, rtol=0, atol=rounding * wanted.abs().max().item())


def test_projected_does_not_depend_on_the_unit_of_measurement_of_the_inputs():
    x = data(columns=2, dtype=torch.float32)
    y, guess = x[..., :1] * x[..., 1:], x[..., 1:] * x[..., 1:]
    for power in (-80, 80):
        torch.testing.assert_close(projected(guess, y, x * 2.0**power), projected(guess, y, x))


@pytest.mark.parametrize("name", SCALE_FREE)
def test_runs_of_other_sizes_and_targets_of_0_change_nothing(name):
    x = data(columns=2, dtype=torch.float32)
    y = (x[..., :1] * x[..., 1:]) * torch.tensor([1.0, 1e25, 1e-25, 0.0]).reshape(4, 1, 1)
    guess = (1.5 * y + 0.1 * x[..., :1].square() * y).requires_grad_()
    values = nalm.loss(name)(guess, y, x)
    alone = torch.stack([nalm.loss(name)(*rows) for rows in zip(guess, y, x, strict=True)])
    torch.testing.assert_close(values, alone)
    (slope,) = torch.autograd.grad(nalm.loss(name)(guess + 1, y, x)[3], guess)
    assert slope.isfinite().all()
