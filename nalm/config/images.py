"""Tasks whose inputs are read from images of digits: one class for each layout of the images.

The range of a task says which digits there are: ``grid(FIRST, 10)`` for the digits from FIRST to 9.
"""

import math
from collections.abc import Hashable
from dataclasses import dataclass, field, fields
from typing import Literal

from nalm.config.layer import Layer
from nalm.config.ranges import Range, grid
from nalm.config.recipe import Recipe
from nalm.config.task import Chosen, Task
from nalm.config.threshold import Threshold
from nalm.config.values import require

KEPT = {  # images that sequences are cut from, by source and first digit
    ("mnist", 0): 55_000,
    ("mnist", 1): 49_566,
    ("drawn", 0): 1_833,
    ("drawn", 1): 1_649,
}
AMOUNTS = ("multiply", "add", "count")  # what can be asked about a sequence
IMAGE = 2**16  # numbers that a network holds of one image while it trains
SMALL = 2**13  # the same where all runs are one batch: at least fifty of them fit on a GPU
PSEUDO_LABEL = "pseudo-label"  # a penalty of readers: see ``engine.images.readers.pseudo_label``


def amounts_to(operation: str) -> int:
    """Return how many numbers a sequence of digits amounts to: one, or for counts one for every digit."""
    return 10 if operation == "count" else 1


class OfImages(Task):
    """The base of tasks on images.

    Images come from the files of MNIST or are ``drawn`` in code, for machines without them. Evaluations are
    ``every`` so many epochs. ``start`` is the seed of the layers' first weights for every run; below 0 each run has
    its own.
    """

    extends = True
    untrained = (
        *("l1", "l2", "clip_value", "gradient_noise", "inalu", "stop_when_solved", "grid", "polish"),
        *("schedule", "normal_starts", "rules"),
    )

    def check(self) -> None:
        require(
            self.train in [grid(first, 10) for first in range(9)],
            f"Digits are read up to 9, and two of them at least: train on grid(FIRST, 10); got {self.train}.",
        )
        require(
            self.threshold.kind == "fixed",
            f"Networks that read images have a fixed threshold, got one of kind {self.threshold.kind!r}.",
        )
        require(bool(self.source), "Images are from 'mnist', or 'drawn' in code: name one as the source.")
        require(self.every >= 1, f"Evaluations come every 1 or more epochs, got {self.every}.")

    @property
    def test(self) -> Range:  # type: ignore[override]
        """The digits of the test are those of training."""
        return self.train

    @property
    def first(self) -> int:
        """The smallest digit."""
        return int(self.train.low)

    @property
    def images(self) -> int:
        """Two, or as many as a training sequence has."""
        return 2

    @property
    def size(self) -> int:
        """Numbers that training holds of one example, all its images together."""
        return self.inputs * IMAGE

    def signature(self, model: tuple[Layer, ...], recipe: Recipe) -> Hashable:
        """Return the whole case: only runs of one case share a program, since its numbers are part of it."""
        return self, model, recipe

    @property
    def positive(self) -> bool:
        """Digits are treated as positive numbers in formulas."""
        return True


