"""Images of digits in place of numbers, as a value."""

from dataclasses import dataclass
from typing import Literal

from nalm.values import Value, require


@dataclass(frozen=True)
class Digits(Value):
    """What a network reads before it calculates: its inputs are digits, and a case's range says which.

    ``pair``: two images side by side, each read alone. A pair of digits is either trained on or tested: of all
    pairs one part in ``folds`` is left out, another one for every seed, and each pair is seen in ``samples`` images.
    ``exact`` is when an output counts as right: equal to the last bit, equal when rounded to whole numbers,
    or when rounded to five decimals. ``chosen`` is the epoch that is judged: the last, or of the last ten the one
    with the most right outputs in training.
    ``drawn`` digits are made in code, for machines without MNIST.
    """

    layout: Literal["pair"] = "pair"
    source: Literal["mnist", "drawn"] = "mnist"
    samples: int = 1_000
    folds: int = 10
    exact: Literal["strict", "rounded", "decimals"] = "strict"
    chosen: Literal["last", "train"] = "last"

    def check(self) -> None:
        require(self.samples >= 1, f"A pair of digits is seen in 1 or more images, got {self.samples}.")
        require(self.folds >= 2, f"Pairs are held out by 2 or more folds, got {self.folds}.")

    def epoch(self, first: int, batch: int) -> int:
        """Steps of an epoch over the pairs of the digits from ``first`` to 9 that are trained on.

        >>> Digits().epoch(0, 128), Digits().epoch(1, 128)
        (703, 570)
        """
        pairs = (10 - first) ** 2
        return max(1, (pairs - pairs // self.folds) * self.samples // batch)
