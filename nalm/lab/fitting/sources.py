"""Rows from arrays, from a loader of batches or from a function that draws them, split for training and tests."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from nalm.engine.numbers import OwnRows
from nalm.engine.numbers.rows import Table
from nalm.errors import NALMError

Array = NDArray[np.float64]
Arrays = tuple[Array, Array]  # x (rows, in) and y (rows, out)
Draw = Callable[[int, np.random.Generator], tuple[Any, Any]]

SHARES = 0.6, 0.2  # of the rows: to train on and to choose by; the rest is held out
FEWEST = 10  # rows
POOL = 2**14  # rows of a function, or of a long loader, that are trained on until the next evaluation
CHECKED = 2_000  # rows of these to choose by, and as many to hold out
LONGEST = 2**18  # rows of a loader that are read at once
_FIRST = -2  # the number of the first block: two to choose by and to hold out come before those to train on


@dataclass(frozen=True)
class Split:
    """The rows as the engine takes them, and in full precision: those that training sees, and those held out."""

    own: OwnRows
    seen: Arrays
    held: Arrays


def split(x: Any, y: Any, test: Any = None) -> Split:
    """Read the rows and split them; ``test`` are rows for the test curve in place of the held-out ones."""
    if y is not None:
        return _of_arrays(arrays(x, y), test)
    if callable(x):
        return _of_stream(_Drawn(x), test)
    if isinstance(x, Iterable):
        return _of_loader(x, test)
    raise NALMError(
        f"Rows are arrays X and y, a loader of batches (X, y), or a function (rows, generator) -> (X, y); "
        f"got {type(x).__name__} without y."
    )


def arrays(x: Any, y: Any) -> Arrays:
    """Return rows as float64, x (rows, in) and y (rows, out); refuse what are no finite numbers."""
    x, y = _numbers("X", x), _numbers("y", y)
    if x.ndim != 2 or not x.shape[1]:
        raise NALMError(f"X needs the shape (rows, columns) with at least one column, got {x.shape}.")
    y = y[:, None] if y.ndim == 1 else y
    if y.ndim != 2 or len(y) != len(x) or not y.shape[1]:
        raise NALMError(f"y needs a row for each of the {len(x)} rows of X, got the shape {y.shape}.")
    return x, y


def _numbers(name: str, value: Any) -> Array:
    if isinstance(value, torch.Tensor):
        value = value.detach().cpu().double().numpy()
    try:
        found = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise NALMError(f"{name} must be a table of real numbers: {error}.") from None
    if not np.isfinite(found).all():
        where = np.argwhere(~np.isfinite(found))[0]
        raise NALMError(
            f"{name}[{', '.join(map(str, where))}] is {found[tuple(where)]}: leave out rows without finite numbers."
        )
    return found


def _pair(batch: Any) -> tuple[Any, Any]:
    if not isinstance(batch, tuple | list) or len(batch) != 2:
        raise NALMError(f"A batch of rows is a pair (X, y), got {type(batch).__name__}.")
    return batch[0], batch[1]


def _table(rows: Arrays) -> Table:
    return torch.from_numpy(rows[0]).float(), torch.from_numpy(rows[1]).float()


def _made(train: Arrays, validation: Arrays, held: Arrays, test: Any, refill: Any = None) -> Split:
    far = held if test is None else arrays(*_pair(test))
    for name, i in (("X", 0), ("y", 1)):
        if far[i].shape[1] != train[i].shape[1]:
            raise NALMError(
                f"The test rows have {far[i].shape[1]} columns of {name}, the others {train[i].shape[1]}."
            )
    own = OwnRows(_table(train), _table(validation), _table(far), refill)
    return Split(own, tuple(np.concatenate(p) for p in zip(train, validation, strict=True)), held)  # type: ignore[arg-type]


def _of_arrays(rows: Arrays, test: Any) -> Split:
    """Split rows at random, always in the same way."""
    n = len(rows[0])
    if n < FEWEST:
        raise NALMError(f"Training and its tests need at least {FEWEST} rows, got {n}.")
    order = np.random.default_rng(0).permutation(n)
    ends = [round(SHARES[0] * n), round(sum(SHARES) * n)]
    train, validation, held = ((rows[0][part], rows[1][part]) for part in np.split(order, ends))
    return _made(train, validation, held, test)


def _of_stream(take: "_Drawn | _Stream", test: Any) -> Split:
    """Draw the rows to choose by and to hold out, then the rows to train on, and others for every block."""
    validation, held = take(CHECKED, -2), take(CHECKED, -1)
    return _made(take(POOL, 0), validation, held, test, lambda block: _table(take(POOL, block)))


def _of_loader(batches: Iterable[Any], test: Any) -> Split:
    """Read a loader to its end and split its rows; one that is longer is a stream, until it ends."""
    found, iterator = list[Arrays](), iter(batches)
    while sum(len(x) for x, _ in found) < LONGEST:
        if (batch := next(iterator, None)) is None:
            if not found:
                raise NALMError("The loader has no batches.")
            return _of_arrays(_joined(found), test)
        found.append(arrays(*_pair(batch)))
    return _of_stream(_Stream(_joined(found), iterator), test)


def _joined(batches: list[Arrays]) -> Arrays:
    return np.concatenate([x for x, _ in batches]), np.concatenate([y for _, y in batches])


class _Drawn:
    """Rows that a function draws; those of a block depend on its number alone, so that a training can go on later."""

    def __init__(self, draw: Draw):
        self.draw = draw

    def __call__(self, rows: int, block: int) -> Arrays:
        found = arrays(*_pair(self.draw(rows, np.random.default_rng([0, block - _FIRST]))))
        if len(found[0]) != rows:
            raise NALMError(f"The function was asked for {rows} rows and returned {len(found[0])}.")
        return found


class _Stream:
    """Rows in the order of a loader, each block after the one before it; after its end the last rows stay.

    A training that goes on later reads the loader again up to its block. A second population, whose blocks begin again,
    gets the rows that follow.
    """

    def __init__(self, first: Arrays, more: Iterator[Any]):
        self.left, self.more = first, more
        self.last, self.block = first, _FIRST - 1

    def __call__(self, rows: int, block: int) -> Arrays:
        again = block < self.block  # another population begins
        for _ in range(1 if again else block - self.block):
            while len(self.left[0]) < rows and (batch := next(self.more, None)) is not None:
                self.left = _joined([self.left, arrays(*_pair(batch))])
            if len(self.left[0]) >= rows:
                x, y = self.left
                self.last, self.left = (x[:rows], y[:rows]), (x[rows:], y[rows:])
        self.block = block
        return self.last
