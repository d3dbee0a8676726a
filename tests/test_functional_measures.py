"""Distances to a grid, rounding to it, and the spread of a batch."""

import math

import pytest
import torch

from nalm import functional as F


def test_distances_to_the_grids_are_those_worked_out_by_hand():
    w = torch.tensor([-1.5, -1.0, -0.75, -0.25, 0.0, 0.25, 0.5, 1.0, 2.0])
    assert F.to_ternary(w).tolist() == [0.5, 0, 0.25, 0.25, 0, 0.25, 0.5, 0, 1]
    assert F.to_binary(w).tolist() == [1.5, 1, 0.75, 0.25, 0, 0.25, 0.5, 0, 1]


def test_the_sparsity_error_is_the_largest_distance_of_each_run():
    w = torch.tensor([[[1.0, -0.875], [0.25, 0.0]], [[1.0, -1.0], [0.0, 0.0]], [[0.5, 1.0], [1.0, 1.75]]])
    assert F.sparsity(w).tolist() == [0.25, 0.0, 0.75]
    assert F.sparsity(w[0]).item() == 0.25


def test_the_mean_of_a_matrix_is_one_number_per_run():
    w = torch.arange(12.0).reshape(2, 3, 2)
    assert F.mean_matrix(w).tolist() == [2.5, 8.5]


def test_rounding_finds_the_nearest_value_in_any_order_of_the_grid():
    w = torch.tensor([[-7.0, -0.6], [0.2, 0.74], [0.76, 9.0]])
    expected = [[-1.0, -0.5], [0.0, 0.5], [1.0, 1.0]]
    assert F.nearest(w, (-1.0, -0.5, 0.0, 0.5, 1.0)).tolist() == expected
    assert F.nearest(w, (0.5, 1.0, -1.0, 0.0, -0.5)).tolist() == expected


def test_rounding_keeps_not_a_number_and_nothing_else():
    w = F.nearest(torch.tensor([math.nan, 0.9, math.nan]), (0.0, 1.0))
    assert w.isnan().tolist() == [True, False, True]
    assert w[1] == 1.0


def test_a_tie_goes_to_the_value_named_first():
    half = torch.tensor([0.5])
    assert F.nearest(half, (0.0, 1.0)).item() == 0.0
    assert F.nearest(half, (1.0, 0.0)).item() == 1.0
    assert F.nearest(-half, (-1.0, 0.0, 1.0)).item() == -1.0


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_rounding_keeps_the_precision(dtype):
    assert F.nearest(torch.tensor([0.3], dtype=dtype), (0.0, 1.0)).dtype == dtype


def test_rounding_sends_an_infinite_weight_to_the_end_of_the_grid():
    w = torch.tensor([math.inf, -math.inf])
    assert F.nearest(w, (-1.0, 0.0, 1.0)).tolist() == [1.0, -1.0]


@pytest.mark.parametrize("runs", [(), (4,), (2, 3)], ids=str)
def test_the_spread_is_the_unbiased_standard_deviation_of_each_run(runs):
    x = 5 + torch.randn((*runs, 6, 3), generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    torch.testing.assert_close(F.spread(x), torch.std(x, (-2, -1)), rtol=1e-12, atol=0)
    assert F.spread(x).shape == runs


@pytest.mark.parametrize("shape", [(0, 2), (1, 1), (3, 0, 2), (3, 1, 1)], ids=str)
def test_the_spread_of_fewer_than_two_numbers_is_zero(shape):
    y = F.spread(torch.ones(shape))  # torch.std warns here, and a warning is an error
    assert y.tolist() == torch.zeros(shape[:-2]).tolist()


def test_the_gradient_of_the_spread_of_equal_numbers_is_zero_as_that_of_std():
    x = torch.ones(3, 2, requires_grad=True)
    assert torch.autograd.grad(x.std(), x)[0].tolist() == torch.zeros(3, 2).tolist()
    assert torch.autograd.grad(F.spread(x), x)[0].tolist() == torch.zeros(3, 2).tolist()


def test_glorot_is_the_published_half_width():
    assert F.glorot(2, 1) == math.sqrt(2)
    assert F.glorot(10, 14) == 0.5
