# mypy: ignore-errors
"""Triton kernels of the gradients of the convolutions, for many readers at once.

The gradient before the pooling is written once, so that the products over it are plain loops whose loads run ahead.
The number of runs decides into how many parts sums are divided, and so in which order they are taken.
"""

import triton
import triton.language as tl
from torch import Tensor
from triton.tools.tensor_descriptor import TensorDescriptor

from nalm.engine.images.fused import GROUP
from nalm.engine.images.kernels import configs, precision


@triton.jit
def _unpool(h, w, which, u, sums, images, block: tl.constexpr, precision: tl.constexpr):
    """Write gradients before the pooling, 4 x 64 of one pooled pixel of a block of images, and their sums.

    A row and a column of zeros lie before every image, so that a pixel's neighbours are at the same distance from it
    everywhere. The gradient of the pooled pixel itself is a product with 64 columns of the linear layer behind it.
    """
    place, run = tl.program_id(0), tl.program_id(2).to(tl.int64)
    py, px = place // 13 - 1, place % 13 - 1
    pixel = tl.maximum(py, 0) * 12 + tl.maximum(px, 0)
    row = tl.program_id(1) * block + tl.arange(0, block)
    k, c = tl.arange(0, 128), tl.arange(0, 64)
    inside = (row < images)[:, None]
    at = which + run * images * 9216 + (row[:, None] * 9216 + pixel * 64 + c[None, :])
    pooled = (row < tl.where((py >= 0) & (px >= 0), images, 0))[:, None]
    source = tl.load(at, mask=pooled, other=4)
    above = tl.load(h + run * images * 128 + (row[:, None] * 128 + k[None, :]), mask=inside, other=0.0)
    column = tl.load(w + run * (128 * 9216) + (k[:, None] * 9216 + pixel * 64 + c[None, :]))
    value = tl.dot(above, column, input_precision=precision).to(u.dtype.element_ty)
    out = u + run * images * (169 * 256) + (row[:, None] * (169 * 256) + place * 256 + c[None, :])
    for i in tl.static_range(4):
        tl.store(out + i * 64, tl.where(source == i, value, 0.0).to(value.dtype), mask=inside)
    total = tl.sum(tl.where(source < 4, value, 0.0).to(tl.float32), 0)
    part = (run * tl.num_programs(1) + tl.program_id(1)) * 169 + place
    tl.store(sums + part * 64 + c, total)


def _set_boxes(arguments) -> None:
    """Set how much of each tensor one load takes, which depends on the settings."""
    arguments["u"].block_shape = [arguments["block"], arguments["deep"]]
    arguments["w"].block_shape = [arguments["deep"], 64]


def _boxes(*sizes: tuple[int, int, int, int]) -> list[triton.Config]:
    return [
        triton.Config({"block": r, "deep": d}, num_warps=w, num_stages=s, pre_hook=_set_boxes)
        for r, d, w, s in sizes
    ]


