"""What becomes of a population whose training was broken off: again, in halves where memory ran out, or given up."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from nalm.engine import Run
from nalm.errors import NALMError
from nalm.results import checkpoints
from nalm.results.checkpoints import Checkpoint
from nalm.results.store import Key

TRIES = 3  # times that a population is begun before its size is held to be the reason

Fault = Literal["memory", "lost", "moved"]


@dataclass(frozen=True)
class Job:
    """One population to train, from its start or from a checkpoint."""

    runs: tuple[Run, ...]
    checkpoint: Checkpoint | None = None

    @property
    def keys(self) -> list[Key]:
        """The runs by case and seed."""
        return [(run.case.hash, run.seed) for run in self.runs]


class Queue:
    """Jobs to hand out: first what was broken off, the latest first, then the others as they come.

    Memory that ran out halves a population. A worker that is lost costs nothing but the time since the last
    checkpoint; but a population that loses three of them, with no checkpoint in between, is halved as well, since the
    system ends a process that takes too much memory without a word. A lost node ("moved") is nobody's fault.
    """

    def __init__(self, jobs: Iterator[Job], folder: Path):
        self.jobs, self.folder = jobs, folder
        self.again: list[Job] = []
        self.losses: Counter[Key] = Counter()

    def next(self) -> Job | None:
        """The next job, or None when there is no more for now."""
        return self.again.pop() if self.again else next(self.jobs, None)

    def advanced(self, job: Job) -> None:
        """Its state is safe: whatever happens now is a new accident."""
        for key in job.keys:
            del self.losses[key]

    def broken(self, job: Job, fault: Fault) -> None:
        """Put a job back, from its last checkpoint if there is one."""
        job = Job(job.runs, checkpoints.latest(self.folder, job.keys) or job.checkpoint)
        if fault == "lost":
            self.losses.update(job.keys)
        if fault == "moved" or (fault == "lost" and max(self.losses[key] for key in job.keys) < TRIES):
            self.again.append(job)
            return
        if len(job.runs) == 1:
            (run,) = job.runs
            what = (
                "ran out of memory" if fault == "memory" else "ended its worker, out of memory or by a crash"
            )
            raise NALMError(
                f"Training {run.case.name!r} with seed {run.seed} alone {what}: nothing smaller can be tried here; "
                "every finished run is safe."
            )
        half = len(job.runs) // 2
        self.again += [Job(part, job.checkpoint) for part in (job.runs[half:], job.runs[:half])]
