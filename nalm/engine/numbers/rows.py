"""Rows of one's own as the data of a population: batches are rows chosen by draws, evaluations are fixed rows.

A ``Rows`` task names rows by their digest; ``OwnRows.held`` keeps the rows themselves in memory while they are used.
"""

import contextlib
import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from nalm import draws
from nalm.config import Range, Rows, Threshold
from nalm.engine.numbers.data import EVALUATION, Data, Sets, Tensors, numbers_at_once
from nalm.engine.plan import Run
from nalm.errors import NALMError
from nalm.tasks.sampler import chosen_rows
from nalm.tasks.scaling import Scaling

Table = tuple[Tensor, Tensor]  # inputs (rows, in) and targets (rows, out), float32

_HELD: dict[str, "OwnRows"] = {}


@dataclass(frozen=True)
class OwnRows:
    """Rows to train on, to choose by and to test on; ``refill`` gives other rows to train on, as many, for a block."""

    train: Table
    validation: Table
    test: Table
    refill: Callable[[int], Table] | None = None

    @cached_property
    def digest(self) -> str:
        """The first letters of the hash of all rows."""
        found = hashlib.sha256()
        for table in (self.train, self.validation, self.test):
            for part in table:
                found.update(str(tuple(part.shape)).encode() + part.contiguous().numpy().tobytes())
        return found.hexdigest()[:16]

    def task(self, name: str, threshold: float) -> Rows:
        """Return the task that names these rows; a run is solved below a mean squared error on the test rows."""
        (x, y), (far, _) = self.train, self.test
        return Rows(
            name,
            _spanned(x),
            _spanned(far),
            self.digest,
            inputs=x.shape[1],
            outputs=y.shape[1],
            sample=len(x),
            threshold=Threshold("fixed", value=threshold),
        )

    @contextlib.contextmanager
    def held(self) -> Iterator[None]:
        """Keep the rows where the tasks that name them find them."""
        before = _HELD.get(self.digest)
        _HELD[self.digest] = self
        try:
            yield
        finally:
            del _HELD[self.digest]
            if before is not None:
                _HELD[self.digest] = before


def _spanned(x: Tensor) -> Range:
    """Return the range from the smallest to the largest input."""
    low, high = float(x.min()), float(x.max())
    return Range(low, high if high > low else low + 1.0)


def rows_of(task: Rows) -> OwnRows:
    """Return the rows of a task; raise a NALMError if they are not in memory."""
    if task.digest not in _HELD:
        raise NALMError(
            f"The rows {task.digest!r} of {task.operation!r} are not in memory: call nalm.fit_units(X, y)."
        )
    return _HELD[task.digest]


class RowData(Data):
    """The rows of a population: at every step all runs see the same batch, drawn by the step alone.

    Each run with a batch of its own would take four times as long: rows that are looked up one by one are read slower
    than numbers are drawn.
    """

    def __init__(self, runs: Sequence[Run], device: torch.device):
        task = runs[0].case.task
        assert isinstance(task, Rows)
        self.case, self.device = runs[0].case, device
        self.cases, self.seeds = [r.case for r in runs], [r.seed for r in runs]
        self.own, self.width = rows_of(task), task.inputs
        # (in, rows): the numbers of an input stand together, and so do those of a batch that is taken from them
        self.columns = {f"rows.{name}": t.mT.contiguous().to(device) for name, t in _named(self.own.train)}
        self.scaling, self.scalings = Scaling(), [Scaling()] * 2
        fewest = min(len(self.own.validation[0]), len(self.own.test[0]), EVALUATION)
        room = max(50, numbers_at_once(device, self.width) // (len(runs) * self.width))
        self.rows = min(fewest, room)
        self.total = fewest // self.rows * self.rows
        self._given: Sets = [(x.to(device), y.to(device)) for x, y in (self.own.validation, self.own.test)]

    def grid(self, rows: int) -> Tensor:
        """Return the ranks of the rows of a batch."""
        return torch.arange(rows, dtype=torch.int32, device=self.device)

    def settings(self) -> Tensors:
        """Return the key of the batches, and the rows themselves, so that they can be replaced between two steps."""
        return {"rows": draws.keys([0], "rows", device=self.device), **self.columns}

    def batch(self, step: Tensor, s: Tensors) -> tuple[Tensor, Tensor]:
        """Return the rows that the draws of a step choose, for every run."""
        chosen = chosen_rows(s["rows"], step, draws.unpacked(s["grid"]), self.case.task.sample)[0]
        x, y = (draws.stored(s[f"rows.{name}"][:, chosen]).mT for name in "xy")
        return x.expand(len(self.seeds), -1, -1), y.expand(len(self.seeds), -1, -1)

    def refill(self, block: int) -> None:
        """Replace the rows that are trained on, if there are others for this block of steps."""
        if self.own.refill is not None:
            for name, t in _named(self.own.refill(block)):
                self.columns[f"rows.{name}"].copy_(t.mT)

    def grids(self) -> tuple[Tensor, Tensor]:
        """Return no positions: evaluations are given."""
        return self.grid(1), self.grid(1)

    def published(self, start: int) -> Sets:
        """Return a part of the rows of both evaluations, the same for every run."""
        part, runs = slice(start, start + self.rows), len(self.seeds)
        return [(x[part].expand(runs, -1, -1), y[part].expand(runs, -1, -1)) for x, y in self._given]


def _named(table: Table) -> list[tuple[str, Tensor]]:
    return list(zip("xy", table, strict=True))
