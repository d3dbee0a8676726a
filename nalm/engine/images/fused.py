"""The convolutions of many readers by kernels of their own: the second one with its pooling and dropout in one pass.

On a CPU the same products are taken by torch, from the same packed weights.
"""

import functools
import math
from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional as T

from nalm.engine.images.dropped import SCALE, Draw, kept_features
from nalm.engine.images.readers import affine

Tensors = dict[str, Tensor]
# parts over which gradients are summed on a GPU: one of SPLITS for the second convolution, PARTS for the first
SPLITS, PARTS = range(8, 17), 169
GROUP = 64  # images whose gradients are summed one by one for the second bias
CELLS = 13 * 13  # pooled pixels of an image, with a row and a column of zeros before them


def packed(weight: Tensor) -> Tensor:
    """Pack kernels (runs, 64, 32, 3, 3) for a row of four pixels and two outputs: (runs, 3, 4 x 32, 64 x 2)."""
    both = torch.stack([T.pad(weight, (0, 1)), T.pad(weight, (1, 0))], -1)  # runs, out, in, 3, 4, 2
    return both.permute(0, 3, 4, 2, 1, 5).flatten(4).flatten(2, 3).contiguous()


def packed_back(weight: Tensor) -> Tensor:
    """Pack kernels for gradients: a row of 2 x 64 outputs and two inputs of 32, (runs, 3, 2, 2 x 64, 2 x 32)."""
    two = torch.arange(2, device=weight.device)
    column = two + 2 - 2 * two.view(2, 1, 1) - two.view(2, 1)  # by pooled pixel, its output, and the input
    inside = (column >= 0) & (column < 3)
    every = T.pad(weight, (0, 1))[..., torch.where(inside, column, 3)]  # runs, out, in, 3, and these
    return every.permute(0, 3, 4, 5, 1, 6, 2).flatten(5).flatten(3, 4).contiguous()


def added(parts: Tensor) -> Tensor:
    """Sum (runs, parts, ...) over parts, one by one: so compiled, large parts are read faster than by ``sum``."""
    return functools.reduce(torch.add, parts.unbind(1))


def unpacked(gradient: Tensor) -> Tensor:
    """Compute the gradient of kernels from that of packed ones, (runs, 3, 4 x 32, 2 x 64)."""
    rows = gradient.unflatten(3, (2, 64)).unflatten(2, (4, 32))  # runs, 3, 4, in, 2, out
    both = rows[:, :, :3, :, 0] + rows[:, :, 1:, :, 1]
    return both.permute(0, 4, 3, 1, 2)


def unpacked_first(gradient: Tensor) -> tuple[Tensor, Tensor]:
    """Compute gradients of the first kernels and their bias from those of a block of 2 x 2, (runs, 4 x 32, 17)."""
    blocks = gradient.unflatten(1, (2, 2, 32))
    seen = blocks[..., :16].unflatten(-1, (4, 4))
    parts = [seen[:, y, x, :, y : y + 3, x : x + 3] for y in range(2) for x in range(2)]
    return torch.stack(parts).sum(0).unsqueeze(2), blocks[..., 16].sum((1, 2))


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
def unpooled(h: Tensor, w: Tensor, which: Tensor) -> tuple[Tensor, Tensor]:
    """Compute the gradient before the pooling, (runs x n x 13 x 13, 4 x 64), and sums (runs, parts, 64) in float32.

    From the gradient (runs, n, 128) of a linear layer with weights (runs, 128, 144 x 64). A row and a column of zeros
    lie before every image.
    """
    u, sums = _unpooled_empty(h)
    if h.is_cuda:
        from nalm.engine.images import kernels_back

        kernels_back.unpool(h.contiguous(), w.contiguous(), which.contiguous(), u, sums)
        return u, sums
    g = (h @ w).view_as(which)
    parts = [torch.where(which == i, g, 0) for i in range(4)]
    u.copy_(T.pad(torch.cat(parts, -1).unflatten(2, (12, 12)), (0, 0, 1, 0, 1, 0)).reshape(-1, 256))
    sums.copy_(torch.stack(parts).sum((0, 2, 3)).unsqueeze(1))
    return u, sums


def _unpooled_empty(h: Tensor) -> tuple[Tensor, Tensor]:
    parts = CELLS * math.ceil(h.shape[1] / GROUP) if h.is_cuda else 1
    u = h.new_empty(h.shape[0] * h.shape[1] * CELLS, 256)
    return u, h.new_empty(len(h), parts, 64, dtype=torch.float32)


