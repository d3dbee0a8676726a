"""The convolutions of many readers by kernels of their own: the second one with its pooling in one pass.

On a CPU the same products are taken by torch, from the same packed weights.
"""

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional as T

Tensors = dict[str, Tensor]
SPLITS = 16  # parts of the images whose gradients of the second convolution are summed one by one on a GPU
GROUPS = 16  # parts of the images whose gradients of the first convolution are summed one by one


def packed(weight: Tensor) -> Tensor:
    """Kernels (runs, 64, 32, 3, 3) for a row of four pixels and two outputs: (runs, 3, 4 x 32, 64 x 2)."""
    both = torch.stack([T.pad(weight, (0, 1)), T.pad(weight, (1, 0))], -1)  # runs, out, in, 3, 4, 2
    return both.permute(0, 3, 4, 2, 1, 5).flatten(4).flatten(2, 3).contiguous()


def packed_back(weight: Tensor) -> Tensor:
    """The same for gradients: a row of 2 x 64 outputs and two inputs of 32, (runs, 3, 2, 2 x 64, 2 x 32)."""
    none = torch.zeros_like(weight[..., 0])

    def tap(column: int) -> Tensor:
        return weight[..., column] if 0 <= column < 3 else none

    parts = [
        torch.stack([torch.stack([tap(p + 2 - 2 * left - at) for p in range(2)], -1) for at in range(2)], -1)
        for left in range(2)
    ]
    every = torch.stack(parts, -1)  # runs, out, in, 3, pixel, output of two, left or right
    return every.permute(0, 3, 6, 5, 1, 4, 2).flatten(5).flatten(3, 4).contiguous()


def unpacked(gradient: Tensor) -> Tensor:
    """The gradient of kernels from that of a row, (runs, 3, 4 x 32, 2 x 64)."""
    rows = gradient.unflatten(3, (2, 64)).unflatten(2, (4, 32))  # runs, 3, 4, in, 2, out
    both = rows[:, :, :3, :, 0] + rows[:, :, 1:, :, 1]
    return both.permute(0, 4, 3, 1, 2)


def _strip(x: Tensor, row: int) -> Tensor:
    """Four pixels of a row below every pooled pixel: (runs, n, 12, 12, 128)."""
    return torch.cat([x[:, :, row : row + 23 : 2, j : j + 23 : 2] for j in range(4)], -1)


def patches(x: Tensor) -> Tensor:
    """The nine pixels that each of 26 x 26 sees, a one for the bias, and zeros: (runs, n, 26, 26, 16)."""
    x = x.unsqueeze(-1)
    parts = [x[:, :, i : i + 26, j : j + 26] for i in range(3) for j in range(3)]
    one = torch.ones_like(parts[0])
    return torch.cat([*parts, one, torch.zeros_like(one).expand(-1, -1, -1, -1, 6)], -1)


@torch.library.custom_op("nalm::first_convolution", mutates_args=())
def first_convolution(x: Tensor, w: Tensor) -> Tensor:
    """The positive part of the first convolution (runs, n, 26, 26, 32), from images and weights (runs, 16, 32)."""
    y = x.new_empty(*x.shape[:2], 26, 26, 32)
    if x.is_cuda:
        from nalm.engine.images import kernels

        kernels.first(x.contiguous(), w.contiguous(), y)
        return y
    y.copy_((patches(x).flatten(1, 3) @ w).relu().view_as(y))
    return y


@first_convolution.register_fake
def _(x: Tensor, w: Tensor) -> Tensor:
    return x.new_empty(*x.shape[:2], 26, 26, 32)


