# mypy: ignore-errors
"""Triton kernels of the gradients of the convolutions, for many readers at once.

The gradient before the pooling is written once, so that the products over it are plain loops whose loads run ahead.
The number of runs decides into how many parts sums are divided, and so in which order they are taken.
"""

import triton
import triton.language as tl
from torch import Tensor

from nalm.engine.images.kernels import configs, precision


@triton.jit
def _unpool(g, which, u, sums, many, size, block: tl.constexpr):
    """Write gradients before the pooling, 4 x 64 of a pooled pixel with ink, and sums, over a share of the pixels."""
    part, run, c = tl.program_id(0), tl.program_id(1).to(tl.int64), tl.arange(0, 64)
    c = (
        c // 8 * 8 + c % 8
    )  # taken for groups of eight: so both loads are divided among threads in the same way
    g, which, u = g + run * many * 64, which + run * many * 64, u + run * many * 256
    every = tl.zeros([block, 64], tl.float32)
    blank = tl.zeros([block, 64], tl.float32)
    end = tl.minimum(part * size + size, many)
    for start in range(part * size, end, block):
        row = start + tl.arange(0, block)
        inside = row < end
        at = row[:, None] * 64 + c[None, :]
        source = tl.load(which + at, mask=inside[:, None], other=12).to(tl.int32)
        value = tl.load(g + at, mask=inside[:, None], other=0.0)
        ink = tl.load(which + row * 64, mask=inside, other=12) < 8
        out = u + row[:, None] * 256 + c[None, :]
        for i in tl.static_range(4):
            tl.store(out + i * 64, tl.where(source == i, value, 0.0).to(value.dtype), mask=ink[:, None])
        every += tl.where(source & 4 == 0, value.to(tl.float32), 0.0)
        blank += tl.where(source == 8, value.to(tl.float32), 0.0)
    sums += (run * tl.num_programs(0) + part) * 128 + c
    tl.store(sums, tl.sum(every, 0))
    tl.store(sums + 64, tl.sum(blank, 0))


