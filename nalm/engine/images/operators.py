"""The passes of the fused convolutions as operators, each of which is one step to torch's compiler.

On a CPU the same products are taken by torch, from the same packed weights. Sizes of outputs that a version of nalm
chooses, and no shape of an input gives, are integer arguments: torch keeps compiled code on disk by the traced graph,
which shows the arguments of an operator but not the shapes of its outputs. Code that was compiled for other sizes would
be used silently.
"""

import math
from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn import functional as T

from nalm.engine.images.dropped import SCALE, kept_features


def _strip(x: Tensor, row: int) -> Tensor:
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


@torch.library.custom_op("nalm::pooled_convolution", mutates_args=())
def pooled_convolution(
    x: Tensor, w: Tensor, b: Tensor, keys: Tensor | None, step: Tensor | None
) -> tuple[Tensor, Tensor]:
    """Compute the positive part of a pooled convolution (runs, n, 144, 64), and which of four pixels it is; 4 for none.

    With keys (runs, 2) and a step some are left out as ``Dropout`` does, and the rest made larger.
    """
    y = x.new_empty(*x.shape[:2], 144, 64)
    which = torch.empty_like(y, dtype=torch.int8)
    draw = None if keys is None or step is None else (keys, step)
    if x.is_cuda:
        from nalm.engine.images import kernels

        kernels.pooled(x.contiguous(), w.contiguous(), b.contiguous(), draw, y, which)
        return y, which
    taps = [[_strip(x, tap + wy).flatten(1, 3) @ w[:, tap] for tap in range(3)] for wy in range(2)]
    rows = [torch.stack(products).sum(0).unflatten(-1, (64, 2)) for products in taps]
    best, at = torch.cat(rows, -1).max(-1)
    best = (best + b.unsqueeze(1)).view_as(y)
    if draw is not None:
        kept = kept_features(draw, x.shape[1]).unflatten(-1, (64, 144)).mT
        best = torch.where(kept, best * SCALE, 0)
    y.copy_(best.relu())
    which.copy_(torch.where(best > 0, at.view_as(y), 4))
    return y, which


@pooled_convolution.register_fake
def _(x: Tensor, w: Tensor, b: Tensor, keys: Tensor | None, step: Tensor | None) -> tuple[Tensor, Tensor]:
    y = x.new_empty(*x.shape[:2], 144, 64)
    return y, torch.empty_like(y, dtype=torch.int8)


@torch.library.custom_op("nalm::unpooled", mutates_args=())
def unpooled(h: Tensor, w: Tensor, which: Tensor, cells: int, parts: int) -> tuple[Tensor, Tensor]:
    """Compute the gradient before the pooling, (runs x n x cells, 4 x 64), and sums (runs, parts, 64) in float32.

    From the gradient (runs, n, 128) of a linear layer with weights (runs, 128, 144 x 64). A row and a column of zeros
    lie before every image, so that its cells are 13 x 13. On a CPU the first part has all.
    """
    u, sums = _unpooled_empty(h, cells, parts)
    if h.is_cuda:
        from nalm.engine.images import kernels_back

        kernels_back.unpool(h.contiguous(), w.contiguous(), which.contiguous(), u, sums)
        return u, sums
    g = (h @ w).view_as(which)
    pixels = [torch.where(which == i, g, 0) for i in range(4)]
    u.copy_(T.pad(torch.cat(pixels, -1).unflatten(2, (12, 12)), (0, 0, 1, 0, 1, 0)).reshape(-1, 256))
    sums[:, 0], sums[:, 1:] = torch.stack(pixels).sum((0, 2, 3)), 0
    return u, sums


def _unpooled_empty(h: Tensor, cells: int, parts: int) -> tuple[Tensor, Tensor]:
    u = h.new_empty(h.shape[0] * h.shape[1] * cells, 256)
    return u, h.new_empty(len(h), parts, 64, dtype=torch.float32)


@unpooled.register_fake
def _(h: Tensor, w: Tensor, which: Tensor, cells: int, parts: int) -> tuple[Tensor, Tensor]:
    return _unpooled_empty(h, cells, parts)


