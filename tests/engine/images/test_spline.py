"""Thin-plate splines: affine maps are exact, control points go where they are sent, and so does an image."""

import math

import torch
from torch.nn.functional import grid_sample

from nalm.engine.images.spline import ThinPlate, control_points, influence, kernel, pixels


def seeded(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def test_control_points_stand_on_a_grid_row_by_row():
    c = control_points()
    assert c.shape == (16, 2)
    torch.testing.assert_close(c[0], torch.tensor([-0.9, -0.9], dtype=torch.float64))
    torch.testing.assert_close(c[1], torch.tensor([-0.3, -0.9], dtype=torch.float64))  # x moves first
    torch.testing.assert_close(c[15], torch.tensor([0.9, 0.9], dtype=torch.float64))


def test_kernel_by_hand():
    a = torch.tensor([[0.0, 0.0], [3.0, 4.0]], dtype=torch.float64)
    expected = 0.5 * 25 * math.log(25)
    torch.testing.assert_close(
        kernel(a, a), torch.tensor([[0.0, expected], [expected, 0.0]], dtype=torch.float64)
    )


def test_influence_of_a_fixed_point_on_itself_is_all():
    c = control_points()
    torch.testing.assert_close(influence(c, c), torch.eye(16, dtype=torch.float64), atol=1e-10, rtol=0)


def test_a_spline_sends_its_control_points_where_they_are_sent():
    c, v = control_points(), torch.randn(16, 2, dtype=torch.float64, generator=seeded())
    torch.testing.assert_close(influence(c, c) @ v, v, atol=1e-10, rtol=0)


def test_affine_maps_are_exact_everywhere():
    turn = torch.tensor([[0.8, -0.3], [0.5, 1.1]], dtype=torch.float64)
    shift = torch.tensor([0.2, -0.7], dtype=torch.float64)
    p = pixels(9, 13)
    seen = influence(p, control_points()) @ (control_points() @ turn.mT + shift)
    torch.testing.assert_close(seen, p @ turn.mT + shift, atol=1e-10, rtol=0)


def test_a_bend_is_that_of_the_solved_system():
    """The same spline by solving for its coefficients, as the text does."""
    c, p = control_points(), pixels(5, 5)
    v = c + 0.1 * torch.randn(16, 2, dtype=torch.float64, generator=seeded(3))
    one = torch.ones(16, 1, dtype=torch.float64)
    system = torch.cat(
        [
            torch.cat([kernel(c, c), one, c], 1),
            torch.cat([torch.cat([one, c], 1).mT, torch.zeros(3, 3, dtype=torch.float64)], 1),
        ]
    )
    w = torch.linalg.solve(system, torch.cat([v, torch.zeros(3, 2, dtype=torch.float64)]))
    direct = kernel(p, c) @ w[:16] + w[16] + p @ w[17:]
    torch.testing.assert_close(influence(p, c) @ v, direct, atol=1e-10, rtol=0)


def test_identity_control_points_reproduce_the_image():
    image = torch.rand(3, 2, 42, 42, generator=seeded())
    points = control_points().float().expand(3, -1, -1)
    seen = grid_sample(image, ThinPlate(42, 42).grid(points), align_corners=True)
    torch.testing.assert_close(seen, image, atol=1e-4, rtol=0)


def test_published_sampling_shrinks_by_one_pixel():
    """Pixel i lies at (i - 20.5) * 42 / 41 from the centre, since the grid's -1 and 1 are read as edges."""
    image = torch.zeros(1, 1, 42, 42)
    image[..., :] = torch.arange(42.0)  # each pixel holds its column
    points = control_points().float()[None]
    seen = ThinPlate(42, 42)(image, points)[0, 0, 21]
    where = 20.5 + (torch.arange(42.0) - 20.5) * 42 / 41
    torch.testing.assert_close(seen[1:-1], where[1:-1], atol=1e-3, rtol=0)


def test_a_translation_of_the_points_moves_the_image():
    image = torch.rand(1, 1, 11, 11, generator=seeded())
    points = control_points().float()[None].clone()
    points[..., 0] += 2 * 2 / 10  # two pixels to the right
    seen = grid_sample(image, ThinPlate(11, 11).grid(points), align_corners=True)
    torch.testing.assert_close(seen[..., :9], image[..., 2:], atol=1e-5, rtol=0)
    assert seen[..., 9:].abs().max() < 1e-4  # nothing stands there


def test_slopes_reach_the_points():
    image = torch.rand(2, 2, 12, 12, generator=seeded()).double()
    points = (control_points() * 0.8).expand(2, -1, -1).clone().requires_grad_()
    plate = ThinPlate(12, 12).double()
    assert torch.autograd.gradcheck(lambda v: plate(image, v).sum((-2, -1)), points, atol=1e-4)


def test_sampling_is_that_of_the_grid():
    image = torch.rand(2, 1, 8, 8, generator=seeded())
    points = control_points().float() + 0.05 * torch.randn(2, 16, 2, generator=seeded(1))
    plate = ThinPlate(8, 8)
    wanted = grid_sample(image, plate.grid(points), align_corners=False)
    torch.testing.assert_close(plate(image, points), wanted)
