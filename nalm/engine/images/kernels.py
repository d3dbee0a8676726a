# mypy: ignore-errors
"""Triton kernels of the convolutions with their pooling and dropout, for many readers at once.

Tensors are channels-last. A pooled pixel sees a window of 4 x 4 inputs, whose rows are 4 x 32 numbers without a gap, so
no patch is copied: a product reads rows of 128 numbers where they lie.
"""

import torch
import triton
import triton.language as tl
from torch import Tensor

from nalm import draws

FIRST, SECOND = tl.constexpr(draws.FIRST), tl.constexpr(draws.SECOND)
STEP, GOLDEN = tl.constexpr(draws.STEP), tl.constexpr(draws.GOLDEN)


def configs(*sizes: tuple[int, int, int]) -> list[triton.Config]:
    """Return settings to choose from: rows of a block, warps, and how many loads run ahead.

    Kept are those that are fastest on an H200 with 50 runs x 256 images in bfloat16, and those with less shared memory:
    float32 needs twice as much, and other GPUs have less of it. What is fastest depends on how many runs there are.
    """
    return [triton.Config({"block": r}, num_warps=w, num_stages=s) for r, w, s in sizes]


@triton.autotune(configs((64, 2, 1), (128, 4, 1)), key=["many", "runs"])
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
def _mix(x):
    """Scramble int32 values as ``draws.mix`` does."""
    x = (x ^ ((x >> 16) & 0xFFFF)) * FIRST
    x = (x ^ ((x >> 15) & 0x1FFFF)) * SECOND
    return x ^ ((x >> 16) & 0xFFFF)


@triton.jit
def _kept(keys, step, begin, block: tl.constexpr):
    """Decide which of ``block`` pooled pixels x 64 channels are kept, as ``Dropout`` does, by ``draws.hashed`` words.

    A word decides over 16 pixels of a channel, and 16 divides the 144 pixels of an image.
    """
    one, two = tl.load(keys), tl.load(keys + 1)
    offset = _mix(tl.load(step) * STEP + one)
    factor = _mix(offset ^ two) | 1
    group = begin // 16 + tl.arange(0, block // 16)
    word = (group // 9 * 576 + group % 9)[:, None] + tl.arange(0, 64)[None, :] * 9
    word = _mix((((word ^ two) * GOLDEN) ^ offset) * factor + two)
    word = tl.reshape(tl.broadcast_to(word[:, None, :], [block // 16, 16, 64]), [block, 64])
    return ((word >> (tl.arange(0, block) % 16 * 2)[:, None]) & 3) != 0


@triton.autotune(configs((64, 4, 2), (128, 8, 2), (128, 8, 3)), key=["many", "runs"])
@triton.jit
def _forward(x, w, b, keys, step, y, which, many, runs, block: tl.constexpr, precision: tl.constexpr):
    """Compute pooled pixels, and which of its four pixels each of them is; 4 if none is positive, or it is left out."""
    run = tl.program_id(1).to(tl.int64)
    row = tl.program_id(0) * block + tl.arange(0, block)
    inside = (row < many)[:, None]
    image, place = row // 144, row % 144
    k, n = tl.arange(0, 32), tl.arange(0, 128)
    pixel = image * 676 + place // 12 * 52 + place % 12 * 2
    seen = x + run * (many // 144 * 676 * 32) + pixel[:, None] * 32 + k[None, :]
    kernel = w + run * (3 * 128 * 128) + k[:, None] * 128 + n[None, :]
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
    best = tl.maximum(best, four)
    c = tl.arange(0, 64)
    best += tl.load(b + run * 64 + c).to(tl.float32)[None, :]
    if keys is not None:
        kept = _kept(keys + run * 2, step, tl.program_id(0) * block, block)
        best = tl.where(kept, best * (4 / 3), 0.0)
    source = tl.where(best > 0, source, 4)
    begin, out = run * many * 64, row[:, None] * 64 + c[None, :]
    tl.store(y + begin + out, tl.maximum(best, 0.0).to(y.dtype.element_ty), mask=inside)
    tl.store(which + begin + out, source.to(tl.int8), mask=inside)


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
    x: Tensor, w: Tensor, b: Tensor, draw: tuple[Tensor, Tensor] | None, y: Tensor, which: Tensor
) -> None:
    """Fill y and which (runs, n, 144, 64) from inputs (runs, n, 26, 26, 32) and packed weights (runs, 3, 128, 128).

    ``draw`` are the keys (runs, 2) of the dropout and the step; None leaves nothing out.
    """
    many, (keys, step) = x.shape[1] * 144, draw or (None, None)
    _forward[lambda meta: (triton.cdiv(many, meta["block"]), len(x))](
        x, w, b, keys, step, y, which, many, len(x), precision=precision()
    )