@torch.library.custom_op("nalm::first_gradient", mutates_args=())
def first_gradient(u: Tensor, w: Tensor, x: Tensor, images: Tensor, parts: int, columns: int) -> Tensor:
    """Multiply the gradient of 2 x 2 pixels, where they are positive, with the 16 inputs that they see and a one.

    In parts that are still to be added, (runs, parts, 4 x 32, columns) in float32; there are 17 columns. On a CPU the
    first part has all.
    """
    out = x.new_empty(len(x), parts, 128, columns, dtype=torch.float32)
    if x.is_cuda:
        from nalm.engine.images import kernels_back

        kernels_back.first_gradient(u, w.contiguous(), x.contiguous(), images.contiguous(), out)
        return out
    runs, many = len(x), len(u) // len(x)
    behind = T.pad(u, (0, 0, 0, 14))
    near = [
        [behind[13 * i + j :][: runs * many].view(runs, many, 2, 128) for j in range(2)] for i in range(2)
    ]
    rows = []
    for y in range(2):  # of the block
        sources = [(tap, left, y + 2 - tap) for tap in range(3) for left in range(2)]
        products = [near[e // 2][left][:, :, e % 2] @ w[:, tap, left] for tap, left, e in sources]
        rows.append(torch.stack(products).sum(0))
    found = torch.cat(rows, -1)
    blocks = x.unflatten(3, (13, 2)).unflatten(2, (13, 2)).transpose(3, 4).reshape(runs, many, 128)
    seen = images.unfold(2, 4, 2).unfold(3, 4, 2).reshape(runs, many, 16)
    seen = torch.cat([seen, torch.ones_like(seen[..., :1])], -1)
    out[:, 0], out[:, 1:] = torch.where(blocks > 0, found, 0).mT @ seen, 0
    return out


@first_gradient.register_fake
def _(u: Tensor, w: Tensor, x: Tensor, images: Tensor, parts: int, columns: int) -> Tensor:
    return x.new_empty(len(x), parts, 128, columns, dtype=torch.float32)


@torch.library.custom_op("nalm::weight_gradient", mutates_args=())
def weight_gradient(u: Tensor, x: Tensor, choices: Sequence[int]) -> Tensor:
    """Compute the gradient of the packed weights in parts that are still to be added, (runs, parts, 3, 128, 128).

    There are as many parts as one of the choices says. On a CPU the first part has all.
    """
    dw = _weight_gradient_empty(x, choices)
    if x.is_cuda:
        from nalm.engine.images import kernels_back

        kernels_back.weight_gradient(u, x.contiguous(), dw)
        return dw
    rows = u.view(*x.shape[:2], 13, 13, 2, 128)[:, :, 1:, 1:]
    taps = []
    for tap in range(3):
        both = [_strip(x, tap + i).flatten(1, 3).mT @ rows[..., i, :].flatten(1, 3) for i in range(2)]
        taps.append(both[0] + both[1])
    dw[:, 0], dw[:, 1:] = torch.stack(taps, 1), 0
    return dw


def _weight_gradient_empty(x: Tensor, choices: Sequence[int]) -> Tensor:
    # which of the choices it is, a traced graph shows too: ``added`` takes the parts one by one
    parts = splits(len(x), choices, x.device) if x.is_cuda else choices[0]
    return x.new_empty(len(x), parts, 3, 128, 128, dtype=torch.float32)


def splits(runs: int, choices: Sequence[int], device: torch.device) -> int:
    """Return the number of parts with which the processors of a GPU, which take one part at a time, are idle least."""
    processors = torch.cuda.get_device_properties(device).multi_processor_count

    def busy(parts: int) -> float:
        rounds = runs * parts / processors
        return rounds / math.ceil(rounds)

    return max(choices, key=busy)


@weight_gradient.register_fake
def _(u: Tensor, x: Tensor, choices: Sequence[int]) -> Tensor:
    return _weight_gradient_empty(x, choices)