@triton.autotune(_boxes((128, 32, 8, 2), (64, 32, 4, 2)), key=["many", "runs"])
@triton.jit
def _inputs(
    u,
    w,
    x,
    pictures,
    out,
    many,
    runs,
    size: tl.constexpr,
    block: tl.constexpr,
    deep: tl.constexpr,
    precision: tl.constexpr,
):
    """Compute gradients of the first convolution over one part of the blocks of 2 x 2 of its pixels.

    Those of a block's two rows are products of the pooled pixels around it and of weights; u and w are descriptors.
    Where a pixel is positive, they are multiplied with the 16 inputs that the block sees, and with a one for the bias.
    """
    part, run = tl.program_id(0), tl.program_id(1)
    n, j = tl.arange(0, 64), tl.arange(0, 32)
    x += run.to(tl.int64) * (many // 169 * 676 * 32)
    pictures += run.to(tl.int64) * (many // 169 * 784)
    above = tl.zeros([64, 32], tl.float32)
    below = tl.zeros([64, 32], tl.float32)
    for start in tl.range(0, size, block, num_stages=1):
        begin = part * size + start
        top = tl.zeros([block, 64], tl.float32)
        low = tl.zeros([block, 64], tl.float32)
        for i in range(256 // deep):
            left, at = i // (128 // deep), i % (128 // deep) * deep
            near, tap = run * many + begin + left, run * 768 + left * 128 + at
            a0, w2 = u.load([near, at]), w.load([tap + 512, 0])
            a1, w1 = u.load([near, at + 128]), w.load([tap + 256, 0])
            a2, w0 = u.load([near + 13, at]), w.load([tap, 0])
            a3 = u.load([near + 13, at + 128])
            top = tl.dot(a0, w2, top, input_precision=precision)
            low = tl.dot(a1, w2, low, input_precision=precision)
            top = tl.dot(a1, w1, top, input_precision=precision)
            low = tl.dot(a2, w1, low, input_precision=precision)
            top = tl.dot(a2, w0, top, input_precision=precision)
            low = tl.dot(a3, w0, low, input_precision=precision)
        row = begin + tl.arange(0, block)
        inside = ((row < many) & (start + tl.arange(0, block) < size))[:, None]
        image, place = row // 169, row % 169
        by, bx = place // 13, place % 13
        own = ((image * 676 + by * 52 + bx * 2) * 32)[:, None] + n[None, :]
        alive = tl.load(x + own, mask=inside, other=0.0) > 0
        top = tl.where(alive, top, 0.0).to(w.dtype)
        alive = tl.load(x + own + 832, mask=inside, other=0.0) > 0
        low = tl.where(alive, low, 0.0).to(w.dtype)
        window = (image * 784 + by * 56 + bx * 2)[:, None] + (j // 4 * 28 + j % 4)[None, :]
        seen = tl.load(pictures + window, mask=inside & (j < 16)[None, :], other=0.0)
        seen = tl.where((j == 16)[None, :], 1.0, seen).to(w.dtype)
        above = tl.dot(tl.trans(top), seen, above, input_precision=precision)
        below = tl.dot(tl.trans(low), seen, below, input_precision=precision)
    found = out + (run.to(tl.int64) * tl.num_programs(0) + part) * 2176 + n[:, None] * 17 + j[None, :]
    tl.store(found, above, mask=(j < 17)[None, :])
    tl.store(found + 1088, below, mask=(j < 17)[None, :])


@triton.autotune(configs((32, 8, 4), (32, 8, 3), (32, 8, 2), (32, 8, 1)), key=["many", "runs"])
@triton.jit
def _weights(u, x, dw, many, runs, size: tl.constexpr, block: tl.constexpr, precision: tl.constexpr):
    """Compute gradients of the second convolution's weights over one part of the pooled pixels."""
    part, run = tl.program_id(0), tl.program_id(1).to(tl.int64)
    k = tl.arange(0, 128)
    seen = x + run * (many // 144 * 676 * 32) + k[None, :]
    u += run * (many // 144 * 169 * 256)
    one = tl.zeros([128, 128], tl.float32)
    two = tl.zeros([128, 128], tl.float32)
    three = tl.zeros([128, 128], tl.float32)
    for start in range(0, size, block):
        row = start + tl.arange(0, block)
        inside = (row < size)[:, None]
        row += part * size
        inside = inside & (row < many)[:, None]
        image, place = row // 144, row % 144
        py, px = place // 12, place % 12
        pixel = ((image * 676 + py * 52 + px * 2) * 32)[:, None]
        near = u + (image * 169 + py * 13 + px + 14)[:, None] * 256 + k[None, :]
        upper = tl.load(near, mask=inside, other=0.0)
        lower = tl.load(near + 128, mask=inside, other=0.0)
        r0 = tl.load(seen + pixel, mask=inside, other=0.0)
        r1 = tl.load(seen + pixel + 832, mask=inside, other=0.0)
        r2 = tl.load(seen + pixel + 1664, mask=inside, other=0.0)
        r3 = tl.load(seen + pixel + 2496, mask=inside, other=0.0)
        one = tl.dot(tl.trans(r0), upper, one, input_precision=precision)
        two = tl.dot(tl.trans(r1), upper, two, input_precision=precision)
        three = tl.dot(tl.trans(r2), upper, three, input_precision=precision)
        one = tl.dot(tl.trans(r1), lower, one, input_precision=precision)
        two = tl.dot(tl.trans(r2), lower, two, input_precision=precision)
        three = tl.dot(tl.trans(r3), lower, three, input_precision=precision)
    out = dw + (run * tl.num_programs(0) + part) * 49152 + k[:, None] * 128 + k[None, :]
    tl.store(out, one)
    tl.store(out + 16384, two)
    tl.store(out + 32768, three)


def unpool(h: Tensor, w: Tensor, which: Tensor, u: Tensor, sums: Tensor) -> None:
    """Fill u (runs x n x 169, 256) and sums (runs, parts, 64) from gradients h (runs, n, 128) of a linear layer."""
    grid = (169, sums.shape[1] // 169, len(h))
    _unpool[grid](h, w, which, u, sums, h.shape[1], block=GROUP, precision=precision(), num_warps=8)


def first_gradient(u: Tensor, w: Tensor, x: Tensor, images: Tensor, out: Tensor) -> None:
    """Fill out (runs, parts, 128, 17), parts that are still to be added, with packed weights (runs, 3, 2, 128, 64)."""
    many, parts = x.shape[1] * 169, out.shape[1]
    boxed = [TensorDescriptor.from_tensor(t, [1, 32]) for t in (u, w.view(-1, 64))]
    _inputs[(parts, len(x))](
        *boxed, x, images, out, many, len(x), triton.cdiv(many, parts), precision=precision()
    )


def weight_gradient(u: Tensor, x: Tensor, dw: Tensor) -> None:
    """Fill dw (runs, parts, 3, 128, 128), parts of the gradient that are still to be added."""
    many, parts = x.shape[1] * 144, dw.shape[1]
    _weights[(parts, len(x))](u, x, dw, many, len(x), triton.cdiv(many, parts), precision=precision())
