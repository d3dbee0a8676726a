"""Sequences are cut as published, and go through a loop together as they would alone."""

import numpy as np
import pytest
import torch

from nalm.images.sequences import TEST_SEED, Lengths, amounts, cut, permuted, training_seed
from nalm.networks.loop import Loop
from nalm.units import NAU, NMU
from nalm.units.cells import LSTM, Accumulator

LABELS = np.random.RandomState(1).randint(0, 10, 300).astype(np.uint8)


def test_only_the_wanted_digits_are_kept_each_once():
    order = permuted(LABELS, range(1, 10), 5)
    assert sorted(order) == [i for i, label in enumerate(LABELS) if label]
    assert not np.array_equal(order, np.sort(order))


def test_orders_are_numpys():
    """As the published code makes them: a permutation by a generator seeded so."""
    kept = [i for i, label in enumerate(LABELS) if label in range(1, 10)]
    assert np.array_equal(
        permuted(LABELS, range(1, 10), TEST_SEED), np.random.RandomState(TEST_SEED).permutation(kept)
    )
    assert training_seed(0) == 2357136044  # RandomState(0).randint(0, 2**32 - 1)


def test_what_is_left_over_is_dropped():
    order = np.arange(23)
    for length in (1, 2, 5, 10, 20, 23):
        rows = cut(order, length)
        assert rows.shape == (23 // length, length)
        assert np.array_equal(rows.ravel(), order[: rows.size])
    assert cut(order, 24).shape == (0, 24)


def test_targets_by_hand():
    digits = torch.tensor([[2, 3, 4], [9, 9, 1]])
    assert amounts("product", digits)[..., 0].tolist() == [[2, 6, 24], [9, 81, 81]]
    assert amounts("sum", digits)[..., 0].tolist() == [[2, 5, 9], [9, 18, 19]]
    counts = amounts("count", digits)
    assert counts.shape == (2, 3, 10) and counts[1, :, 9].tolist() == [1, 2, 2] and counts[1, -1, 1] == 1


@pytest.mark.parametrize(
    ("kind", "loop", "width"),
    [
        ("product", Loop(NMU(2, 1), first=1.0), 1),
        ("sum", Loop(NAU(2, 1)), 1),
        ("sum", Loop(LSTM(3, 2)), 1),
        ("count", Loop(NAU(20, 10)), 10),
    ],
)
@torch.no_grad()
def test_lengths_together_are_lengths_alone(kind, loop, width):
    labels = torch.from_numpy(LABELS[LABELS > 0].astype(np.int64))[:57]
    values = torch.rand(57, width)
    lengths = (1, 7, 3, 20)
    mse, right = Lengths(kind, labels, lengths).errors(loop, values)
    for k, length in enumerate(lengths):
        rows = torch.from_numpy(cut(np.arange(57), length))
        y, _ = loop(values[rows])
        wanted = amounts(kind, labels[rows])
        assert mse[k].item() == pytest.approx((y.double() - wanted).square().mean().item(), rel=1e-5)
        share = (y[:, -1].round() == wanted[:, -1]).all(-1).float().mean().item()
        assert right[k].item() == pytest.approx(share)


@torch.no_grad()
def test_perfect_digits_make_no_error():
    labels = torch.randint(1, 10, (200,))
    tables = Lengths("product", labels, (1, 2, 9))
    mse, right = tables.errors(
        Loop(Accumulator(2, 1, operation="multiply"), first=1.0), labels.float()[:, None]
    )
    assert mse.max() == 0 and right.min() == 1


@torch.no_grad()
def test_errors_of_long_products_do_not_overflow():
    labels = torch.full((40,), 9)
    tables = Lengths("product", labels, (20,))
    mse, _ = tables.errors(Loop(Accumulator(2, 1), first=1.0), torch.zeros(40, 1))
    assert mse.isfinite().all() and mse[0] == pytest.approx((81.0**20 * 81 / 80 - 81 / 80) / 20, rel=1e-9)
