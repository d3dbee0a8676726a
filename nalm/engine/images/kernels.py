# mypy: ignore-errors
"""Triton kernels of the convolutions with their pooling and dropout, for many readers at once.

Tensors are channels-last. A pooled pixel sees a window of 4 x 4 inputs, whose rows are 4 x 32 numbers without a gap, so
no patch is copied: a product reads rows of 128 numbers where they lie.
"""

import torch
import triton
import triton.language as tl
from torch import Tensor


def configs(*sizes: tuple[int, int, int, int | None]) -> list[triton.Config]:
    """Return settings to choose from: rows of a block, warps, how many loads run ahead, and registers at most.

    Kept are those that are fastest on an H200 with 50 runs x 256 images in bfloat16, and those with less shared memory:
    float32 needs twice as much, and other GPUs have less of it. What is fastest depends on how many runs there are.
    """
    return [triton.Config({"block": r}, num_warps=w, num_stages=s, maxnreg=m) for r, w, s, m in sizes]


@triton.autotune(configs((64, 2, 1, None), (128, 4, 1, None)), key=["many", "runs"])
@triton.jit
def _first(x, w, y, many, runs, block: tl.constexpr, precision: tl.constexpr):
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


@triton.jit
def _pooled(x, kernel, bias, pixel, inside, block: tl.constexpr, precision: tl.constexpr):
    """Return the largest of the four outputs of pooled pixels, and which of them it is."""
    seen = x + pixel[:, None] * 32 + tl.arange(0, 32)[None, :]
    inside = inside[:, None]
    top = tl.zeros([block, 128], tl.float32)
    low = tl.zeros([block, 128], tl.float32)
    for i in range(4):  # pixels of a row; both rows of outputs share what they read
        w0 = tl.load(kernel + i * 4096)
        w1 = tl.load(kernel + i * 4096 + 16384)
        w2 = tl.load(kernel + i * 4096 + 32768)
        r0 = tl.load(seen + i * 32, mask=inside, other=0.0)
        r1 = tl.load(seen + i * 32 + 832, mask=inside, other=0.0)
        r2 = tl.load(seen + i * 32 + 1664, mask=inside, other=0.0)
        r3 = tl.load(seen + i * 32 + 2496, mask=inside, other=0.0)
        top = tl.dot(r0, w0, top, input_precision=precision)
        low = tl.dot(r1, w0, low, input_precision=precision)
        top = tl.dot(r1, w1, top, input_precision=precision)
        low = tl.dot(r2, w1, low, input_precision=precision)
        top = tl.dot(r2, w2, top, input_precision=precision)
        low = tl.dot(r3, w2, low, input_precision=precision)
    best, two = tl.split(tl.reshape(top, [block, 64, 2]))
    three, four = tl.split(tl.reshape(low, [block, 64, 2]))
    source = tl.where(two > best, 1, 0)
    best = tl.maximum(best, two)
    source = tl.where(three > best, 2, source)
    best = tl.maximum(best, three)
    source = tl.where(four > best, 3, source)
    return tl.maximum(best, four) + bias, source


@triton.jit
def _write(best, source, words, y, which, cell, inside, c):
    """Leave pooled pixels out as ``Dropout`` does, and write their positive part and where it comes from."""
    if words is not None:
        word = tl.load(words + (cell // 16 * 64)[:, None] + c[None, :], mask=inside[:, None], other=0)
        kept = ((word >> (cell % 16 * 2)[:, None]) & 3) != 0
        best = tl.where(kept, best * (4 / 3), 0.0)
    out = (cell * 64)[:, None] + c[None, :]
    tl.store(y + out, tl.maximum(best, 0.0).to(y.dtype.element_ty), mask=inside[:, None])
    tl.store(which + out, tl.where(best > 0, source, source & 8 | 4).to(tl.int8), mask=inside[:, None])


@triton.autotune(configs((64, 4, 2, None), (128, 8, 2, None), (128, 8, 3, None)), key=["many", "runs"])
@triton.jit
def _forward(
    x,
    w,
    b,
    blank,
    cells,
    totals,
    words,
    y,
    which,
    many,
    runs,
    block: tl.constexpr,
    precision: tl.constexpr,
):
    """Compute pooled pixels, and which of its four pixels each is, as ``operators.pooled_convolution`` describes."""
    run, begin = tl.program_id(1).to(tl.int64), tl.program_id(0) * block
    at, c = begin + tl.arange(0, block), tl.arange(0, 64)
    inside, count = at < many, tl.load(totals + run * 2)
    cell = tl.load(cells + run * many + at, mask=inside, other=0)
    out = run * many * 64
    if words is not None:
        words += run * (many // 16) * 64
    if begin < count:
        image, place = cell // 144, cell % 144
        pixel = image * 676 + place // 12 * 52 + place % 12 * 2
        kernel = w + run * (3 * 128 * 128) + tl.arange(0, 32)[:, None] * 128 + tl.arange(0, 128)[None, :]
        bias = tl.load(b + run * 64 + c).to(tl.float32)[None, :]
        x += run * (many // 144 * 676 * 32)
        best, source = _pooled(x, kernel, bias, pixel, inside, block, precision)
        source = tl.where((at < count)[:, None], source, 8)
        _write(best, source, words, y + out, which + out, cell, inside, c)
    else:
        best = tl.zeros([block, 64], tl.float32) + tl.load(blank + run * 64 + c)[None, :]
        _write(best, tl.full([block, 64], 8, tl.int32), words, y + out, which + out, cell, inside, c)


def precision() -> str:
    """Return how float32 is multiplied: as torch is told to."""
    return "tf32" if torch.backends.cuda.matmul.allow_tf32 else "ieee"


def first(x: Tensor, w: Tensor, y: Tensor) -> None:
    """Fill y (runs, n, 26, 26, 32) from images (runs, n, 28, 28) and weights (runs, 16, 32)."""
    many = x.shape[1] * 676
    _first[lambda meta: (triton.cdiv(many, meta["block"]), len(x))](
        x, w, y, many, len(x), precision=precision()
    )


def pooled(
    x: Tensor,
    w: Tensor,
    b: Tensor,
    blank: Tensor,
    lists: tuple[Tensor, Tensor],
    words: Tensor | None,
    y: Tensor,
    which: Tensor,
) -> None:
    """Fill y and which (runs, n, 144, 64) from inputs (runs, n, 26, 26, 32) and packed weights (runs, 3, 128, 128).

    ``blank`` (runs, 64) is what pixels without ink are; lists are the pixels and how many have ink; ``words`` say what
    the dropout keeps, None that it keeps all.
    """
    many, (cells, totals) = x.shape[1] * 144, lists
    _forward[lambda meta: (triton.cdiv(many, meta["block"]), len(x))](
        x, w, b, blank, cells, totals, words, y, which, many, len(x), precision=precision()
    )
