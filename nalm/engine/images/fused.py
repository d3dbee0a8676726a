"""The convolutions of many readers by kernels of their own: the second one with its pooling and dropout in one pass.

Here is how weights are packed for the operators, in how many parts gradients are summed, and how they are unpacked.
"""

import functools
from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional as T

from nalm.engine.images import operators, operators_back
from nalm.engine.images.dropped import SCALE, Draw, feature_words
from nalm.engine.images.operators import first_convolution, pooled_convolution
from nalm.engine.images.readers import affine

Tensors = dict[str, Tensor]
# parts over which gradients are summed on a GPU: of the second convolution, of the first, and of the second's bias
SPLITS, FIRST_SPLITS, PARTS = range(3, 17), (5, 8, 11, 16, 22, 26, 33, 44, 66), 144
BLOCKS = 13 * 13  # of 2 x 2 outputs of the first convolution
COLUMNS = 4 * 4 + 2  # inputs that a block of 2 x 2 pixels sees, a one for the bias, and the sum


class Ink(NamedTuple):
    """Where images have ink: see ``operators.inked``."""

    cells: Tensor
    blocks: Tensor
    totals: Tensor


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


def by_pixel(weight: Tensor) -> Tensor:
    """Order the columns of the linear layer (runs, 128, 64 x 144) by pixels: (runs, 128, 144, 64)."""
    return weight.unflatten(2, (64, 144)).mT


def by_channel(weight: Tensor) -> Tensor:
    """Order columns by channels again: the inverse of ``by_pixel``."""
    return weight.mT.flatten(2)


def added(parts: Tensor) -> Tensor:
    """Sum (runs, parts, ...) over parts, one by one: so compiled, large parts are read faster than by ``sum``."""
    return functools.reduce(torch.add, parts.unbind(1))


def unpacked(gradient: Tensor) -> Tensor:
    """Compute the gradient of kernels from that of packed ones, (runs, 3, 4 x 32, 2 x 64)."""
    rows = gradient.unflatten(3, (2, 64)).unflatten(2, (4, 32))  # runs, 3, 4, in, 2, out
    both = rows[:, :, :3, :, 0] + rows[:, :, 1:, :, 1]
    return both.permute(0, 4, 3, 1, 2)


def unpacked_first(gradient: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Compute gradients of the first kernels and their bias from those of a block of 2 x 2, (runs, 4 x 32, 18).

    The third result is the sum of the gradients of the outputs with ink, (runs, 32).
    """
    blocks = gradient.unflatten(1, (2, 2, 32))
    seen = blocks[..., :16].unflatten(-1, (4, 4))
    parts = [seen[:, y, x, :, y : y + 3, x : x + 3] for y in range(2) for x in range(2)]
    return torch.stack(parts).sum(0).unsqueeze(2), *blocks[..., 16:].sum((1, 2)).unbind(-1)


def unpooled(g: Tensor, which: Tensor) -> tuple[Tensor, Tensor]:
    """Return gradients before the pooling, (runs x n x 144, 4 x 64), and sums in parts, (runs, parts, 2, 64)."""
    return operators_back.unpooled(g, which, PARTS if g.is_cuda else 1)


def first_gradient(u: Tensor, w: Tensor, x: Tensor, images: Tensor, ink: Ink) -> Tensor:
    """Compute gradients of the first convolution in parts that are still to be added, (runs, parts, 4 x 32, 18)."""
    choices = list(FIRST_SPLITS) if x.is_cuda else [1]
    return operators_back.first_gradient(u, w, x, images, ink.blocks, ink.totals, choices, COLUMNS)


def weight_gradient(u: Tensor, x: Tensor, ink: Ink) -> Tensor:
    """Compute the gradient of the packed weights in parts that are still to be added, (runs, parts, 3, 128, 128)."""
    return operators_back.weight_gradient(u, x, ink.cells, ink.totals, list(SPLITS) if x.is_cuda else [1])


def _without_ink(first: Tensor, ink: Ink) -> Tensor:
    """Return the first convolution's outputs (runs, 32) where it sees only the background: in the last block.

    If that has ink, all have, and the outputs are not needed.
    """
    image, place = ink.blocks[:, -1].long() // BLOCKS, ink.blocks[:, -1].long() % BLOCKS
    run = torch.arange(len(first), device=first.device)
    return first[run, image, place // 13 * 2, place % 13 * 2]


def hidden(weights: Tensors, images: Tensor, draw: Draw | None) -> tuple[Tensor, Callable[[Tensor], Tensors]]:
    """Return the outputs (runs, n, 128) of the linear layer of images, and what pulls a gradient to the weights.

    Features stay pixel by pixel, as they are computed, and the columns of the linear layer are permuted. Where only
    the background is seen, both convolutions have the same outputs at every place: ``blank_first``, ``blank_second``.
    """
    w1, w2 = weights["conv1.weight"].flatten(2).mT, weights["conv2.weight"].to(images.dtype)
    nine_and_one = torch.cat([w1, weights["conv1.bias"].unsqueeze(1)], 1)
    ten = T.pad(nine_and_one, (0, 0, 0, 6)).to(images.dtype)
    ink, background = Ink(*operators.inked(images)), images[:, 0, 0, 0].float().unsqueeze(-1)
    first = first_convolution(images, ten)
    blank_first = _without_ink(first, ink).float()
    whole = w2.float().sum((3, 4))  # of an output and an input that is the same everywhere
    blank_second = (whole * blank_first.unsqueeze(1)).sum(-1) + weights["conv2.bias"]
    words = None if draw is None else feature_words(draw, images.shape[1])
    found, which = pooled_convolution(
        first, packed(w2), weights["conv2.bias"], blank_second, ink.cells, ink.totals, words
    )
    columns = by_pixel(weights["fc1.weight"].to(images.dtype)).flatten(2)
    scale = 1 if draw is None else SCALE  # of what was kept, and so of its gradient

    def pull(gradient: Tensor) -> Tensors:
        u, parts = unpooled(torch.bmm(gradient, columns), which)
        # sums of the gradients of the second convolution's outputs, (runs, 64): of all, and of those without ink
        all_sums, blank_sums = parts.sum(1).unbind(1)
        w, b, ink_sums = unpacked_first(first_gradient(u, packed_back(w2), first, images, ink).sum(1))
        # what the first convolution's outputs get in all, less what those with ink do
        rest = torch.where(blank_first > 0, (all_sums.unsqueeze(-1) * whole).sum(1) - ink_sums, 0)
        kernels = unpacked(added(weight_gradient(u, first, ink)))
        without = (blank_sums.unsqueeze(-1) * blank_first.unsqueeze(1)).unflatten(2, (-1, 1, 1))
        return {
            "conv1.weight": (w + (rest * background).unflatten(1, (-1, 1, 1, 1))) * scale,
            "conv1.bias": (b + rest) * scale,
            "conv2.weight": (kernels + without) * scale,
            "conv2.bias": all_sums * scale,
            "fc1.weight": by_channel(torch.bmm(gradient.mT, found.flatten(2)).unflatten(2, (144, 64))),
            "fc1.bias": gradient.float().sum(1),
        }

    return affine(found.flatten(2), columns, weights["fc1.bias"].to(images.dtype)), pull
