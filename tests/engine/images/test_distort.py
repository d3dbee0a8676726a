"""Digits on a canvas: the transforms of torch's own sampler, within their bounds, drawn per run and step."""

import math

import torch
from torch.nn.functional import affine_grid, grid_sample

from nalm import draws
from nalm.engine.images.distort import CANVAS, FRAME, PLACES, distorted, poses


def digits(n: int) -> torch.Tensor:
    return torch.randint(
        1, 256, (n, FRAME, FRAME), dtype=torch.uint8, generator=torch.Generator().manual_seed(0)
    )


def drawn(n: int, seed: int = 3, step: int = 0) -> torch.Tensor:
    key = draws.keys([seed], "train")[0]
    return draws.bits(key, torch.tensor(step), torch.arange(4 * n, dtype=torch.int32)).reshape(n, 4)


def test_a_digit_left_as_it_is_lies_at_its_offset():
    images = digits(5)
    still, one = torch.zeros(2), torch.ones(2)
    seen = distorted(images, torch.tensor([4, 1]), still, one, torch.tensor([[3, 13], [0, 7]]))
    assert torch.equal(seen[0, 3:31, 13:41], images[4])
    assert torch.equal(seen[1, :28, 7:35], images[1])
    assert seen[0].long().sum() == images[4].long().sum()  # and nothing beside it


def test_turning_by_ninety_degrees_is_clockwise():
    images = digits(1)
    seen = distorted(
        images, torch.tensor(0), torch.tensor(math.pi / 2), torch.tensor(1.0), torch.tensor([7, 7])
    )
    assert torch.equal(seen[7:35, 7:35], torch.rot90(images[0], -1))


def test_transforms_are_those_of_the_nearest_sampler():
    images, n = digits(20), 20
    angle, scale, offset = poses(drawn(n))
    seen = distorted(images, torch.arange(n), angle, scale, offset)
    c, s = torch.cos(angle) / scale, torch.sin(angle) / scale
    zero = torch.zeros_like(c)
    theta = torch.stack([torch.stack([c, s, zero], -1), torch.stack([-s, c, zero], -1)], -2)
    grid = affine_grid(theta, [n, 1, FRAME, FRAME], align_corners=False)
    frame = grid_sample(images[:, None].float(), grid, mode="nearest", align_corners=False)[:, 0]
    for k in range(n):
        y, x = offset[k].tolist()
        ours = seen[k, y : y + FRAME, x : x + FRAME].float()
        assert (ours != frame[k]).float().mean() < 0.005  # ties of rounding
        rest = seen[k].clone()
        rest[y : y + FRAME, x : x + FRAME] = 0
        assert rest.sum() == 0


def test_poses_stay_in_their_bounds_and_fill_them():
    angle, scale, offset = poses(drawn(20_000))
    for value, low, high in ((angle, -math.pi / 4, math.pi / 4), (scale, 0.7, 1.2)):
        assert low <= value.min() < low + 0.01 * (high - low)
        assert high - 0.01 * (high - low) < value.max() <= high
        assert abs(value.mean() - (low + high) / 2) < 0.02 * (high - low)
    assert offset.min() == 0 and offset.max() == PLACES - 1 == CANVAS - FRAME - 1
    counts = torch.bincount(offset.flatten(), minlength=PLACES) / offset.numel()
    assert (counts - 1 / PLACES).abs().max() < 0.006


def test_poses_change_with_step_and_seed_alone():
    again, later, other = drawn(50), drawn(50, step=1), drawn(50, seed=4)
    assert torch.equal(poses(drawn(50))[0], poses(again)[0])
    assert not torch.equal(poses(again)[0], poses(later)[0])
    assert not torch.equal(poses(again)[0], poses(other)[0])