@torch.library.custom_op("nalm::pooled_convolution", mutates_args=())
def pooled_convolution(x: Tensor, w: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
    """The positive part of a pooled convolution (runs, n, 144, 64), and which of four pixels each is; 4 for none."""
    y = x.new_empty(*x.shape[:2], 144, 64)
    which = torch.empty_like(y, dtype=torch.int8)
    if x.is_cuda:
        from nalm.engine.images import kernels

        kernels.pooled(x.contiguous(), w.contiguous(), b.contiguous(), y, which)
        return y, which
    taps = [[_strip(x, tap + wy).flatten(1, 3) @ w[:, tap] for tap in range(3)] for wy in range(2)]
    rows = [torch.stack(products).sum(0).unflatten(-1, (64, 2)) for products in taps]
    best, at = torch.cat(rows, -1).max(-1)
    best = best + b.unsqueeze(1)
    y.copy_(best.relu().view_as(y))
    which.copy_(torch.where(best > 0, at, 4).view_as(y))
    return y, which


@pooled_convolution.register_fake
def _(x: Tensor, w: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
    y = x.new_empty(*x.shape[:2], 144, 64)
    return y, torch.empty_like(y, dtype=torch.int8)


@torch.library.custom_op("nalm::input_gradient", mutates_args=())
def input_gradient(g: Tensor, which: Tensor, w: Tensor, x: Tensor) -> Tensor:
    """The gradient of the inputs (runs, n, 26, 26, 32), where they are positive."""
    dx = torch.empty_like(x, memory_format=torch.contiguous_format)
    if x.is_cuda:
        from nalm.engine.images import kernels

        kernels.input_gradient(g.contiguous(), which.contiguous(), w.contiguous(), x.contiguous(), dx)
        return dx
    rows = T.pad(_rows(g, which), (0, 0, 1, 1, 2, 2))  # runs, n, 28, 14, 128
    found = []
    for below in range(2):
        products = []
        for tap in range(3):
            start = below - tap + 2
            for left in range(2):
                seen = rows[:, :, start : start + 25 : 2, left : left + 13]
                products.append(seen.flatten(1, 3) @ w[:, tap, left])
        found.append(torch.stack(products).sum(0).view(*x.shape[:2], 13, 26, 32))
    dx.copy_(torch.where(x > 0, torch.stack(found, 3).flatten(2, 3), 0))
    return dx


@input_gradient.register_fake
def _(g: Tensor, which: Tensor, w: Tensor, x: Tensor) -> Tensor:
    return torch.empty_like(x, memory_format=torch.contiguous_format)


def _rows(g: Tensor, which: Tensor) -> Tensor:
    """Gradients before the pooling, by rows of pixels: (runs, n, 24, 12, 2 x 64)."""
    parts = [torch.where(which == i, g, 0).unflatten(2, (12, 12)) for i in range(4)]
    rows = [torch.cat(parts[2 * wy : 2 * wy + 2], -1) for wy in range(2)]
    return torch.stack(rows, 3).flatten(2, 3)


@torch.library.custom_op("nalm::weight_gradient", mutates_args=())
def weight_gradient(g: Tensor, which: Tensor, x: Tensor) -> Tensor:
    """The gradient of the packed weights in parts that are still to be added, (runs, parts, 3, 128, 128) in float32."""
    if x.is_cuda:
        from nalm.engine.images import kernels

        dw = x.new_empty(len(x), SPLITS, 3, 128, 128, dtype=torch.float32)
        kernels.weight_gradient(g.contiguous(), which.contiguous(), x.contiguous(), dw)
        return dw
    rows = _rows(g, which).unflatten(2, (12, 2))
    taps = []
    for tap in range(3):
        parts = [_strip(x, tap + wy).flatten(1, 3).mT @ rows[:, :, :, wy].flatten(1, 3) for wy in range(2)]
        taps.append(parts[0] + parts[1])
    return torch.stack(taps, 1).unsqueeze(1).float()


@weight_gradient.register_fake
def _(g: Tensor, which: Tensor, x: Tensor) -> Tensor:
    return x.new_empty(len(x), SPLITS if x.is_cuda else 1, 3, 128, 128, dtype=torch.float32)


def features(weights: Tensors, images: Tensor) -> tuple[Tensor, Callable[[Tensor], Tensors]]:
    """Return features (runs, n, 9216) of images (runs, n, 28, 28), and what pulls a gradient back to the weights."""
    w1, w2 = weights["conv1.weight"].flatten(2).mT, weights["conv2.weight"].to(images.dtype)
    nine_and_one = torch.cat([w1, weights["conv1.bias"].unsqueeze(1)], 1)
    first = first_convolution(images, T.pad(nine_and_one, (0, 0, 0, 6)).to(images.dtype))
    found, which = pooled_convolution(first, packed(w2), weights["conv2.bias"])

    def pull(gradient: Tensor) -> Tensors:
        runs, n = images.shape[:2]
        g = gradient.to(images.dtype).unflatten(2, (64, 144)).transpose(2, 3).contiguous()
        dx = input_gradient(g, which, packed_back(w2), first)
        groups = runs * GROUPS if n % GROUPS == 0 else runs
        products = torch.bmm(patches(images).reshape(groups, -1, 16).mT, dx.reshape(groups, -1, 32))
        both = products.float().unflatten(0, (runs, -1)).sum(1)  # runs, 16, 32
        return {
            "conv1.weight": both[:, :9].mT.reshape(runs, 32, 1, 3, 3),
            "conv1.bias": both[:, 9],
            "conv2.weight": unpacked(weight_gradient(g, which, first).sum(1)),
            "conv2.bias": torch.where(which < 4, g, 0).float().sum((1, 2)),
        }

    return found.transpose(2, 3).flatten(2), pull