@triton.autotune(configs((128, 4, 4, None), (64, 4, 4, 168), (64, 4, 2, None)), key=["images", "runs"])
@triton.jit
def _inputs(
    u, w, x, pictures, blocks, totals, out, images, runs, block: tl.constexpr, precision: tl.constexpr
):
    """Compute gradients of the first convolution over a share of the blocks of 2 x 2 of its pixels that have ink.

    Those of a block's two rows are products of weights and of the pooled pixels around it, with blocks as columns.
    Where a pixel is positive, they are multiplied with the 16 inputs that the block sees, and with a one for the bias.
    The last column of the result is their sum, positive or not. One loop takes the steps of all blocks, so that loads
    for the next ones run ahead.
    """
    part, run, parts = tl.program_id(0), tl.program_id(1).to(tl.int64), tl.num_programs(0)
    n, j, k = tl.arange(0, 64), tl.arange(0, 32), tl.arange(0, 32)
    x, u, pictures = x + run * images * (676 * 32), u + run * images * 36864, pictures + run * images * 784
    blocks += run * images * 169
    kernel = w + run * (3 * 256 * 64) + k[:, None] * 64 + n[None, :]
    above, below = tl.zeros([64, 32], tl.float32), tl.zeros([64, 32], tl.float32)
    sum_above, sum_below = tl.zeros([64], tl.float32), tl.zeros([64], tl.float32)
    top, low = tl.zeros([64, block], tl.float32), tl.zeros([64, block], tl.float32)
    count = tl.load(totals + run * 2 + 1)
    for step in tl.range(0, tl.cdiv(count - part * block, parts * block) * 8):
        i = (
            step % 8
        )  # of a block: 32 of the 128 numbers in a row of its pooled pixels, of the left or the right one
        row = (part + step // 8 * parts) * block + tl.arange(0, block)
        inside = row < count
        listed = tl.load(blocks + row, mask=inside, other=0)
        image, place = listed // 169, listed % 169
        y, z = place // 13, place % 13
        left, at = i % 2, i // 2 * 32
        beside = inside & (z + left > 0) & (z + left < 13)
        up, down = (beside & (y > 0))[:, None], (beside & (y < 12))[:, None]
        near = u + ((image * 144 + y * 12 + z - 13 + left) * 256 + at)[:, None] + k[None, :]
        tap = kernel + (left * 128 + at) * 64
        w2, w1, w0 = tl.load(tap + 32768), tl.load(tap + 16384), tl.load(tap)
        r0, r1 = tl.load(near, mask=up, other=0.0), tl.load(near + 128, mask=up, other=0.0)
        r2, r3 = tl.load(near + 3072, mask=down, other=0.0), tl.load(near + 3200, mask=down, other=0.0)
        top = tl.dot(tl.trans(w2), tl.trans(r0), top, input_precision=precision)
        low = tl.dot(tl.trans(w2), tl.trans(r1), low, input_precision=precision)
        top = tl.dot(tl.trans(w1), tl.trans(r1), top, input_precision=precision)
        low = tl.dot(tl.trans(w1), tl.trans(r2), low, input_precision=precision)
        top = tl.dot(tl.trans(w0), tl.trans(r2), top, input_precision=precision)
        low = tl.dot(tl.trans(w0), tl.trans(r3), low, input_precision=precision)
        if i == 7:
            sum_above += tl.sum(top, 1)
            sum_below += tl.sum(low, 1)
            own = x + ((image * 676 + y * 52 + z * 2) * 32)[:, None] + n[None, :]
            alive = tl.trans(tl.load(own, mask=inside[:, None], other=0.0)) > 0
            top = tl.where(alive, top, 0.0)
            alive = tl.trans(tl.load(own + 832, mask=inside[:, None], other=0.0)) > 0
            low = tl.where(alive, low, 0.0)
            window = (image * 784 + y * 56 + z * 2)[:, None] + (j // 4 * 28 + j % 4)[None, :]
            seen = tl.load(pictures + window, mask=inside[:, None] & (j < 16)[None, :], other=0.0)
            seen = tl.where((j == 16)[None, :], 1.0, seen).to(pictures.dtype.element_ty)
            above = tl.dot(top.to(seen.dtype), seen, above, input_precision=precision)
            below = tl.dot(low.to(seen.dtype), seen, below, input_precision=precision)
            top, low = tl.zeros([64, block], tl.float32), tl.zeros([64, block], tl.float32)
    out += (run * parts + part) * (128 * 18) + n * 18
    tl.store(out[:, None] + j[None, :], above, mask=(j < 17)[None, :])
    tl.store(out[:, None] + 1152 + j[None, :], below, mask=(j < 17)[None, :])
    tl.store(out + 17, sum_above)
    tl.store(out + 1152 + 17, sum_below)


@triton.autotune(configs((32, 8, 5, None), (32, 8, 4, None), (32, 8, 2, None)), key=["images", "runs"])
@triton.jit
def _weights(u, x, cells, totals, dw, images, runs, block: tl.constexpr, precision: tl.constexpr):
    """Compute gradients of the second convolution's weights over a share of the pooled pixels that have ink."""
    part, run = tl.program_id(0), tl.program_id(1).to(tl.int64)
    k = tl.arange(0, 128)
    x += run * images * (676 * 32)
    u += run * images * 36864
    cells += run * images * 144
    one = tl.zeros([128, 128], tl.float32)
    two = tl.zeros([128, 128], tl.float32)
    three = tl.zeros([128, 128], tl.float32)
    count = tl.load(totals + run * 2)
    for start in range(part * block, count, tl.num_programs(0) * block):
        row = start + tl.arange(0, block)
        inside = (row < count)[:, None]
        cell = tl.load(cells + row, mask=row < count, other=0)
        image, place = cell // 144, cell % 144
        seen = x + ((image * 676 + place // 12 * 52 + place % 12 * 2) * 32)[:, None] + k[None, :]
        near = u + (cell * 256)[:, None] + k[None, :]
        upper = tl.load(near, mask=inside, other=0.0)
        lower = tl.load(near + 128, mask=inside, other=0.0)
        r0 = tl.load(seen, mask=inside, other=0.0)
        r1 = tl.load(seen + 832, mask=inside, other=0.0)
        r2 = tl.load(seen + 1664, mask=inside, other=0.0)
        r3 = tl.load(seen + 2496, mask=inside, other=0.0)
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


def unpool(g: Tensor, which: Tensor, u: Tensor, sums: Tensor) -> None:
    """Fill u (runs x n x 144, 256) where there is ink, and sums (runs, parts, 2, 64), by gradients (runs, n, 9216)."""
    parts, many = sums.shape[1], g.shape[1] * 144
    _unpool[(parts, len(g))](g, which, u, sums, many, triton.cdiv(many, parts), block=32)


def first_gradient(
    u: Tensor, w: Tensor, x: Tensor, images: Tensor, lists: tuple[Tensor, Tensor], out: Tensor
) -> None:
    """Fill out (runs, parts, 128, 18), parts that are still to be added, with packed weights (runs, 3, 2, 128, 64)."""
    sizes = x.shape[1], len(x)
    _inputs[(out.shape[1], len(x))](u, w, x, images, *lists, out, *sizes, precision=precision())


def weight_gradient(u: Tensor, x: Tensor, lists: tuple[Tensor, Tensor], dw: Tensor) -> None:
    """Fill dw (runs, parts, 3, 128, 128), parts of the gradient that are still to be added."""
    _weights[(dw.shape[1], len(x))](u, x, *lists, dw, x.shape[1], len(x), precision=precision())
