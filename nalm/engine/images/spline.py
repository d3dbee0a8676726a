"""Thin-plate splines (Bookstein 1989) as a spatial transformer samples with them (Shi et al. 2016, section 3.1.2)."""

import torch
from torch import Tensor, nn

SIDE, REACH = 4, 0.9  # control points along each axis, and how far the outermost lie from the centre


def control_points(side: int = SIDE, reach: float = REACH) -> Tensor:
    """Return a square grid of points (x, y) within [-1, 1], row by row: (side * side, 2)."""
    line = torch.linspace(-reach, reach, side, dtype=torch.float64)
    y, x = torch.meshgrid(line, line, indexing="ij")
    return torch.stack([x, y], -1).reshape(-1, 2)


def pixels(height: int, width: int) -> Tensor:
    """Return the positions (x, y) of the pixels of an image, from -1 to 1, row by row: (height * width, 2)."""
    rows = torch.linspace(-1, 1, height, dtype=torch.float64)
    columns = torch.linspace(-1, 1, width, dtype=torch.float64)
    y, x = torch.meshgrid(rows, columns, indexing="ij")
    return torch.stack([x, y], -1).reshape(-1, 2)


def kernel(a: Tensor, b: Tensor) -> Tensor:
    r"""Return the radial function :math:`\frac12 d^2 \ln d^2` (0 at 0) of distances between a and b."""
    square = (a.unsqueeze(-2) - b.unsqueeze(-3)).square().sum(-1)
    return 0.5 * torch.special.xlogy(square, square)


def _padded(points: Tensor, fixed: Tensor) -> Tensor:
    """Return the terms that a spline is linear in: a radial function for each fixed point, a constant, x and y."""
    return torch.cat([kernel(points, fixed), torch.ones_like(points[:, :1]), points], -1)


def influence(points: Tensor, fixed: Tensor) -> Tensor:
    """Return how far each point follows each fixed one, (points, fixed): the spline through values v is influence @ v.

    The system of equations (values at the fixed points, and radial parts that no affine map could have) is solved
    once, so that a spline is a single matrix product.
    """
    n = len(fixed)
    equations = torch.zeros(n + 3, n + 3, dtype=fixed.dtype)
    equations[:n] = _padded(fixed, fixed)
    equations[n:, :n] = equations[:n, n:].mT
    return _padded(points, fixed) @ torch.linalg.inv(equations)[:, :n]


class ThinPlate(nn.Module):
    r"""Looks at an image through a spline: the grid's control points are found where they are said to be.

    .. math:: s(p) = \sum_k \phi(\|p - c_k\|) w_k + A p + b, \qquad s(c_k) = v_k

    The image is read at s(p) for every pixel p of the result. With v = c it is read where it stands, except that
    the published code takes the centres of the outer pixels as -1 and 1 where it makes the grid, and their outer
    edges where it samples (``align_corners=False``): the image then looks smaller by a factor of (n - 1) / n.
    """

    influence: Tensor  # (height * width, points)

    def __init__(self, height: int, width: int):
        super().__init__()
        self.height, self.width = height, width
        self.register_buffer("influence", self.constants()["influence"], persistent=False)

    def constants(self) -> dict[str, Tensor]:
        """Compute how far each pixel follows each control point."""
        return {"influence": influence(pixels(self.height, self.width), control_points()).float()}

    def grid(self, points: Tensor) -> Tensor:
        """Return where each pixel of the result is read, (batch, height, width, 2), for points (batch, 16, 2)."""
        return (self.influence @ points).unflatten(-2, (self.height, self.width))

    def forward(self, image: Tensor, points: Tensor) -> Tensor:
        """Return the image (batch, channels, height, width) seen through the spline, bilinear, 0 outside."""
        return nn.functional.grid_sample(image, self.grid(points), "bilinear", "zeros", align_corners=False)
