"""Images of digits in place of numbers, as a value."""

import math
from dataclasses import dataclass
from typing import Literal

from nalm.config.values import Value, later, require

KEPT = {  # images that sequences are cut from, by source and first digit
    ("mnist", 0): 55_000,
    ("mnist", 1): 49_566,
    ("drawn", 0): 1_833,
    ("drawn", 1): 1_649,
}


def amounts_to(operation: str) -> int:
    """How many numbers a sequence of digits comes to, and are read of each image: of counts one for every digit."""
    return 10 if operation == "count" else 1


@dataclass(frozen=True)
class Digits(Value):
    """What a network reads before it calculates: its inputs are digits, and a case's range says which.

    ``pair``: two images side by side, each read alone. A pair of digits is either trained on or tested: of all
    pairs one part in ``folds`` is left out, another one for every seed, and each pair is seen in ``samples`` images.
    ``exact`` is when an output counts as right: equal to the last bit, equal when rounded to whole numbers,
    or when rounded to five decimals. ``chosen`` is the epoch that is judged: the last, or of the last ten the one
    with the most right outputs in training, or of all the one with the lowest error on validation images.
    ``drawn`` digits are made in code, for machines without MNIST. ``start`` is the seed of the layers' first weights in
    every fold; below 0 a fold has its own.

    ``colour``: two images on top of one another, each in a channel of its own, turned, scaled and moved; the share
    ``validation`` of the training samples is held out. ``identity`` starts with nothing undone by the localisers.

    ``sequence``: images one after another, and a loop that keeps a result; ``length`` of them in training, ``lengths``
    in the test. The model is the cell, its inputs are what is read of an image and its own last output.

    Every so many epochs there is an evaluation.
    """

    layout: Literal["pair", "colour", "sequence"] = "pair"
    source: Literal["mnist", "drawn"] = "mnist"
    samples: int = 1_000
    folds: int = 10
    exact: Literal["strict", "rounded", "decimals"] = "strict"
    chosen: Literal["last", "train", "validation"] = "last"
    validation: float = later(0.0)
    identity: bool = later(False)
    length: int = later(0)
    lengths: tuple[int, ...] = later(())
    every: int = later(1)
    start: int = later(-1)

    def check(self) -> None:
        sequence = self.layout == "sequence"
        require(
            sequence == (self.length > 0) == bool(self.lengths) and min(self.lengths, default=1) > 0,
            f"A sequence, and nothing else, has a length of 1 or more in training and some in the test; got {self}.",
        )
        require(
            not sequence or (self.length in self.lengths and self.chosen == "validation"),
            f"A sequence is tested at its training length too, and judged where validation is best; got {self}.",
        )
        require(0 <= self.validation < 1, f"A share to hold out is below 1, got {self.validation!r}.")
        require(self.every >= 1, f"Evaluations come every 1 or more epochs, got {self.every}.")
        require(self.samples >= 1, f"A pair of digits is seen in 1 or more images, got {self.samples}.")
        require(self.folds >= 2, f"Pairs are held out by 2 or more folds, got {self.folds}.")

    def epoch(self, first: int, batch: int) -> int:
        """Steps of an epoch, in whole batches: over the pairs of the digits from ``first`` to 9 that are trained on.

        >>> Digits().epoch(0, 128), Digits().epoch(1, 128)
        (703, 570)
        """
        if self.layout == "sequence":
            return max(1, KEPT[self.source, min(first, 1)] // self.length // batch)
        pairs = (10 - first) ** 2
        samples = (pairs - pairs // self.folds) * self.samples
        return max(1, (samples - math.ceil(samples * self.validation)) // batch)
