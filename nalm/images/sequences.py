"""Images in a row, and what they amount to so far: cut as Madsen & Johansen (2020) cut them.

A permutation of the images is cut into consecutive sequences, and what is left over is dropped. The permutations are
the published ones: of the training images by a seed drawn from the run's, of the others by fixed seeds.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from nalm.networks.loop import Loop

Indices = npt.NDArray[np.int64]
VALIDATION_SEED, TEST_SEED = 47430696, 88253339  # of the published code
KINDS = ("product", "sum", "count")


def training_seed(seed: int) -> int:
    """The seed of a run's own permutation."""
    return int(np.random.RandomState(seed).randint(0, 2**32 - 1))


def permuted(labels: npt.NDArray[np.uint8], digits: Sequence[int], seed: int) -> Indices:
    """Where the images of these digits stand, in the order in which they are cut into sequences."""
    return np.random.RandomState(seed).permutation(np.flatnonzero(np.isin(labels, digits)))


def cut(order: Indices, length: int) -> Indices:
    """Consecutive sequences of a length, (sequences, length).

    >>> cut(np.array([4, 2, 9, 7, 1]), 2).tolist()
    [[4, 2], [9, 7]]
    """
    count = len(order) // length
    return order[: count * length].reshape(count, length)


def amounts(kind: str, labels: Tensor, classes: int = 10) -> Tensor:
    """What digits (..., time) amount to after every step, (..., time, out): a product, a sum, or how many of each.

    >>> amounts("product", torch.tensor([3, 5, 2])).squeeze(-1).tolist()
    [3.0, 15.0, 30.0]
    """
    if kind == "count":
        return torch.nn.functional.one_hot(labels.long(), classes).double().cumsum(-2)
    values = labels.double()
    return (values.cumprod(-1) if kind == "product" else values.cumsum(-1)).unsqueeze(-1)


class Lengths:
    """The same images cut into sequences of several lengths, all gone through together.

    The rows of the longest sequences come first, so that those still going on are always the first ones. Built for
    images in their permuted order: the image at place k is number k.
    """

    def __init__(self, kind: str, labels: Tensor, lengths: Sequence[int]):
        self.lengths = tuple(lengths)
        self._order = sorted(range(len(lengths)), key=lambda i: -lengths[i])
        places = torch.arange(len(labels))
        self.rows = [len(labels) // n for n in lengths]
        longest, rows = max(lengths), [self.rows[i] for i in self._order]
        table = torch.zeros(sum(rows), longest, dtype=torch.long)
        at = 0
        for i in self._order:
            n, count = lengths[i], self.rows[i]
            table[at : at + count, :n] = places[: count * n].reshape(count, n)
            at += count
        self.active = [
            sum(c for n, c in zip(lengths, self.rows, strict=True) if n > t) for t in range(longest)
        ]
        self.table = table.to(labels.device)
        self.targets = amounts(kind, labels[self.table])  # (rows, longest, out); padding is never looked at

    def errors(self, loop: Loop, values: Tensor) -> tuple[Tensor, Tensor]:
        """By length: the mean squared error over all steps, and the share of sequences whose last number rounds right.

        ``values`` (images, in) is what the network says of every image. Squares are taken in float64: products of
        twenty digits have ten places and more.
        """
        x = values[self.table[:, 0]]
        state = loop.begin(x)
        squares = torch.zeros(len(self.table), dtype=torch.float64, device=x.device)
        right = torch.zeros_like(squares)
        ends = {n: (sum(self.active[n - 1 : n]), sum(self.active[n : n + 1])) for n in self.lengths}
        for t, active in enumerate(self.active):
            x = values[self.table[:active, t]]
            state, _ = loop.step(x, state[:active])
            y, wanted = loop.output(state).double(), self.targets[:active, t]
            squares[:active] += (y - wanted).square().mean(-1)
            if t + 1 in ends:
                high, low = ends[t + 1]
                right[low:high] = (y[low:high].round() == wanted[low:high]).all(-1).double()
        mse, shares = torch.empty(2, len(self.lengths), dtype=torch.float64, device=x.device)
        at = 0
        for i in self._order:
            rows = slice(at, at + self.rows[i])
            mse[i], shares[i] = squares[rows].mean() / self.lengths[i], right[rows].mean()
            at = rows.stop
        return mse, shares
