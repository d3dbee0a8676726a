"""A computed landscape: a surface with its minima, or named curves; both convert to plain data."""

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from nalm.errors import NALMError

Array = npt.NDArray[np.float64]
Kind = Literal["solution", "alternative", "local", "clipped"]
Shape = Literal["point", "valley", "plateau"]

DIGITS = 5  # significant digits in the plain data
FEWER = 4  # significant digits of heights, which are many


@dataclass(frozen=True)
class Minimum:
    """Weights that no small legal step improves, and their kind.

    ``solution`` are weights that solve the task, ``alternative`` others of height 0 (no error on the sample,
    or no gradient), ``local`` a minimum above 0, ``clipped`` one where only the weights' bounds stop a descent.
    A minimum is a ``point``, or one point of a ``valley`` (a curve) or ``plateau`` of equal height.
    """

    x: float
    y: float
    z: float
    kind: Kind
    shape: Shape = "point"

    def json(self) -> dict[str, Any]:
        """Return the fields as plain data."""
        return {
            "x": _number(self.x),
            "y": _number(self.y),
            "z": _number(self.z),
            "kind": self.kind,
            "shape": self.shape,
        }


@dataclass(frozen=True)
class Box:
    """A square on a surface, from low to high on both axes."""

    low: float
    high: float
    colour: str


@dataclass(frozen=True, eq=False)
class Surface:
    """Heights over two weights: z[j, i] is the height at x[i], y[j]; NaN where there is none.

    ``clip`` is the range of heights worth drawing, ``log`` whether to draw their logarithm. ``arrows`` (n, 4)
    lead from (x, y) to (x, y).
    """

    name: str
    title: str
    x_label: str
    y_label: str
    x: Array
    y: Array
    z: Array
    source: str
    note: str = ""
    log: bool = False
    clip: tuple[float, float] | None = None
    minima: tuple[Minimum, ...] = ()
    arrows: Array | None = None
    boxes: tuple[Box, ...] = ()

    def __post_init__(self) -> None:
        if self.z.shape != (len(self.y), len(self.x)):
            raise NALMError(
                f"{self.name} has {len(self.x)} by {len(self.y)} points, but heights of shape {self.z.shape}."
            )

    def at(self, x: float, y: float) -> float:
        """Return the height at the point of the grid nearest to (x, y)."""
        return float(self.z[np.abs(self.y - y).argmin(), np.abs(self.x - x).argmin()])

    def json(self) -> dict[str, Any]:
        """Return plain data: four digits of a height, and None where it is not finite."""
        return {
            "kind": "surface",
            "name": self.name,
            "title": self.title,
            "x_label": self.x_label,
            "y_label": self.y_label,
            "x": _numbers(self.x),
            "y": _numbers(self.y),
            "z": [_numbers(row, FEWER) for row in self.z],
            "log": self.log,
            "clip": None if self.clip is None else list(self.clip),
            "minima": [m.json() for m in self.minima],
            "arrows": [] if self.arrows is None else [_numbers(row, FEWER) for row in self.arrows],
            "boxes": [[box.low, box.high, box.colour] for box in self.boxes],
            "source": self.source,
            "note": self.note,
        }


@dataclass(frozen=True, eq=False)
class Curves:
    """Named curves over one axis."""

    name: str
    title: str
    x_label: str
    y_label: str
    x: Array
    series: dict[str, Array]
    source: str
    note: str = ""

    def __post_init__(self) -> None:
        for label, values in self.series.items():
            if values.shape != self.x.shape:
                raise NALMError(
                    f"{self.name} has {len(self.x)} points, but {label!r} is of shape {values.shape}."
                )

    def at(self, x: float) -> dict[str, float]:
        """Return the value of every curve at the point nearest to x."""
        i = int(np.abs(self.x - x).argmin())
        return {label: float(values[i]) for label, values in self.series.items()}

    def json(self) -> dict[str, Any]:
        """Return plain data: five digits, and None where a value is not finite."""
        return {
            "kind": "curves",
            "name": self.name,
            "title": self.title,
            "x_label": self.x_label,
            "y_label": self.y_label,
            "x": _numbers(self.x),
            "series": {label: _numbers(values) for label, values in self.series.items()},
            "source": self.source,
            "note": self.note,
        }


def _number(value: float, digits: int = DIGITS) -> float | None:
    return float(f"{value:.{digits}g}") if math.isfinite(value) else None


def _numbers(values: Array, digits: int = DIGITS) -> list[float | None]:
    return [_number(v, digits) for v in values.tolist()]
