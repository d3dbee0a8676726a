"""Targets that are noisy or not finite: what training and evaluation make of them."""

import pytest
import torch

from nalm import losses
from nalm.config import Arithmetic, Case, Layer, Range
from nalm.engine.numbers.data import Data
from nalm.engine.numbers.settings import settings
from nalm.engine.plan import product
from nalm.errors import NALMError
from nalm.tasks.threshold import METRICS
from nalm.units import NMRU, NRU, ModifiedRealNPU

CPU = torch.device("cpu")


def case(noise):
    return Case((Layer("NAU"),), Arithmetic("add", Range(-2, 2), Range(-2, 2), noise=noise))


def batch(noises, step=3, rows=4_000):
    runs = [run for noise in noises for run in product([case(noise)], (0, 1))]
    data = Data(runs, CPU)
    grid = data.grid(rows)
    s = settings([r.case for r in runs], [r.seed for r in runs], grid) | data.settings()
    x, y = data.batch(torch.tensor(step, dtype=torch.int32), s)
    return x, y, data


def test_noise_has_the_size_that_each_run_asks_for():
    x, y, data = batch((0.1, 2.0))
    truth = data.target(x)
    error = (y - truth).squeeze(-1)
    sizes = error.std(-1) / truth.squeeze(-1).std(-1)
    torch.testing.assert_close(sizes, torch.tensor([0.1, 0.1, 2.0, 2.0]), rtol=0.05, atol=0)
    assert error.mean(-1).abs().max() < 0.2
    assert not torch.equal(error[0], error[1])  # seeds differ
    _, other, _ = batch((0.1, 2.0), step=4)
    assert not torch.equal(other, y)


def test_evaluation_sets_have_no_noise():
    *_, data = batch((2.0,))
    keys = torch.stack([torch.zeros(2, 2, dtype=torch.int32)] * 2)
    (x, y), _ = data.sets(torch.tensor(0, dtype=torch.int32), keys, data.grids())
    torch.testing.assert_close(y, data.target(x))


def test_negative_noise_is_refused():
    with pytest.raises(NALMError, match="0 or more"):
        case(-1.0)


QUOTIENTS = torch.tensor([[4.0, 2.0], [3.0, 0.0], [0.0, 0.0], [0.0, 5.0]])


@pytest.mark.parametrize("kind", [ModifiedRealNPU, NMRU, NRU])
def test_a_solved_divider_says_that_a_quotient_by_0_is_invalid(kind):
    y = QUOTIENTS[:, :1] / QUOTIENTS[:, 1:]
    said = kind.solved("divide").eval()(QUOTIENTS).detach()
    assert torch.equal(said.isfinite(), y.isfinite())
    torch.testing.assert_close(METRICS["valid"](said, y), torch.zeros(4, 1))
    looks_right = torch.where(said.isfinite(), said, 1.0)
    assert METRICS["valid"](looks_right, y).squeeze(-1).tolist() == [0, 1, 1, 0]


@pytest.mark.parametrize(("kind", "learns"), [(ModifiedRealNPU, True), (NMRU, True), (NRU, False)])
def test_rows_without_a_result_are_left_out_if_the_unit_is_finite_there(kind, learns):
    unit = kind(2, 1, generator=torch.Generator().manual_seed(0))
    with torch.no_grad():  # on the way to a / b
        weight = {ModifiedRealNPU: [0.5, -0.5], NMRU: [0.5, 0.1, 0.1, 0.5], NRU: [0.5, -0.5]}[kind]
        unit.weight.copy_(torch.tensor([weight]))
    y = QUOTIENTS[:, :1] / QUOTIENTS[:, 1:]
    losses.valid(unit(QUOTIENTS), y).backward()
    assert bool(unit.weight.grad.isfinite().all()) == learns
    assert losses.mse(unit(QUOTIENTS), y).isfinite().item() is False
