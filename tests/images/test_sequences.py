"""Sequences are cut as published, and go through a loop together as they would alone."""

import numpy as np
import pytest
import torch

from nalm.images.sequences import TEST_SEED, along, amounts, cut, permuted, training_seed
from nalm.networks.loop import Loop
from nalm.units import NAU, NMU
from nalm.units.cells import LSTM, Accumulator

LABELS = np.random.RandomState(1).randint(0, 10, 300)


def test_only_the_wanted_digits_are_kept_each_once():
    order = permuted(LABELS, 1, 5)
    assert sorted(order) == [i for i, label in enumerate(LABELS) if label]
    assert not np.array_equal(order, np.sort(order))


def test_orders_are_numpys():
    """As the published code makes them: a permutation by a generator seeded so."""
    kept = [i for i, label in enumerate(LABELS) if label in range(1, 10)]
    assert np.array_equal(permuted(LABELS, 1, TEST_SEED), np.random.RandomState(TEST_SEED).permutation(kept))
    assert training_seed(0) == 2357136044  # RandomState(0).randint(0, 2**32 - 1)


def test_what_is_left_over_is_dropped():
    order = torch.arange(23)
    for length in (1, 2, 5, 10, 20, 23):
        rows = cut(order, length)
        assert rows.shape == (23 // length, length)
        assert torch.equal(rows.flatten(), order[: rows.numel()])
    assert cut(order, 24).shape == (0, 24)


def test_targets_by_hand():
    digits = torch.tensor([[2, 3, 4], [9, 9, 1]])
    assert amounts("multiply", digits)[..., 0].tolist() == [[2, 6, 24], [9, 81, 81]]
    assert amounts("add", digits)[..., 0].tolist() == [[2, 5, 9], [9, 18, 19]]
    counts = amounts("count", digits)
    assert counts.shape == (2, 3, 10) and counts[1, :, 9].tolist() == [1, 2, 2] and counts[1, -1, 1] == 1


@pytest.mark.parametrize(
    "loop", [Loop(NMU(2, 1), first=1.0), Loop(NAU(2, 1)), Loop(LSTM(3, 2)), Loop(NAU(20, 10))]
)
@torch.no_grad()
def test_lengths_together_are_lengths_alone(loop):
    values = torch.rand(57, 10 if loop.outputs == 10 else 1)
    lengths = (1, 7, 3, 20)
    together = along(loop, values, lengths)
    assert together.shape == (4, 57, loop.outputs)
    for results, length in zip(together, lengths, strict=True):
        alone, _ = loop(cut(values, length))
        torch.testing.assert_close(cut(results, length), alone)
        assert not results[57 // length * length :].any()


@torch.no_grad()
def test_perfect_digits_make_perfect_products_at_any_length():
    digits = torch.randint(1, 10, (200,))
    results = along(Loop(Accumulator(2, 1), first=1.0), digits.double()[:, None], (1, 2, 9))
    for found, length in zip(results, (1, 2, 9), strict=True):
        assert torch.equal(cut(found, length), amounts("multiply", cut(digits, length)))
