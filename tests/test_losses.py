"""The losses: by hand, against the golden vector, per run, and what they ignore (Mistry 2023, Table 6.3)."""

import json
import math
from pathlib import Path

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from nalm.errors import NALMError
from nalm.losses import LOSSES, mape, mse, pcc, pcc_sequential
from nalm.losses import loss as loss_called

GOLDEN = {
    v["id"]: v for v in json.loads((Path(__file__).parent / "data" / "golden_units.json").read_text("utf-8"))
}
PEARSON = [pcc, pcc_sequential]
every_loss = pytest.mark.parametrize("loss", LOSSES.values(), ids=LOSSES)
seeds = st.integers(0, 2**16)
size = st.floats(0.1, 50)
factor = st.tuples(size, st.booleans()).map(lambda pair: -pair[0] if pair[1] else pair[0])
shift = st.floats(-100, 100)
quick = settings(deadline=None, max_examples=40)


def column(*values: float) -> torch.Tensor:
    return torch.tensor(values, dtype=torch.float64).unsqueeze(-1)


def data(seed: int, shape=(16, 1)) -> tuple[torch.Tensor, torch.Tensor]:
    """Prediction and target of a standard deviation near 100, beside which the losses' epsilon is nothing."""
    generator = torch.Generator().manual_seed(seed)
    prediction, target = 100 * torch.randn((2, *shape), generator=generator, dtype=torch.float64)
    return prediction, target + 0.5 * prediction


def close(actual: torch.Tensor, expected: torch.Tensor, rtol: float = 1e-9) -> None:
    torch.testing.assert_close(actual, expected, rtol=rtol, atol=0)


# -- by hand -----------------------------------------------------------------------------------


def test_the_mean_squared_error_is_the_mean_of_squares():
    close(mse(column(1, 2, 3), column(1, 0, 7)), torch.tensor(20 / 3, dtype=torch.float64))


def test_the_relative_error_divides_by_the_size_of_the_target():
    close(mape(column(1, -3, 5), column(2, -2, 4)), torch.tensor((0.5 + 0.5 + 0.25) / 3, dtype=torch.float64))


@pytest.mark.parametrize("loss", PEARSON)
def test_one_minus_correlation_is_zero_one_or_two(loss):
    target = column(-300, -100, 100, 300)
    for prediction, expected in ((target / 2, 0.0), (-target, 2.0), (column(100, -100, -100, 100), 1.0)):
        torch.testing.assert_close(loss(prediction, target).item(), expected, rtol=0, atol=1e-8)


@pytest.mark.parametrize("loss", PEARSON)
def test_one_minus_correlation_is_what_torch_computes(loss):
    prediction, target = data(0)
    expected = 1 - torch.corrcoef(torch.cat([prediction, target], -1).mT)[0, 1]
    close(loss(prediction, target), expected, rtol=1e-8)


def test_outputs_are_correlated_one_by_one_and_averaged():
    prediction, target = data(1, (16, 3))
    singly = [pcc(prediction[:, [o]], target[:, [o]]) for o in range(3)]
    close(pcc(prediction, target), torch.stack(singly).mean())


def test_the_sequential_form_mixes_outputs_as_its_scripts_do():
    prediction, target = data(2, (16, 3))
    flat = pcc_sequential(prediction.reshape(-1, 1), target.reshape(-1, 1))
    close(pcc_sequential(prediction, target), flat)


@pytest.mark.parametrize(
    ("loss", "golden"), [(mse, "mse"), (pcc, "pcc"), (pcc_sequential, "pcc_seqmnist_form"), (mape, "mape")]
)
def test_a_loss_reproduces_the_golden_vector(loss, golden):
    entry = GOLDEN["g067"]
    prediction, target = (torch.tensor(entry["params"][k], dtype=torch.float64) for k in ("pred", "target"))
    close(loss(prediction, target), torch.tensor(entry["y"][golden], dtype=torch.float64), rtol=1e-10)


# -- runs, shapes, gradients -------------------------------------------------------------------


@every_loss
@pytest.mark.parametrize("runs", [(4,), (2, 3)], ids=str)
def test_the_loss_of_a_population_is_the_loss_of_each_run(loss, runs):
    prediction, target = data(3, (*runs, 8, 2))
    x = seen(target)
    together = loss(prediction, target, x)
    assert together.shape == runs
    rows = zip(*(v.flatten(0, -3) for v in (prediction, target, x)), strict=True)
    close(together.flatten(), torch.stack([loss(*row) for row in rows]), rtol=1e-12)


def seen(target):
    """Inputs of one column, no linear function of the rows' numbers."""
    rows = torch.arange(1, target.shape[-2] + 1, dtype=target.dtype).square()
    return rows.unsqueeze(-1).expand(*target.shape[:-1], 1)


@every_loss
def test_the_inputs_may_be_handed_in(loss):
    prediction, target = data(4)
    if loss.__name__ == "projected":  # which is about them
        with pytest.raises(NALMError, match="needs the inputs"):
            loss(prediction, target)
        return
    close(loss(prediction, target, torch.zeros(16, 2)), loss(prediction, target), rtol=0)


