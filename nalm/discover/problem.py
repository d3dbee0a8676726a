"""The input of a search: checked data, its precision, the rows to search on, and the time limit."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from nalm.discover.arguments import check_digits, dimensions_of, real, table_of
from nalm.discover.constraints import Constraints
from nalm.discover.digits import Digits
from nalm.discover.dimensions.units import NONE, Dimension
from nalm.discover.law.expression import Array
from nalm.errors import NALMError

SEARCH_ROWS = 1200  # a search looks at no more rows; the certificate looks at all
SAMPLE_ROWS = 400
SEARCHED = 0.8  # share of the time in which laws are searched; the rest is for the answer
CLOCK = time.monotonic  # what time limits count; benchmarks count processor time instead


class TimeUpError(Exception):
    """Raised inside a search when its time is over; ``search`` catches it."""


def silent(message: str) -> None:
    """Ignore a message about the progress of a search."""


@dataclass
class Problem:
    """Observations to search on and rows held out, in float64; ``columns`` leaves out those that never change."""

    x: Array  # rows to search on
    y: Array
    held_x: Array
    held_y: Array
    roundoff: float  # unit roundoff of the data: 2**-24 or 2**-53
    columns: list[int]  # indices of the columns that change and do not repeat an earlier one
    seed: int = 0
    noise: float | None = None  # standard deviation over that of y; 0: exact laws only; None: unknown
    deadline: float = np.inf
    clock: Callable[[], float] = field(default_factory=lambda: CLOCK)
    tell: Callable[[str], None] = silent  # takes a line about the progress of a long stage
    dimensions: tuple[list[Dimension], Dimension] | None = None  # of the inputs and of y, if units are given
    constants: tuple[int, ...] = ()  # indices of columns with one value and a dimension
    order: NDArray[np.int_] = field(
        default_factory=lambda: np.empty(0, int)
    )  # rows of the table, searched first
    error: Array | None = None  # size of the noise on y, of the searched rows and then of those held out
    floor: float = 0.0  # the value of y at which additive and relative noise are equal, if it has both kinds
    absolute_error: bool = False  # whether these sizes are standard errors, not only in proportion to them
    digits: Digits | None = None  # how the numbers of the table were printed; None: read off the numbers
    x_error: Array | None = None  # standard errors of the columns, (rows, columns), in the order of ``error``
    constraints: Constraints = Constraints()  # noqa: RUF009 - it is frozen
    bootstrap: int = 0  # times that rows are drawn again for the intervals of the law's numbers; 0: curvature

    @classmethod
    def from_table(
        cls,
        x: Any,
        y: Any,
        *,
        seed: int = 0,
        noise: float | None = None,
        max_time: float | None = None,
        x_units: Sequence[str] | None = None,
        y_unit: str | None = None,
    ) -> Self:
        """Check a table and split it: up to two thirds of the rows to search on, the rest held out."""
        began = CLOCK()
        x, y = table_of(x, y)
        if noise is not None and not 0 <= noise < 1:
            raise NALMError(f"noise is a share of the spread of y, 0 <= noise < 1 or None, got {noise!r}.")
        if max_time is not None and not max_time > 0:
            raise NALMError(f"max_time is a number of seconds above 0, or None, got {max_time!r}.")
        dimensions = dimensions_of(x_units, y_unit, x.shape[1])
        roundoff = precision_of(y)
        x, y = x.astype(np.float64), y.astype(np.float64)
        count = min(2 * len(x) // 3, SEARCH_ROWS)
        searched = np.random.default_rng(seed).choice(len(x), count, replace=False)
        held = np.ones(len(x), bool)
        held[searched] = False
        return cls(
            x=x[searched],
            y=y[searched],
            held_x=x[held],
            held_y=y[held],
            roundoff=roundoff,
            columns=_distinct(x[searched], dimensions),
            seed=seed,
            noise=noise,
            deadline=np.inf if max_time is None else began + SEARCHED * max_time,
            dimensions=dimensions,
            constants=_constants(x, dimensions),
            order=np.concatenate([searched, np.flatnonzero(held)]),
        )

    def constrained(self, constraints: Constraints) -> Self:
        """Return the problem with conditions on the law; columns that it must not have are left out."""
        columns = [i for i in self.columns if i not in constraints.without]
        if gone := sorted(constraints.contains - {*columns, *self.constants}):
            name = constraints.names[gone[0]] if constraints.names else f"{gone[0] + 1}"
            raise NALMError(f"Column {name} is constant or repeats another: no law can be shown to need it.")
        return replace(self, columns=columns, constraints=constraints)

    def with_errors(
        self, y_err: Any, sample_weight: Any, digits: Digits | None, x_err: Any = None, bootstrap: int = 0
    ) -> Self:
        """Return the problem with the size of the noise on each row of the table, and the digits of its numbers."""
        digits = check_digits(digits, self.inputs)
        if isinstance(bootstrap, bool) or int(bootstrap) != bootstrap or bootstrap < 0 or 0 < bootstrap < 20:
            raise NALMError(f"bootstrap is a number of draws, at least 20, or 0 for none, got {bootstrap!r}.")
        if y_err is not None and sample_weight is not None:
            raise NALMError("y_err and sample_weight both say how far rows may be off: give one of them.")
        if x_err is not None and y_err is None:
            raise NALMError("x_err needs y_err beside it: give the standard error of y, too, if small.")
        found = replace(self, digits=digits, bootstrap=int(bootstrap))
        if x_err is not None:
            found = replace(found, x_error=self._error_of_columns(x_err))
        given = y_err if y_err is not None else sample_weight
        if given is None:
            return found
        name = "y_err" if y_err is not None else "sample_weight"
        size = real(name, given).astype(np.float64)
        size = np.full(len(self.order), size) if size.ndim == 0 else size
        if size.shape != self.order.shape:
            raise NALMError(f"{name} needs one number for each of {len(self.order)} rows, got {size.shape}.")
        if not (size > 0).all():
            row = int(np.argmin(size > 0))
            raise NALMError(f"{name}[{row}] must be above 0, got {size[row]:.6g}: drop such rows.")
        error = size if y_err is not None else 1 / np.sqrt(size / size.mean())
        return replace(found, error=error[self.order], absolute_error=y_err is not None)

    def _error_of_columns(self, x_err: Any) -> Array:
        """Return the standard errors of the columns, given for each cell or for each column."""
        size = real("x_err", x_err).astype(np.float64)
        shape = len(self.order), self.inputs
        if size.shape not in (shape, shape[1:]):
            raise NALMError(
                f"x_err needs the shape of X, {shape}, or one number per column, got {size.shape}."
            )
        if (size < 0).any():
            raise NALMError(f"x_err cannot be negative, got {size.min():.6g}: 0 is no error.")
        return np.asarray(np.broadcast_to(size, shape)[self.order])

    def check(self) -> None:
        """Raise TimeUpError once the time is over."""
        if self.clock() > self.deadline:
            raise TimeUpError

    @property
    def sizes(self) -> tuple[Array, Array]:
        """The size of the noise on the searched and on the held-out rows, up to a factor; ones if none is given."""
        if self.error is None:
            return np.ones(len(self.y)), np.ones(len(self.held_y))
        return self.error[: len(self.y)], self.error[len(self.y) :]

    @property
    def inputs(self) -> int:
        """The number of columns of the data."""
        return self.x.shape[1]

    @property
    def addends(self) -> list[int]:
        """Indices of the columns that may be terms of a sum: those of the dimension of y, all without units."""
        if self.dimensions is None:
            return self.columns
        units, wanted = self.dimensions
        return [i for i in (*self.columns, *self.constants) if units[i] == wanted]

    @property
    def biases(self) -> tuple[bool, ...]:
        """Values of ``bias`` to try: without and with one, or only without if y has a dimension."""
        return (False, True) if self.dimensions is None or self.dimensions[1] == NONE else (False,)

    @cached_property
    def sample(self) -> tuple[Array, Array]:
        """About 400 of the held-out rows, evenly spaced."""
        step = max(1, len(self.held_y) // SAMPLE_ROWS)
        return self.held_x[::step], self.held_y[::step]

    @cached_property
    def relative(self) -> Array:
        """Row weights: 1 / error if it is known, else 1 / sqrt(median^2 + y^2), relative errors where y is large."""
        if self.error is not None:
            error = self.error[: len(self.y)]
            return np.asarray(np.median(error) / error)
        middle = np.median(np.abs(self.y)) or np.abs(self.y).max() or 1.0
        return 1 / np.sqrt(middle**2 + self.y**2)

    @property
    def y_is_constant(self) -> bool:
        """True if y has one value, up to rounding."""
        return bool(np.ptp(self.y) <= 4 * self.roundoff * np.abs(self.y).max())

    @property
    def near(self) -> float:
        """Median error over the spread of y below which only rounding separates a candidate from a law."""
        spread = float(np.std(self.y)) or 1.0
        return max(1e-7, 300 * self.roundoff * float(np.sqrt(np.mean(self.y**2))) / spread)

    @property
    def precision(self) -> str:
        """The precision of the data: float32 or float64."""
        return "float32" if self.roundoff == 2.0**-24 else "float64"


def precision_of(y: np.ndarray) -> float:
    """Return the unit roundoff of numbers: that of float32 if all of them are such, else that of float64."""
    return 2.0**-24 if y.dtype != np.float64 or _is_float32(y) else 2.0**-53


def _is_float32(y: np.ndarray) -> bool:
    with np.errstate(over="ignore"):
        return bool((y.astype(np.float32).astype(np.float64) == y).all())


def _distinct(x: Array, dimensions: tuple[list[Dimension], Dimension] | None) -> list[int]:
    """Return the indices of columns that change and repeat no earlier one of the same dimension."""
    first: dict[tuple[bytes, Dimension], int] = {}
    for i in range(x.shape[1]):
        if np.ptp(x[:, i]) > 0:
            first.setdefault((x[:, i].tobytes(), dimensions[0][i] if dimensions else NONE), i)
    return list(first.values())


def _constants(x: Array, dimensions: tuple[list[Dimension], Dimension] | None) -> tuple[int, ...]:
    """Return the indices of columns with one value and a dimension, such as a constant of nature."""
    units = dimensions[0] if dimensions else []
    return tuple(i for i, d in enumerate(units) if d != NONE and np.ptp(x[:, i]) == 0 and x[0, i] != 0)
