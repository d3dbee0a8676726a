# mypy: ignore-errors
"""Triton kernels that find which places of images have ink, and list them, for many readers at once.

A row of 28 pixels is one whole number with a bit for each, so that windows are looked through by shifts.
"""

import triton
import triton.language as tl
from torch import Tensor


@triton.jit
def _either(a, b):
    return a | b


@triton.jit
def _windows(x, words, counts, images):
    """Find the windows of an image with a pixel that is not the background, the first pixel of the run's images.

    Write a word for each row of the 12 x 12 windows of 6 x 6 pixels and of the 13 x 13 of 4 x 4, with a bit at twice
    the column of each window, and how many there are of each.
    """
    image, run = tl.program_id(0), tl.program_id(1).to(tl.int64)
    x += run * images * 784
    background = tl.load(x)
    row, k, column = tl.arange(0, 16), tl.arange(0, 8), tl.arange(0, 32)
    y = row[:, None] * 2 + k[None, :]
    at = y[:, :, None] * 28 + column[None, None, :]
    inside = (y < 28)[:, :, None] & (column < 28)[None, None, :]
    value = tl.load(x + image * 784 + at, mask=inside, other=0.0)
    ink = (inside & (value != background)).to(tl.int32)
    bits = tl.sum(ink << column[None, None, :], 2)
    six = tl.reduce(tl.where((k < 6)[None, :], bits, 0), 1, _either)
    four = tl.reduce(tl.where((k < 4)[None, :], bits, 0), 1, _either)
    four = four | (four >> 1) | (four >> 2) | (four >> 3)
    six = six | (six >> 1) | (six >> 2) | (six >> 3) | (six >> 4) | (six >> 5)
    four = tl.where(row < 13, four & 0x1555555, 0)  # every second bit of 25
    six = tl.where(row < 12, six & 0x555555, 0)
    out = words + (run * images + image) * 32
    tl.store(out + row, six)
    tl.store(out + 16 + row, four)
    place = counts + (run * images + image) * 2
    tl.store(place, tl.sum(tl.sum((six[:, None] >> column[None, :]) & 1, 1), 0))
    tl.store(place + 1, tl.sum(tl.sum((four[:, None] >> column[None, :]) & 1, 1), 0))


@triton.jit
def _list(words, counts, cells, blocks, totals, images, most: tl.constexpr):
    """Write an image's part of the lists that ``operators.inked`` describes."""
    image, run = tl.program_id(0), tl.program_id(1).to(tl.int64)
    i, j = tl.arange(0, most), tl.arange(0, 256)
    own = counts + run * images * 2 + i * 2
    of_cells, of_blocks = tl.load(own, mask=i < images, other=0), tl.load(own + 1, mask=i < images, other=0)
    word = words + (run * images + image) * 32
    # places with ink from the start of a list, those without it behind all others
    six = tl.load(word + j // 12, mask=j < 144, other=0)
    ink = (six >> (j % 12 * 2)) & 1
    before, total = tl.sum(tl.where(i < image, of_cells, 0), 0), tl.sum(of_cells, 0)
    rank = tl.cumsum(ink, 0) - ink
    place = tl.where(ink == 1, before + rank, total + image * 144 - before + j - rank)
    tl.store(cells + run * images * 144 + place, image * 144 + j, mask=j < 144)
    four = tl.load(word + 16 + j // 13, mask=j < 169, other=0)
    ink = (four >> (j % 13 * 2)) & 1
    before, count = tl.sum(tl.where(i < image, of_blocks, 0), 0), tl.sum(of_blocks, 0)
    rank = tl.cumsum(ink, 0) - ink
    place = tl.where(ink == 1, before + rank, count + image * 169 - before + j - rank)
    tl.store(blocks + run * images * 169 + place, image * 169 + j, mask=j < 169)
    if image == 0:
        tl.store(totals + run * 2, total)
        tl.store(totals + run * 2 + 1, count)


def inked(x: Tensor, cells: Tensor, blocks: Tensor, totals: Tensor) -> None:
    """Fill the lists of places of images (runs, n, 28, 28), and how many have ink."""
    runs, images = x.shape[:2]
    words = x.new_empty(runs, images, 32, dtype=cells.dtype)
    counts = x.new_empty(runs, images, 2, dtype=cells.dtype)
    _windows[(images, runs)](x, words, counts, images, num_warps=1)
    most = triton.next_power_of_2(images)
    _list[(images, runs)](words, counts, cells, blocks, totals, images, most=most, num_warps=1)