@every_loss
@pytest.mark.parametrize(
    "shapes", [((4, 1), (4, 2)), ((4, 1), (1, 4)), ((4, 1), (4,)), ((4,), (4,))], ids=str
)
def test_other_shapes_are_refused_in_one_sentence_that_names_both(loss, shapes):
    with pytest.raises(NALMError) as caught:
        loss(*map(torch.ones, shapes))
    message = str(caught.value)
    assert str(shapes[0]) in message
    assert str(shapes[1]) in message
    assert message.endswith(".")
    assert message.count(". ") == 0
    assert "\n" not in message


@every_loss
def test_gradients_are_those_of_finite_differences(loss):
    prediction, target = data(5, (3, 8, 2))
    assert torch.autograd.gradcheck(
        lambda p: loss(p, target, seen(target)), prediction.requires_grad_(), eps=1e-3, atol=1e-7
    )


@every_loss
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_constant_prediction_has_finite_gradients(loss, dtype):
    prediction = torch.full((6, 1), 2.0, dtype=dtype, requires_grad=True)
    target = torch.arange(1, 7, dtype=dtype).unsqueeze(-1)
    value = loss(prediction, target, seen(target))
    value.backward()
    assert value.isfinite()
    assert prediction.grad.isfinite().all()
    assert prediction.grad.any()


@every_loss
def test_every_loss_is_found_by_its_name(loss):
    assert LOSSES[loss.__name__] is loss


# -- what a loss is blind to (thesis Table 6.3) ------------------------------------------------


@given(seeds, shift)
@quick
def test_mse_ignores_a_joint_shift(seed, by):
    prediction, target = data(seed)
    close(mse(prediction + by, target + by), mse(prediction, target))


@given(seeds, factor)
@quick
def test_mse_grows_with_the_square_of_a_joint_scale(seed, by):
    prediction, target = data(seed)
    close(mse(by * prediction, by * target), by**2 * mse(prediction, target))


@pytest.mark.parametrize("loss", PEARSON)
@given(seeds, size, shift)
@quick
def test_correlation_ignores_positive_affine_maps_of_either_side(loss, seed, scale, by):
    """To 1e-7: the smallest deviation here is near 5, and epsilon 1.2e-7 is added to it."""
    prediction, target = data(seed)
    expected = loss(prediction, target)
    torch.testing.assert_close(loss(scale * prediction + by, target), expected, rtol=0, atol=1e-7)
    torch.testing.assert_close(loss(prediction, scale * target + by), expected, rtol=0, atol=1e-7)


@pytest.mark.parametrize("loss", PEARSON)
@given(seeds, size, shift)
@quick
def test_a_negative_scale_negates_the_correlation(loss, seed, scale, by):
    prediction, target = data(seed)
    turned = loss(by - scale * prediction, target)
    torch.testing.assert_close(turned, 2 - loss(prediction, target), rtol=0, atol=1e-7)


@given(seeds, factor)
@quick
def test_mape_ignores_a_joint_scale_of_either_sign(seed, by):
    prediction, target = data(seed)
    close(mape(by * prediction, by * target), mape(prediction, target))


def test_mape_notices_a_joint_shift():
    prediction, target = column(1, 2), column(2, 4)
    assert mape(prediction, target).item() == 0.5
    assert math.isclose(mape(prediction + 2, target + 2).item(), (1 / 4 + 2 / 6) / 2)


def test_mse_notices_a_shift_and_a_scale_of_one_side():
    prediction, target = data(6)
    assert mse(prediction + 1, target) != mse(prediction, target)
    assert mse(2 * prediction, target) != mse(prediction, target)


# -- mistakes ----------------------------------------------------------------------------------


@every_loss
@pytest.mark.parametrize(
    ("prediction", "target", "said"),
    [
        ([[1.0]], [[1.0]], "list"),
        (torch.ones(8, 1), None, "NoneType"),
        (torch.ones(8, 1), torch.ones(8, 1).long(), "torch.int64"),
    ],
)
def test_what_is_no_tensor_of_real_numbers_is_refused(loss, prediction, target, said):
    with pytest.raises(NALMError, match=rf"real tensors, got {said}: use torch.as_tensor\(v\).float\(\)\.$"):
        loss(prediction, target)


@every_loss
def test_an_empty_batch_is_refused(loss):
    with pytest.raises(NALMError, match=r"not empty, got \(0, 1\) and \(0, 1\)"):
        loss(torch.ones(0, 1), torch.ones(0, 1))


@pytest.mark.parametrize("shape", [(8, 2), (9,)], ids=str)
def test_inputs_of_other_rows_are_refused(shape):
    with pytest.raises(NALMError, match="needs the inputs of all rows"):
        LOSSES["projected"](torch.ones(9, 1), torch.ones(9, 1), torch.ones(shape))


@pytest.mark.parametrize("name", [["mse"], None, "mze"], ids=str)
def test_an_unknown_name_is_refused(name):
    with pytest.raises(NALMError, match=r"There is no loss called .* Known: mse"):
        loss_called(name)