class OfTwoDigits(OfImages):
    """Rules of tasks on two digits."""

    samples: int
    validation: float = 0.0

    def check(self) -> None:
        super().check()
        require(self.samples >= 1, f"A pair of digits is seen in 1 or more images, got {self.samples}.")
        require(self.folds >= 2, f"Pairs are held out by 2 or more folds, got {self.folds}.")
        require(
            self.chosen != "validation",
            "Two digits are judged at the last epoch or where training is best: chosen='last' or 'train'.",
        )
        require(
            bool(self.exact),
            "An output counts as right when exact='strict', 'rounded' or 'decimals': name one.",
        )

    def epoch(self, batch: int) -> int:
        """Return the steps of an epoch, in whole batches, over the pairs of digits that are trained on.

        >>> TwoDigits("multiply").epoch(128), TwoDigits("divide", grid(1, 10)).epoch(128)
        (703, 570)
        """
        pairs = (10 - self.first) ** 2
        samples = (pairs - pairs // self.folds) * self.samples
        return max(1, (samples - math.ceil(samples * self.validation)) // batch)


@dataclass(frozen=True)
class TwoDigits(OfTwoDigits):
    """Two images side by side, each read alone, and an operation on their digits.

    A pair of digits is either trained on or tested: of all pairs one part in ``folds`` is left out, another one for
    every seed, and each pair is seen in ``samples`` images. ``exact`` says when an output counts as right: equal to
    the last bit, equal when rounded to whole numbers, or when rounded to five decimals. ``chosen`` says which
    epoch counts: the last, or of the last ten the one with the most right outputs in training. ``generator="torch"``
    draws the layers' first weights as torch does on a GPU after ``torch.manual_seed``.
    """

    operation: str
    train: Range = field(default_factory=lambda: grid(0, 10))
    threshold: Threshold = field(default_factory=lambda: Threshold("fixed"))
    source: Literal["", "mnist", "drawn"] = "mnist"
    samples: int = 1_000
    folds: int = 10
    exact: Literal["", "strict", "rounded", "decimals"] = "strict"
    chosen: Chosen = "last"
    every: int = 1
    start: int = -1
    generator: Literal["nalm", "torch"] = "nalm"

    inputs = 2
    per_run = ("threshold", "exact", "chosen", "start", "generator")
    penalties = (PSEUDO_LABEL,)

    @property
    def size(self) -> int:
        """Numbers that training holds of one example; the layers of all runs are one batch."""
        return self.inputs * SMALL

    def signature(self, model: tuple[Layer, ...], recipe: Recipe) -> Hashable:
        """Return what runs of one program have in common: readers and steps; their layers may differ."""
        own = ("penalties", "clip_norm", "weight_decay", "starts")
        steps = tuple(getattr(recipe, f.name) for f in fields(recipe) if f.name not in own)
        pairs = tuple(getattr(self, f.name) for f in fields(self) if f.name not in self.per_run)
        return type(self), pairs, steps


@dataclass(frozen=True)
class Colour(OfTwoDigits):
    """Two images on top of one another, each in a channel of its own, turned, scaled and moved.

    As ``TwoDigits``, but the share ``validation`` of the training samples is held out. ``identity`` starts the
    localisers as the identity, so that they move nothing at first.
    """

    operation: str
    train: Range = field(default_factory=lambda: grid(0, 10))
    threshold: Threshold = field(default_factory=lambda: Threshold("fixed"))
    source: Literal["", "mnist", "drawn"] = "mnist"
    samples: int = 1_000
    folds: int = 10
    exact: Literal["", "strict", "rounded", "decimals"] = "strict"
    chosen: Chosen = "last"
    validation: float = 0.15
    identity: bool = False
    every: int = 1
    start: int = -1

    inputs = 2

    def check(self) -> None:
        super().check()
        require(
            0 < self.validation < 1,
            f"Of samples in colour a share between 0 and 1 is held out for validation, got {self.validation:g}.",
        )


@dataclass(frozen=True)
class ImageSequence(OfImages):
    """Images one after another, and a loop that keeps a result; the model is the cell of the loop.

    ``length`` is the number of images in training, ``lengths`` those in the test. The inputs of the cell are what is
    read of an image and its own last output. The epoch with the lowest validation error counts.
    """

    operation: str
    train: Range = field(default_factory=lambda: grid(0, 10))
    inputs: int = 2
    threshold: Threshold = field(default_factory=lambda: Threshold("fixed"))
    source: Literal["", "mnist", "drawn"] = "mnist"
    length: int = 2
    lengths: tuple[int, ...] = (2,)
    every: int = 1
    start: int = -1

    def check(self) -> None:
        super().check()
        require(
            self.length > 0 and bool(self.lengths) and min(self.lengths) > 0,
            f"Sequences have a length of 1 or more in training and some in the test, got {self}.",
        )
        require(self.length in self.lengths, f"A sequence is tested at its training length too, got {self}.")
        require(
            self.operation in AMOUNTS,
            f"A sequence comes to {', '.join(AMOUNTS)} of its digits, not to {self.operation!r}.",
        )
        require(
            self.first in (0, 1),
            f"Sequences are of all digits, or of all but zero: grid(0, 10) or grid(1, 10); got {self.train}.",
        )

    @property
    def targets(self) -> None:
        """The cell decides: see nalm.engine.images.check."""
        return None

    @property
    def images(self) -> int:
        """The images of one training sequence."""
        return self.length

    def epoch(self, batch: int) -> int:
        """Return the steps of an epoch, in whole batches, over all sequences that are cut from the images."""
        return max(1, KEPT[self.source, self.first] // self.length // batch)
