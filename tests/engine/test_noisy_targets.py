"""Noise on training targets: its size, that evaluation has none, and what is refused."""

import pytest
import torch

from nalm.config import Arithmetic, Case, Layer, Range
from nalm.engine.numbers.data import Data
from nalm.engine.numbers.settings import settings
from nalm.engine.plan import product
from nalm.errors import NALMError

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
