"""Images on the device, which of them make a sample, and in which order samples are seen."""

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from nalm import draws
from nalm.engine.images import mnist

MEAN, SPREAD = 0.1307, 0.3081  # of MNIST's pixels, as published code has them


@dataclass(frozen=True)
class Resident:
    """All images as bytes (n, 28, 28) and their digits (n,) on one device; those of the test come last."""

    images: Tensor
    digits: Tensor
    trained: int  # images before those of the test

    def where(self, digit: int, test: bool) -> Tensor:
        """Return the places of the images of a digit, on the host."""
        digits = self.digits.cpu()
        part = digits[self.trained :] if test else digits[: self.trained]
        return (part == digit).nonzero().squeeze(-1) + (self.trained if test else 0)


@functools.lru_cache(maxsize=2)
def resident(source: str, data: str, device: str) -> Resident:
    """Return MNIST, or digits drawn in code, on a device; a process reads them once."""
    pictures = mnist.load(data) if source == "mnist" else mnist.drawn()
    images = torch.from_numpy(np.concatenate([pictures.train, pictures.test]))
    digits = torch.from_numpy(np.concatenate([pictures.train_digits, pictures.test_digits])).long()
    return Resident(images.to(device), digits.to(device), len(pictures.train))


def held_out(count: int, folds: int, fold: int) -> npt.NDArray[np.int64]:
    """Return which of ``count`` things a fold tests.

    They are those of scikit-learn's KFold(folds, shuffle=True, random_state=RandomState(0)).

    >>> held_out(10, 5, 0).tolist(), held_out(10, 5, 4).tolist()
    ([2, 8], [0, 5])
    """
    order = np.arange(count)
    np.random.RandomState(0).shuffle(order)
    return np.sort(np.array_split(order, folds)[fold])


def split(count: int, share: float) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return what is kept and what is held out, as scikit-learn's train_test_split(test_size=share, random_state=0).

    >>> [len(part) for part in split(72_600, 0.15)]
    [61710, 10890]
    """
    order = np.random.RandomState(0).permutation(count)
    out = math.ceil(count * share)
    return order[out:], order[:out]


def drawn_from(places: Tensor, seed: int, stream: int, count: int) -> Tensor:
    """Draw ``count`` of the places with replacement, by the seed and the number of the stream."""
    key = draws.keys([seed], "samples", stream)[0]
    bits = draws.bits(key, torch.zeros((), dtype=torch.int32), torch.arange(count, dtype=torch.int32))
    return places[(bits.long() & 0xFFFFFFFF) * len(places) >> 32]


def shuffled(
    counts: Sequence[int], wanted: int, seeds: Sequence[int], epoch: int, device: torch.device
) -> Tensor:
    """Return the order of the samples of an epoch in each run, (runs, wanted); ``counts`` tells how many a run has.

    The order starts again if more are wanted than there are.
    """
    keys = draws.keys(seeds, "order", device=device)
    step = torch.full((), epoch, dtype=torch.int32, device=device)
    own = torch.tensor(counts, device=device).unsqueeze(-1)
    place = torch.arange(max(counts), dtype=torch.int32, device=device)
    bits = draws.bits(keys, step, place).long()
    last = torch.iinfo(torch.int64).max  # where a run has fewer samples than another one
    order = torch.where(place < own, bits, last).sort(stable=True).indices
    return order.gather(1, torch.arange(wanted, device=device) % own)


def normalised(images: Tensor) -> Tensor:
    """Convert bytes to numbers around zero."""
    return (images.float() / 255 - MEAN) / SPREAD


def as_bytes(images: Tensor) -> Tensor:
    """Convert numbers around zero back to the bytes they were, for pictures."""
    return ((images * SPREAD + MEAN) * 255).round().clamp(0, 255).to(torch.uint8)