@unpooled.register_fake
def _(h: Tensor, w: Tensor, which: Tensor) -> tuple[Tensor, Tensor]:
    return _unpooled_empty(h)


@torch.library.custom_op("nalm::first_gradient", mutates_args=())
def first_gradient(u: Tensor, w: Tensor, x: Tensor, images: Tensor) -> Tensor:
    """Multiply the gradient of 2 x 2 pixels, where they are positive, with the 16 inputs that they see and a one.

    In parts that are still to be added, (runs, parts, 4 x 32, 17) in float32.
    """
    if x.is_cuda:
        from nalm.engine.images import kernels_back

        out = x.new_empty(len(x), PARTS, 128, 17, dtype=torch.float32)
        kernels_back.first_gradient(u, w.contiguous(), x.contiguous(), images.contiguous(), out)
        return out
    runs, many = len(x), x.shape[1] * CELLS
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
    return (torch.where(blocks > 0, found, 0).mT @ seen).unsqueeze(1).float()


@first_gradient.register_fake
def _(u: Tensor, w: Tensor, x: Tensor, images: Tensor) -> Tensor:
    return x.new_empty(len(x), PARTS if x.is_cuda else 1, 128, 17, dtype=torch.float32)


@torch.library.custom_op("nalm::weight_gradient", mutates_args=())
def weight_gradient(u: Tensor, x: Tensor) -> Tensor:
    """Compute the gradient of the packed weights in parts that are still to be added, (runs, parts, 3, 128, 128)."""
    if x.is_cuda:
        from nalm.engine.images import kernels_back

        dw = x.new_empty(len(x), _splits(x), 3, 128, 128, dtype=torch.float32)
        kernels_back.weight_gradient(u, x.contiguous(), dw)
        return dw
    rows = u.view(*x.shape[:2], 13, 13, 2, 128)[:, :, 1:, 1:]
    taps = []
    for tap in range(3):
        parts = [_strip(x, tap + i).flatten(1, 3).mT @ rows[..., i, :].flatten(1, 3) for i in range(2)]
        taps.append(parts[0] + parts[1])
    return torch.stack(taps, 1).unsqueeze(1).float()


@weight_gradient.register_fake
def _(u: Tensor, x: Tensor) -> Tensor:
    return x.new_empty(len(x), _splits(x) if x.is_cuda else 1, 3, 128, 128, dtype=torch.float32)


def _splits(x: Tensor) -> int:
    """Return the number of parts with which the processors of a GPU, which take one part at a time, are idle least."""
    processors = torch.cuda.get_device_properties(x.device).multi_processor_count

    def busy(parts: int) -> float:
        rounds = len(x) * parts / processors
        return rounds / math.ceil(rounds)

    return max(SPLITS, key=busy)


def hidden(weights: Tensors, images: Tensor, draw: Draw | None) -> tuple[Tensor, Callable[[Tensor], Tensors]]:
    """Return the outputs (runs, n, 128) of the linear layer of images, and what pulls a gradient to the weights.

    Features stay pixel by pixel, as they are computed, and the columns of the linear layer are permuted.
    """
    w1, w2 = weights["conv1.weight"].flatten(2).mT, weights["conv2.weight"].to(images.dtype)
    nine_and_one = torch.cat([w1, weights["conv1.bias"].unsqueeze(1)], 1)
    first = first_convolution(images, T.pad(nine_and_one, (0, 0, 0, 6)).to(images.dtype))
    keys, step = draw or (None, None)
    found, which = pooled_convolution(first, packed(w2), weights["conv2.bias"], keys, step)
    columns = weights["fc1.weight"].to(images.dtype).unflatten(2, (64, 144)).mT.flatten(2)
    scale = 1 if draw is None else SCALE  # of what was kept, and so of its gradient

    def pull(gradient: Tensor) -> Tensors:
        u, sums = unpooled(gradient, columns, which)
        w, b = unpacked_first(first_gradient(u, packed_back(w2), first, images).sum(1) * scale)
        return {
            "conv1.weight": w,
            "conv1.bias": b,
            "conv2.weight": unpacked(added(weight_gradient(u, first)) * scale),
            "conv2.bias": sums.sum(1) * scale,
            "fc1.weight": torch.bmm(gradient.mT, found.flatten(2)).unflatten(2, (144, 64)).mT.flatten(2),
            "fc1.bias": gradient.float().sum(1),
        }

    return affine(found.flatten(2), columns, weights["fc1.bias"].to(images.dtype)), pull
