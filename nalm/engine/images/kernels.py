# mypy: ignore-errors
"""Triton kernels of the convolutions with their pooling, and of the second one's gradients, for many readers at once.

Tensors are channels-last. A pooled pixel sees a window of 4 x 4 inputs, whose rows are 4 x 32 numbers without a gap, so
no patch is copied: a product reads rows of 128 numbers where they lie. Sums of a run are taken in the same order
however many runs there are.
"""

import torch
import triton
import triton.language as tl
from torch import Tensor

from nalm.engine.images.fused import SPLITS


def _configs(*sizes: tuple[int, int, int]) -> list[triton.Config]:
    return [triton.Config({"block": r}, num_warps=w, num_stages=s) for r, w, s in sizes]


@triton.autotune(_configs((128, 4, 1), (256, 4, 1), (256, 8, 1)), key=["many"])
@triton.jit
def _first(x, w, y, many, block: tl.constexpr, precision: tl.constexpr):
    """Compute the positive part of the first convolution; the tenth of a pixel's inputs is 1, for the bias."""
    run = tl.program_id(1).to(tl.int64)
    row = tl.program_id(0) * block + tl.arange(0, block)
    inside = (row < many)[:, None]
    image, place = row // 676, row % 676
    k, c = tl.arange(0, 16), tl.arange(0, 32)
    pixel = image * 784 + place // 26 * 28 + place % 26
    seen = x + run * (many // 676 * 784) + pixel[:, None] + (k // 3 * 28 + k % 3)[None, :]
    value = tl.load(seen, mask=inside & (k < 9)[None, :], other=0.0)
    value = tl.where((k == 9)[None, :], 1.0, value).to(value.dtype)
    weight = tl.load(w + run * 512 + k[:, None] * 32 + c[None, :])
    total = tl.dot(value, weight, input_precision=precision)
    out = y + run * many * 32 + row[:, None] * 32 + c[None, :]
    tl.store(out, tl.maximum(total, 0.0).to(y.dtype.element_ty), mask=inside)


@triton.autotune(_configs((64, 4, 2), (64, 4, 3), (128, 8, 2), (128, 8, 3)), key=["many"])
@triton.jit
def _forward(x, w, b, y, which, many, block: tl.constexpr, precision: tl.constexpr):
    """Compute pooled pixels, and which of its four pixels each of them is; 4 if none is positive."""
    run = tl.program_id(1).to(tl.int64)
    row = tl.program_id(0) * block + tl.arange(0, block)
    inside = (row < many)[:, None]
    image, place = row // 144, row % 144
    k, n = tl.arange(0, 64), tl.arange(0, 128)
    pixel = image * 676 + place // 12 * 52 + place % 12 * 2
    seen = x + run * (many // 144 * 676 * 32) + pixel[:, None] * 32 + k[None, :]
    kernel = w + run * (3 * 128 * 128) + k[:, None] * 128 + n[None, :]
    top = tl.zeros([block, 128], tl.float32)
    low = tl.zeros([block, 128], tl.float32)
    for half in range(6):  # of a row of the kernel
        at = half // 2 * 832 + half % 2 * 64
        weight = tl.load(kernel + half * 8192)
        upper = tl.load(seen + at, mask=inside, other=0.0)
        lower = tl.load(seen + at + 832, mask=inside, other=0.0)
        top = tl.dot(upper, weight, top, input_precision=precision)
        low = tl.dot(lower, weight, low, input_precision=precision)
    best, second = tl.split(tl.reshape(top, [block, 64, 2]))
    third, fourth = tl.split(tl.reshape(low, [block, 64, 2]))
    source = tl.where(second > best, 1, 0)
    best = tl.maximum(best, second)
    source = tl.where(third > best, 2, source)
    best = tl.maximum(best, third)
    source = tl.where(fourth > best, 3, source)
    best = tl.maximum(best, fourth)
    c = tl.arange(0, 64)
    best += tl.load(b + run * 64 + c).to(tl.float32)[None, :]
    source = tl.where(best > 0, source, 4)
    out = run * many * 64 + row[:, None] * 64 + c[None, :]
    tl.store(y + out, tl.maximum(best, 0.0).to(y.dtype.element_ty), mask=inside)
    tl.store(which + out, source.to(tl.int8), mask=inside)


@triton.jit
def _spread(g, which, first, y, x, e, c, wx, inside):
    """Return gradients of one row of pixels before the pooling: of each pooled pixel only where it came from."""
    above = y + e // 2 - 1
    ok = (inside & (above >= 0) & (above < 12) & (x >= 0) & (x < 12))[:, None]
    place = (first + above * 12 + x)[:, None] * 64 + c[None, :]
    value = tl.load(g + place, mask=ok, other=0.0)
    at = tl.load(which + place, mask=ok, other=4)
    return tl.where(at == e % 2 * 2 + wx[None, :], value, 0.0).to(value.dtype)


@triton.autotune(_configs((64, 4, 1), (64, 4, 2), (128, 8, 1), (128, 8, 2)), key=["many"])
@triton.jit
def _inputs(g, which, w, x, dx, many, block: tl.constexpr, precision: tl.constexpr):
    """Compute gradients of the inputs in blocks of 2 x 2 pixels, where the inputs are positive."""
    run = tl.program_id(1).to(tl.int64)
    row = tl.program_id(0) * block + tl.arange(0, block)
    inside = row < many
    image, place = row // 169, row % 169
    by, bx = place // 13, place % 13
    k, n = tl.arange(0, 128), tl.arange(0, 64)
    c, wx = k % 64, k // 64
    images = many // 169
    g += run * (images * 144 * 64)
    which += run * (images * 144 * 64)
    kernel = w + run * (6 * 128 * 64) + k[:, None] * 64 + n[None, :]
    top = tl.zeros([block, 64], tl.float32)
    low = tl.zeros([block, 64], tl.float32)
    for s in range(6):
        tap, left = s // 2, s % 2
        weight = tl.load(kernel + s * 8192)
        upper = _spread(g, which, image * 144, by, bx - 1 + left, 2 - tap, c, wx, inside)
        lower = _spread(g, which, image * 144, by, bx - 1 + left, 3 - tap, c, wx, inside)
        top = tl.dot(upper, weight, top, input_precision=precision)
        low = tl.dot(lower, weight, low, input_precision=precision)
    out = run * (images * 676 * 32) + ((image * 676 + by * 52 + bx * 2) * 32)[:, None] + n[None, :]
    alive = tl.load(x + out, mask=inside[:, None], other=0.0) > 0
    tl.store(dx + out, tl.where(alive, top, 0.0).to(dx.dtype.element_ty), mask=inside[:, None])
    alive = tl.load(x + out + 832, mask=inside[:, None], other=0.0) > 0
    tl.store(dx + out + 832, tl.where(alive, low, 0.0).to(dx.dtype.element_ty), mask=inside[:, None])


@triton.autotune(_configs((32, 4, 2), (64, 8, 1), (64, 8, 2), (128, 8, 1)), key=["many"])
@triton.jit
def _weights(g, which, x, dw, many, size: tl.constexpr, block: tl.constexpr, precision: tl.constexpr):
    """Compute gradients of the weights over one part of the pooled pixels, for one row of the kernel."""
    part, tap, run = tl.program_id(0), tl.program_id(1), tl.program_id(2).to(tl.int64)
    k = tl.arange(0, 128)
    c, wx = k % 64, k // 64
    seen = x + run * (many // 144 * 676 * 32) + tap * 832 + k[None, :]
    g += run * many * 64
    which += run * many * 64
    total = tl.zeros([128, 128], tl.float32)
    for start in range(0, size, block):
        row = start + tl.arange(0, block)
        inside = (row < size)[:, None]
        row += part * size
        inside = inside & (row < many)[:, None]
        image, place = row // 144, row % 144
        pixel = ((image * 676 + place // 12 * 52 + place % 12 * 2) * 32)[:, None]
        upper = tl.load(seen + pixel, mask=inside, other=0.0)
        lower = tl.load(seen + pixel + 832, mask=inside, other=0.0)
        value = tl.load(g + row[:, None] * 64 + c[None, :], mask=inside, other=0.0)
        at = tl.load(which + row[:, None] * 64 + c[None, :], mask=inside, other=4)
        first = tl.where(at == wx[None, :], value, 0.0).to(value.dtype)
        second = tl.where(at == 2 + wx[None, :], value, 0.0).to(value.dtype)
        total = tl.dot(tl.trans(upper), first, total, input_precision=precision)
        total = tl.dot(tl.trans(lower), second, total, input_precision=precision)
    out = dw + ((run * tl.num_programs(0) + part) * 3 + tap) * 16384
    tl.store(out + k[:, None] * 128 + k[None, :], total)


def _precision() -> str:
    """Return how float32 is multiplied: as torch is told to."""
    return "tf32" if torch.backends.cuda.matmul.allow_tf32 else "ieee"


def first(x: Tensor, w: Tensor, y: Tensor) -> None:
    """Fill y (runs, n, 26, 26, 32) from images (runs, n, 28, 28) and weights (runs, 16, 32)."""
    many = x.shape[1] * 676
    _first[lambda meta: (triton.cdiv(many, meta["block"]), len(x))](x, w, y, many, precision=_precision())


def pooled(x: Tensor, w: Tensor, b: Tensor, y: Tensor, which: Tensor) -> None:
    """Fill y and which (runs, n, 144, 64) from inputs (runs, n, 26, 26, 32) and packed weights (runs, 3, 128, 128)."""
    many = x.shape[1] * 144
    _forward[lambda meta: (triton.cdiv(many, meta["block"]), len(x))](
        x, w, b, y, which, many, precision=_precision()
    )


def input_gradient(g: Tensor, which: Tensor, w: Tensor, x: Tensor, dx: Tensor) -> None:
    """Fill dx (runs, n, 26, 26, 32) from gradients g (runs, n, 144, 64) and packed weights (runs, 3, 2, 128, 64)."""
    many = x.shape[1] * 169
    _inputs[lambda meta: (triton.cdiv(many, meta["block"]), len(x))](
        g, which, w, x, dx, many, precision=_precision()
    )


def weight_gradient(g: Tensor, which: Tensor, x: Tensor, dw: Tensor) -> None:
    """Fill dw (runs, SPLITS, 3, 128, 128), parts of the gradient that are still to be added."""
    many = x.shape[1] * 144
    _weights[(SPLITS, 3, len(x))](
        g, which, x, dw, many, size=triton.cdiv(many, SPLITS), precision=_precision()
    )
