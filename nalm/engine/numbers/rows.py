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

STRETCH = 16  # neighbouring rows that a batch takes together

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
    """The rows of a population: at every step each run draws a batch of its own, in stretches of neighbouring rows.

    A batch of 128 rows is eight stretches of 16 rows, which begin at drawn places of a shuffled table; the table is
    shuffled anew for every block of steps. A stretch is read by one or two vector instructions. Rows that are looked up
    one by one took seven times as long, four times as long as drawing the numbers.
    """

    def __init__(self, runs: Sequence[Run], device: torch.device):
        task = runs[0].case.task
        assert isinstance(task, Rows)
        self.case, self.device = runs[0].case, device
        self.cases, self.seeds = [r.case for r in runs], [r.seed for r in runs]
        self.own, self.width = rows_of(task), task.inputs
        self.columns = {name: t.to(device) for name, t in _shuffled(self.own.train, 0).items()}
        self.scaling, self.scalings = Scaling(), [Scaling()] * 2
        fewest = min(len(self.own.validation[0]), len(self.own.test[0]), EVALUATION)
        room = max(50, numbers_at_once(device, self.width) // (len(runs) * self.width))
        self.rows = min(fewest, room)
        self.total = fewest // self.rows * self.rows
        self._given: Sets = [(x.to(device), y.to(device)) for x, y in (self.own.validation, self.own.test)]

    def grid(self, rows: int) -> Tensor:
        """Return the ranks of the stretches of a batch."""
        return torch.arange(-(-rows // STRETCH), dtype=torch.int32, device=self.device)

    def settings(self) -> Tensors:
        """Return the rows themselves, so that they can be replaced between two steps."""
        return self.columns

    def batch(self, step: Tensor, s: Tensors) -> tuple[Tensor, Tensor]:
        """Return the rows that the draws of a step choose for each run."""
        first = draws.stored(
            chosen_rows(s["rows"], step, draws.unpacked(s["grid"]), self.case.task.sample)
        )  # (runs, stretches)
        x, y = (self._stretches(s[f"rows.{name}"], first) for name in "xy")
        return x, y

    def _stretches(self, columns: Tensor, first: Tensor) -> Tensor:
        """Return the rows (runs, batch, in or out) of stretches that begin at these places of a table."""
        numbers, rows = columns.shape
        # All stretches of the table, as a view: a compiler then sees that the rows of one stand together.
        every = columns.as_strided((numbers, rows - STRETCH + 1, STRETCH), (rows, 1, 1))
        return draws.stored(every[:, first]).flatten(-2)[..., : self.case.recipe.batch].movedim(0, -1)

    def refill(self, block: int) -> None:
        """Shuffle the rows that are trained on, or take others if there are some for this block of steps."""
        table = self.own.train if self.own.refill is None else self.own.refill(block)
        for name, t in _shuffled(table, block).items():
            self.columns[name].copy_(t)

    def grids(self) -> tuple[Tensor, Tensor]:
        """Return no positions: evaluations are given."""
        return self.grid(1), self.grid(1)

    def published(self, start: int) -> Sets:
        """Return a part of the rows of both evaluations, the same for every run."""
        part, runs = slice(start, start + self.rows), len(self.seeds)
        return [(x[part].expand(runs, -1, -1), y[part].expand(runs, -1, -1)) for x, y in self._given]


def _shuffled(table: Table, block: int) -> Tensors:
    """Return the rows in an order of a block as columns (in or out, rows), with the first ones again at their end.

    The numbers of a column stand together, and a stretch may begin at any row.
    """
    rows = len(table[0])
    order = torch.randperm(rows, generator=torch.Generator().manual_seed(block))
    around = order[torch.arange(rows + STRETCH - 1) % rows]
    return {f"rows.{name}": t.mT.index_select(1, around) for name, t in zip("xy", table, strict=True)}
