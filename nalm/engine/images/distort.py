"""Digits turned, scaled and put somewhere on a larger canvas (Jaderberg et al. 2015, A.4), where the images are.

Every pixel of the canvas asks which pixel of the digit it shows: one gather, and no image is made in between. As
torchvision's ``RandomAffine`` does by default, the nearest pixel is taken; what turning and scaling move out of the
digit's own frame is cut off before it is put on the canvas.
"""

import math

import torch
from torch import Tensor

from nalm import draws

FRAME, CANVAS = 28, 42
DEGREES = 45.0  # turned by up to so many, either way
SCALES = (0.7, 1.2)
PLACES = 14  # offsets 0 to 13 along each axis: the published code leaves out the last, 14
DRAWS = 4  # random numbers that place one digit


def poses(bits: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Return angles in radians, scales and offsets (row, column) from four random words each, (..., 4)."""
    u = draws.symmetric(bits, torch.float32)
    angle = u[..., 0] * math.radians(DEGREES)
    low, high = SCALES
    scale = (low + high) / 2 + (high - low) / 2 * u[..., 1]
    offset = ((u[..., 2:] * 0.5 + 0.5) * PLACES).long().clamp(0, PLACES - 1)
    return angle, scale, offset


def distorted(images: Tensor, which: Tensor, angle: Tensor, scale: Tensor, offset: Tensor) -> Tensor:
    """Draw images on canvases, (..., 42, 42) bytes: turned clockwise by the angle, scaled and moved.

    They are the images ``which`` (...) of ``images`` (n, 28, 28).
    """
    places = torch.arange(CANVAS, device=images.device)
    y = places[:, None] - offset[..., 0, None, None]  # (..., 42, 1) row of the digit's frame
    x = places - offset[..., 1, None, None]  # (..., 1, 42)
    middle = (FRAME - 1) / 2
    v, u = y - middle, x - middle
    sine, cosine = ((f(angle) / scale)[..., None, None] for f in (torch.sin, torch.cos))
    column = (cosine * u + sine * v + middle).round().long()
    row = (cosine * v - sine * u + middle).round().long()
    inside = _within(y) & _within(x) & _within(row) & _within(column)
    place = (which[..., None, None] * FRAME + row) * FRAME + column
    found = images.reshape(-1)[torch.where(inside, place, 0)]
    return torch.where(inside, found, 0)


def _within(place: Tensor) -> Tensor:
    return (place >= 0) & (place < FRAME)
