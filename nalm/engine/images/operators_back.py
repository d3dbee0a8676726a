"""The passes of the gradients of the fused convolutions as operators; see ``operators``."""

import math
from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn import functional as T

from nalm.engine.images.operators import listed, strip


@torch.library.custom_op("nalm::unpooled", mutates_args=())
def unpooled(g: Tensor, which: Tensor, parts: int) -> tuple[Tensor, Tensor]:
    """Put gradients (runs, n, 144 x 64) of pooled pixels before the pooling, (runs x n x 144, 4 x 64), and add them up.

    Only pixels with ink are written. The sums in parts, (runs, parts, 2, 64) in float32, are those over all pixels, and
    over those without ink. On a CPU the first part has all.
    """
    u, sums = _unpooled_empty(g, which, parts)
    if g.is_cuda:
        from nalm.engine.images import kernels_back

        kernels_back.unpool(g.contiguous(), which.contiguous(), u, sums)
        return u, sums
    every = g.view_as(which)
    u.copy_(torch.cat([torch.where(which == i, every, 0) for i in range(4)], -1).view_as(u))
    both = torch.stack([torch.where(which & 4 == 0, every, 0), torch.where(which == 8, every, 0)], 1)
    sums[:, 0], sums[:, 1:] = both.sum((2, 3)), 0
    return u, sums


@unpooled.register_fake
def _unpooled_empty(g: Tensor, which: Tensor, parts: int) -> tuple[Tensor, Tensor]:
    u = g.new_empty(which.shape[:3].numel(), 256)
    return u, g.new_empty(len(g), parts, 2, 64, dtype=torch.float32)


@torch.library.custom_op("nalm::first_gradient", mutates_args=())
def first_gradient(
    u: Tensor,
    w: Tensor,
    x: Tensor,
    images: Tensor,
    blocks: Tensor,
    totals: Tensor,
    choices: Sequence[int],
    columns: int,
) -> Tensor:
    """Multiply the gradient of 2 x 2 pixels, where they are positive, with the 16 inputs that they see and a one.

    Only of blocks with ink, in parts that are still to be added, (runs, parts, 4 x 32, columns) in float32; there are
    18 columns, the last of which is the sum of the gradient, positive or not. There are as many parts as one of the
    choices says. On a CPU the first part has all.
    """
    out = _first_gradient_empty(x, choices, columns)
    if x.is_cuda:
        from nalm.engine.images import kernels_back

        lists = blocks, totals
        kernels_back.first_gradient(u, w.contiguous(), x.contiguous(), images.contiguous(), lists, out)
        return out
    runs, count = x.shape[:2]
    cells = T.pad(u.view(runs, count, 12, 12, 256), (0, 0, 1, 1, 1, 1))
    rows: list[Tensor] = []
    for y in range(2):  # of the block
        sources = [(tap, left, y + 2 - tap) for tap in range(3) for left in range(2)]
        products = [
            cells[:, :, e // 2 :, left:][:, :, :13, :13, e % 2 * 128 :][..., :128].flatten(1, 3)
            @ w[:, tap, left]
            for tap, left, e in sources
        ]
        rows.append(torch.stack(products).sum(0))
    found = torch.where(listed(blocks, totals[:, 1], (runs, -1, 1)), torch.cat(rows, -1), 0)
    outputs = x.unflatten(3, (13, 2)).unflatten(2, (13, 2)).transpose(3, 4).reshape(runs, -1, 128)
    seen = images.unfold(2, 4, 2).unfold(3, 4, 2).reshape(runs, -1, 16)
    seen = torch.cat([seen, torch.ones_like(seen[..., :1])], -1)
    above = torch.where(outputs > 0, found, 0).mT @ seen
    out[:, 0], out[:, 1:] = torch.cat([above, found.sum(1).unsqueeze(-1)], -1), 0
    return out


def _first_gradient_empty(x: Tensor, choices: Sequence[int], columns: int) -> Tensor:
    parts = splits(len(x), choices, x.device, 2) if x.is_cuda else choices[0]
    return x.new_empty(len(x), parts, 128, columns, dtype=torch.float32)


@first_gradient.register_fake
def _(u, w, x, images, blocks, totals, choices, columns):  # type: ignore[no-untyped-def]
    return _first_gradient_empty(x, choices, columns)


@torch.library.custom_op("nalm::weight_gradient", mutates_args=())
def weight_gradient(u: Tensor, x: Tensor, cells: Tensor, totals: Tensor, choices: Sequence[int]) -> Tensor:
    """Compute the gradient of the packed weights in parts that are still to be added, (runs, parts, 3, 128, 128).

    Only over pooled pixels with ink. There are as many parts as one of the choices says. On a CPU the first part has
    all.
    """
    dw = _weight_gradient_empty(x, choices)
    if x.is_cuda:
        from nalm.engine.images import kernels_back

        kernels_back.weight_gradient(u, x.contiguous(), (cells, totals), dw)
        return dw
    ink = listed(cells, totals[:, 0], (len(x), -1, 1))
    rows = torch.where(ink, u.view(len(x), -1, 256), 0).unflatten(-1, (2, 128))
    taps = []
    for tap in range(3):
        both = [strip(x, tap + i).flatten(1, 3).mT @ rows[..., i, :] for i in range(2)]
        taps.append(both[0] + both[1])
    dw[:, 0], dw[:, 1:] = torch.stack(taps, 1), 0
    return dw


def _weight_gradient_empty(x: Tensor, choices: Sequence[int]) -> Tensor:
    # which of the choices it is, a traced graph shows too: ``added`` takes the parts one by one
    parts = splits(len(x), choices, x.device, 1) if x.is_cuda else choices[0]
    return x.new_empty(len(x), parts, 3, 128, 128, dtype=torch.float32)


def splits(runs: int, choices: Sequence[int], device: torch.device, at_once: int) -> int:
    """Return the number of parts that is probably fastest on a GPU whose processors take so many parts at once.

    Time is lost where the last round of parts leaves processors idle, and in writing and adding parts: measured on an
    H200 with 24 and 50 runs.
    """
    places = at_once * torch.cuda.get_device_properties(device).multi_processor_count

    def time(parts: int) -> float:
        rounds = runs * parts / places
        return math.ceil(rounds) / rounds * (1 + parts / 64)

    return min(choices, key=time)


@weight_gradient.register_fake
def _(u: Tensor, x: Tensor, cells: Tensor, totals: Tensor, choices: Sequence[int]) -> Tensor:
    return _weight_gradient_empty(x, choices)
