"""The convolutions of many readers by kernels of their own: the second one with its pooling and dropout in one pass.

Here is how weights are packed for the operators, in how many parts gradients are summed, and how they are unpacked.
"""

import functools
import math
from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional as T

from nalm.engine.images import operators
from nalm.engine.images.dropped import SCALE, Draw
from nalm.engine.images.operators import first_convolution, pooled_convolution
from nalm.engine.images.readers import affine

Tensors = dict[str, Tensor]
# parts over which gradients are summed on a GPU: one of SPLITS for the second convolution, PARTS for the first
SPLITS, PARTS = range(8, 17), 169
GROUP = 64  # images whose gradients are summed one by one for the second bias
CELLS = 13 * 13  # pooled pixels of an image, with a row and a column of zeros before them
COLUMNS = 4 * 4 + 1  # inputs that a block of 2 x 2 pixels sees, and a one for the bias


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


def unpooled(h: Tensor, w: Tensor, which: Tensor) -> tuple[Tensor, Tensor]:
    """Compute the gradient before the pooling, (runs x n x 13 x 13, 4 x 64), and sums in parts, (runs, parts, 64)."""
    parts = CELLS * math.ceil(h.shape[1] / GROUP) if h.is_cuda else 1
    return operators.unpooled(h, w, which, CELLS, parts)


def first_gradient(u: Tensor, w: Tensor, x: Tensor, images: Tensor) -> Tensor:
    """Compute gradients of the first convolution in parts that are still to be added, (runs, parts, 4 x 32, 17)."""
    return operators.first_gradient(u, w, x, images, PARTS if x.is_cuda else 1, COLUMNS)


def weight_gradient(u: Tensor, x: Tensor) -> Tensor:
    """Compute the gradient of the packed weights in parts that are still to be added, (runs, parts, 3, 128, 128)."""
    return operators.weight_gradient(u, x, list(SPLITS) if x.is_cuda else [1])


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
