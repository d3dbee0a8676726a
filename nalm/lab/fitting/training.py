"""Train a population block by block: tell the progress, stop early, and keep the state for a later call."""

import time
from collections.abc import Callable
from pathlib import Path

import torch

from nalm.config import Recipe
from nalm.engine.numbers import RowTrainer
from nalm.engine.plan import Run
from nalm.errors import NALMError
from nalm.results.checkpoints import find_checkpoint, save_checkpoint
from nalm.results.store import Arrays, Key

BETTER = 0.99  # an error that falls by less than this factor does not improve
SAVE_EVERY = 10.0  # seconds between two states that are written
PATIENCE = "patience"  # name of the part of a state that ``Patience`` keeps

Watch = Callable[[str], None]


class Patience:
    """Counts the evaluations for which the best error has not improved since the penalties are full."""

    def __init__(self, most: int | None, recipe: Recipe):
        if most is not None and most < 1:
            raise NALMError(f"Training stops after patience=... evaluations, at least 1, got {most}.")
        self.most, self.full = most, max([ramp.end for _, ramp in recipe.penalties], default=0)
        self.best, self.waited = float("inf"), 0

    @property
    def over(self) -> bool:
        """True if training is to stop."""
        return self.most is not None and self.waited >= self.most

    def add(self, step: int, error: float) -> None:
        """Count one evaluation."""
        self.waited = 0 if error < BETTER * self.best or step < self.full else self.waited + 1
        self.best = min(self.best, error)

    def state(self) -> torch.Tensor:
        """Return the best error and the count, as a part of a state."""
        return torch.tensor([self.best, self.waited], dtype=torch.float64)

    def restore(self, state: torch.Tensor) -> None:
        """Restore the best error and the count from their part of a state."""
        self.best, self.waited = float(state[0]), int(state[1])


class Kept:
    """The state of one population in a folder; without a folder nothing is kept."""

    def __init__(self, folder: Path | None, runs: list[Run]):
        self.folder, self.keys = folder, [_key(run) for run in runs]
        self.saved = time.monotonic()

    def restore(self, training: RowTrainer, patience: Patience) -> bool:
        """Put a population into the state that an earlier call left, and return whether there was one."""
        found = None if self.folder is None else find_checkpoint(self.folder, self.keys)
        if found is None:
            return False
        state = {name: torch.from_numpy(a) for name, a in found.arrays().items()}
        patience.restore(state.pop(PATIENCE))
        training.restore(state)
        return True

    def save(self, training: RowTrainer, patience: Patience, *, now: bool) -> None:
        """Write the state at the end of the training, or if the last time is long enough ago."""
        if self.folder is not None and (now or time.monotonic() - self.saved >= SAVE_EVERY):
            tensors = training.state() | {PATIENCE: patience.state()}
            arrays: Arrays = {name: t.cpu().numpy() for name, t in tensors.items()}
            save_checkpoint(self.folder, self.keys, arrays)
            self.saved = time.monotonic()


def _key(run: Run) -> Key:
    return run.case.hash, run.seed


def trained(
    training: RowTrainer, most: int | None, watch: Watch | None, folder: Path | None = None
) -> RowTrainer:
    """Train to the end, or until the best error has not improved for ``most`` evaluations.

    With a folder the state is kept there, and training goes on from the state that it holds.
    """
    recipe, began = training.case.recipe, time.monotonic()
    patience, kept = Patience(most, recipe), Kept(folder, training.program.runs)
    if kept.restore(training, patience) and watch is not None:
        watch(f"goes on at step {training.at:,} of {recipe.steps:,}")
    while not training.finished and not patience.over:
        training.advance()
        error = float(training.curves["validation"][-1].nan_to_num(torch.inf).min())
        patience.add(training.steps[-1], error)
        kept.save(training, patience, now=training.finished or patience.over)
        if watch is not None:
            solved, n = int(training.solved_now().sum()), len(training.thresholds)
            watch(
                f"step {training.at:,} of {recipe.steps:,}: best validation error {error:.3g}, "
                f"{solved} of {n} starts near the target; {time.monotonic() - began:.1f} s"
            )
    return training
