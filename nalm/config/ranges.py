"""Distributions that inputs are drawn from, as values."""

import math
from dataclasses import dataclass
from typing import Literal

from nalm.config.values import Value, require

Pair = Literal["mirrored", "split", "parted", "points"]  # of two ranges
Kind = Literal["uniform", Pair, "truncated", "benford", "normal", "exponential", "sobol", "sequence", "grid"]


@dataclass(frozen=True)
class Range(Value):
    """A distribution of inputs; the upper end is excluded.

    ``mirrored`` chooses per element between [low, high) and [low2, high2); ``split`` draws the first half
    of the columns from the first and the rest from the second, ``parted`` the columns up to the end of the first
    operand and the rest; ``points`` is a split of ranges of no length. ``truncated`` is a normal within the ends,
    ``grid`` a number in steps of ``sd`` from ``low`` on: numbers that can be equal. ``sobol`` shifts Sobol's points at
    random for every run; ``sequence`` is the sequence itself, the same for every run, from its centre point on.
    """

    low: float = 0.0
    high: float = 1.0
    kind: Kind = "uniform"
    low2: float = 0.0
    high2: float = 0.0
    mean: float = 0.0
    sd: float = 1.0

    def check(self) -> None:
        if self.kind not in ("normal", "exponential", "points"):
            require(self.low < self.high, f"A range needs low < high, got [{self.low:g}, {self.high:g}).")
        if self.kind in ("mirrored", "split", "parted"):
            require(self.low2 < self.high2, f"A {self.kind} range needs low2 < high2, got {self}.")
        require(self.sd > 0, f"A range needs sd > 0, got {self.sd:g}.")
        if self.kind == "points":
            require(
                (self.low, self.low2) == (self.high, self.high2), f"Points have equal ends, got {self!r}."
            )
        if self.kind == "truncated":
            far = max(self.low - self.mean, self.mean - self.high) / self.sd
            require(far < 37, f"{self} lies {far:g} standard deviations out, where nothing can be drawn.")
        if self.kind == "benford":
            whole = all(e >= 10 and math.log10(e).is_integer() for e in (self.low, self.high))
            require(whole, f"Benford's ends are powers of ten from 10 on, got [{self.low:g}, {self.high:g}).")

    @property
    def family(self) -> str:
        """The kind of sampler: ranges of one family are drawn together (uniform is mirrored with equal parts)."""
        boxes = {"uniform": "box", "mirrored": "box", "parted": "split", "points": "split"}
        return boxes.get(self.kind, self.kind)

    def __str__(self) -> str:
        first, second = f"[{self.low:g},{self.high:g})", f"[{self.low2:g},{self.high2:g})"
        return {
            "uniform": f"U{first}",
            "mirrored": f"U{first}u{second}",
            "split": f"U{first}|{second}",
            "parted": f"U{first}&{second}",
            "points": f"{self.low:g}|{self.low2:g}",
            "truncated": f"TN({self.mean:g},{self.sd:g}){first}",
            "benford": f"B{first}",
            "normal": f"N({self.mean:g},{self.sd:g})",
            "exponential": f"Exp({self.sd:g})",
            "sobol": f"Sobol{first}",
            "sequence": f"Seq{first}",
            "grid": f"{first}/{self.sd:g}",
        }[self.kind]


def mirrored(low: float, high: float, low2: float, high2: float) -> Range:
    """Return a range that takes each element from one of two ranges at random."""
    return Range(low, high, "mirrored", low2, high2)


def split(low: float, high: float, low2: float, high2: float) -> Range:
    """Return a range that takes the first half of the columns from one range, the rest from another."""
    return Range(low, high, "split", low2, high2)


def parted(low: float, high: float, low2: float, high2: float) -> Range:
    """Return a range with one part for columns up to the first operand's end, and another for the rest."""
    return Range(low, high, "parted", low2, high2)


def points(first: float, rest: float) -> Range:
    """Return a range of one sample: one number in the first half of the columns, another in the rest."""
    return Range(first, first, "points", rest, rest)


def truncated(low: float, high: float, mean: float, sd: float) -> Range:
    """Return a normal distribution that is cut off at both ends."""
    return Range(low, high, "truncated", mean=mean, sd=sd)


def grid(low: float, high: float, step: float = 1.0) -> Range:
    """Return a range of numbers that lie ``step`` apart, from ``low`` on; by default they are 1 apart."""
    return Range(low, high, "grid", sd=step)


def sequence(low: float, high: float) -> Range:
    """Return a range that follows Sobol's sequence, one point after another."""
    return Range(low, high, "sequence")
