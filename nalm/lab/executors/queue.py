"""The queue of populations to train: which is next, and what happens to one whose training failed."""

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

TRIES = 3  # lost workers after which a population is assumed to be too large for the memory

Fault = Literal["memory", "lost", "moved"]


@dataclass(frozen=True)
class Job:
    """One population to train, from its start or from a checkpoint."""

    runs: tuple[Run, ...]
    checkpoint: Checkpoint | None = None

    @property
    def keys(self) -> list[Key]:
        """Return the keys (case hash, seed) of the runs."""
        return [(run.case.hash, run.seed) for run in self.runs]


class Queue:
    """Jobs to hand out: first those that failed, the latest first, then the others in their order.

    A population that ran out of memory ("memory") is halved. One whose worker ended ("lost") is resumed from its last
    checkpoint; after three lost workers without a checkpoint in between it is halved as well, since the operating
    system kills a process that takes too much memory. One whose node left the cluster ("moved") is resumed.
    """

    def __init__(self, jobs: Iterator[Job], folder: Path):
        self.jobs, self.folder = jobs, folder
        self.again: list[Job] = []
        self.losses: Counter[Key] = Counter()

    def next(self) -> Job | None:
        """Return the next job, or None if there is none at the moment."""
        return self.again.pop() if self.again else next(self.jobs, None)

    def advanced(self, job: Job) -> None:
        """Reset the count of lost workers of a job, because a checkpoint of it was written."""
        for key in job.keys:
            del self.losses[key]

    def requeue(self, job: Job, fault: Fault) -> None:
        """Put a failed job back, with its last checkpoint; raise NALMError if a single run fails."""
        job = Job(job.runs, checkpoints.find_checkpoint(self.folder, job.keys) or job.checkpoint)
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
                f"Training {run.case.name!r} with seed {run.seed} alone {what}: it cannot be divided further. "
                "Use a machine with more memory; every finished run is safe."
            )
        half = len(job.runs) // 2
        self.again += [Job(part, job.checkpoint) for part in (job.runs[half:], job.runs[:half])]
