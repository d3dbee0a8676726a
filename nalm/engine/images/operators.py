"""The passes of the fused convolutions as operators, each of which is one step to torch's compiler.

On a CPU the same products are taken by torch, from the same packed weights. Sizes of outputs that a version of nalm
chooses, and no shape of an input gives, are integer arguments: torch keeps compiled code on disk by the traced graph,
which shows the arguments of an operator but not the shapes of its outputs. Code that was compiled for other sizes would
be used silently.
"""

import torch
from torch import Tensor
from torch.nn import functional as T

from nalm.engine.images.dropped import HALVINGS, SCALE, kept


def strip(x: Tensor, row: int) -> Tensor:
    """Gather the four pixels of a row below every pooled pixel: (runs, n, 12, 12, 128)."""
    return torch.cat([x[:, :, row : row + 23 : 2, j : j + 23 : 2] for j in range(4)], -1)


def _patches(x: Tensor) -> Tensor:
    """Gather the nine pixels that each of 26 x 26 sees, a one for the bias, and zeros: (runs, n, 26, 26, 16)."""
    seen = x.unfold(2, 3, 1).unfold(3, 3, 1).flatten(4)
    return torch.cat([seen, torch.ones_like(seen[..., :1]), torch.zeros_like(seen[..., :6])], -1)


@torch.library.custom_op("nalm::first_convolution", mutates_args=())
def first_convolution(x: Tensor, w: Tensor) -> Tensor:
    """Compute the positive part of the first convolution (runs, n, 26, 26, 32); the weights are (runs, 16, 32)."""
    y = x.new_empty(*x.shape[:2], 26, 26, 32)
    if x.is_cuda:
        from nalm.engine.images import kernels

        kernels.first(x.contiguous(), w.contiguous(), y)
        return y
    y.copy_((_patches(x).flatten(1, 3) @ w).relu().view_as(y))
    return y


@first_convolution.register_fake
def _(x: Tensor, w: Tensor) -> Tensor:
    return x.new_empty(*x.shape[:2], 26, 26, 32)


@torch.library.custom_op("nalm::inked", mutates_args=())
def inked(x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """List the places of images (runs, n, 28, 28) that see ink: a pixel which is not the background.

    The background of a run is the first pixel of its first image. A pooled pixel sees 6 x 6 pixels, a block of 2 x 2
    outputs of the first convolution 4 x 4. Found are the pooled pixels (runs, n x 144) and the blocks (runs, n x 169),
    those with ink first, and how many of both have ink, (runs, 2).
    """
    found = _inked_empty(x)
    if x.is_cuda:
        from nalm.engine.images import kernels_ink

        kernels_ink.inked(x.contiguous(), *found)
        return found
    ink = (x != x[:, :1, :1, :1]).float()
    for size, places, total in zip((6, 4), found, found[2].unbind(-1), strict=False):
        has = T.max_pool2d(ink, size, 2).flatten(1).int()
        places.copy_(torch.sort(has, stable=True, descending=True).indices)
        total.copy_(has.sum(1))
    return found


@inked.register_fake
def _inked_empty(x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    cells, blocks = (x.new_empty(len(x), x.shape[1] * each, dtype=torch.int32) for each in (144, 169))
    return cells, blocks, x.new_empty(len(x), 2, dtype=torch.int32)


def listed(places: Tensor, totals: Tensor, shape: tuple[int, ...]) -> Tensor:
    """Return which places are among the first of a list (runs, places), in another shape."""
    among = torch.arange(places.shape[1]) < totals.unsqueeze(-1)
    return torch.zeros_like(among).scatter_(1, places.long(), among).view(shape)


@torch.library.custom_op("nalm::pooled_convolution", mutates_args=())
def pooled_convolution(
    x: Tensor, w: Tensor, b: Tensor, blank: Tensor, cells: Tensor, totals: Tensor, words: Tensor | None
) -> tuple[Tensor, Tensor]:
    """Compute the positive part of a pooled convolution (runs, n, 144, 64), and which of four pixels it is.

    It is 4 if none is positive; 8 is added where there is no ink, and 8 alone if that is positive. ``blank`` (runs, 64)
    is the output without ink, cells and totals are those of ``inked``. With words (runs, n, 9, 64) some pixels are left
    out as ``Dropout`` does, and the rest made larger.
    """
    y = x.new_empty(*x.shape[:2], 144, 64)
    which = torch.empty_like(y, dtype=torch.int8)
    if x.is_cuda:
        from nalm.engine.images import kernels

        drawn = None if words is None else words.contiguous()
        lists = cells, totals
        kernels.pooled(
            x.contiguous(), w.contiguous(), b.contiguous(), blank.contiguous(), lists, drawn, y, which
        )
        return y, which
    taps = [[strip(x, tap + wy).flatten(1, 3) @ w[:, tap] for tap in range(3)] for wy in range(2)]
    rows = [torch.stack(products).sum(0).unflatten(-1, (64, 2)) for products in taps]
    best, at = torch.cat(rows, -1).max(-1)
    best = (best + b.unsqueeze(1)).view_as(y)
    if words is not None:
        best = torch.where(kept(words.mT, HALVINGS, 144).mT, best * SCALE, 0)
    y.copy_(best.relu())
    ink = listed(cells, totals[:, 0], (*y.shape[:3], 1))
    at = torch.where(ink, at.view_as(y), 8)
    which.copy_(torch.where(best > 0, at, at & 8 | 4))
    return y, which


@pooled_convolution.register_fake
def _(
    x: Tensor, w: Tensor, b: Tensor, blank: Tensor, cells: Tensor, totals: Tensor, words: Tensor | None
) -> tuple[Tensor, Tensor]:
    y = x.new_empty(*x.shape[:2], 144, 64)
    return y, torch.empty_like(y, dtype=torch.int8)
