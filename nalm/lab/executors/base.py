"""Who trains, and how one population is trained: what all workers do, on this machine or on a cluster.

A driver hands out jobs and receives messages; it alone writes results.
"""

import time
import traceback
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

import torch

from nalm.engine import Run, Trainer, device_for, trainer
from nalm.engine.compiler import out_of_memory
from nalm.errors import NALMError
from nalm.lab.executors.queue import Job as Job
from nalm.results import checkpoints
from nalm.results import networks as saved
from nalm.results.store import Arrays, Finished, Key

SAVE_EVERY = 15.0  # seconds between checkpoints
TELL_EVERY = 0.3  # seconds between messages about one population
MOST_ON_GPU = 12  # processes that share a GPU: each holds half a gigabyte of it
NOBODY = Job(())


@dataclass(frozen=True)
class Settings:
    """What all workers of a run have in common."""

    folder: Path
    device: str = "auto"
    compiled: bool = True
    units: tuple[str, ...] = ()  # FILE.py:Class of units that are not part of the library
    save_every: float = SAVE_EVERY
    data: str = ""  # the folder of MNIST's files
    reads_images: bool = False  # whether there are populations that read images


@dataclass(frozen=True)
class Message:
    """What is said of a job: started, resumed, progress, checkpoint (its state), finished (its runs).

    Or that it was broken off, and is put back: memory (it ran out), lost (the worker), moved (the node went away).
    """

    kind: str
    job: Job
    at: int = 0
    solved: int = 0
    runs: Finished | None = None
    state: Arrays | None = None  # a checkpoint on its way to whoever writes it
    worker: str = ""  # NODE:PROCESS of who says so


class Executor(Protocol):
    """Who trains."""

    device: str

    def pieces(self, runs: Sequence[Run], compiled: bool) -> list[list[Run]]:
        """The runs in populations, which are compiled or not."""
        ...

    def execute(self, jobs: Iterator[Job], most: int, settings: Settings) -> Iterator[Message]:
        """Train every job, of which there are so many at most; messages come as they are said."""
        ...


def state_of(job: Job, folder: Path) -> Arrays | None:
    """What a job's checkpoint holds of its runs; networks that read images are files of their own."""
    if job.runs[0].case.task.extends:
        return saved.kept_all(folder, _networks(job))
    return None if job.checkpoint is None else job.checkpoint.arrays(job.keys)


def _networks(job: Job) -> list[Key]:
    """Runs that read images by their case, however long it is trained, and seed."""
    return [(run.case.trunk.hash, run.seed) for run in job.runs]


def attempt(job: Job, settings: Settings, state: Arrays | None = None) -> Iterator[Message]:
    """Train one population, and say so if there is not memory enough; any other error is a sentence."""
    try:
        yield from _train(job, settings, state)
    except NALMError:
        raise
    except Exception as error:
        if not out_of_memory(error):
            traceback.print_exc()
            raise NALMError(
                f"Training {len(job.runs)} runs of {job.runs[0].case.name!r} failed: {type(error).__name__}: {error}."
            ) from error
        torch.cuda.empty_cache()
        yield Message("memory", job)


def _train(job: Job, settings: Settings, state: Arrays | None) -> Iterator[Message]:
    training = _begun(job, settings, state)
    yield Message("resumed" if training.at else "started", job, training.at)
    saved = told = time.monotonic()
    while not training.finished:
        training.advance()
        now = time.monotonic()
        if now - told > TELL_EVERY:
            yield Message("progress", job, training.at, int(training.solved_now().sum()))
            told = now
        if now - saved > settings.save_every and not training.finished:
            yield Message(
                "checkpoint",
                job,
                training.at,
                int(training.solved_now().sum()),
                state=_arrays(training.state()),
            )
            saved = time.monotonic()
    results = training.results()
    last = training.final_state()
    state = None if last is None else _arrays(last)
    yield Message("finished", job, training.at, int(results.solved.sum()), Finished.of(results), state)


def _begun(job: Job, settings: Settings, state: Arrays | None) -> Trainer:
    """Return the training of a job, from its start or from a state."""
    device = device_for(settings.device)
    training = trainer(job.runs, device, compiled=settings.compiled, data=settings.data)
    if state is not None:
        training.restore(tensors(state))
    return training


def _arrays(state: dict[str, torch.Tensor]) -> Arrays:
    """Return the tensors of a state as the arrays of a checkpoint."""
    return {name: t.cpu().numpy() for name, t in state.items()}


def tensors(arrays: Arrays) -> dict[str, torch.Tensor]:
    """A checkpoint's arrays as training takes them."""
    try:
        return {name: torch.from_numpy(a) for name, a in arrays.items()}
    except TypeError as error:
        raise NALMError(f"This state holds something else than numbers: {error}.") from None


def kept(messages: Iterator[Message], folder: Path) -> Iterator[Message]:
    """The messages, their checkpoints written on the way."""
    for message in messages:
        if message.state is not None and message.job.runs[0].case.task.extends:
            saved.keep_all(folder, _networks(message.job), message.state)
        elif message.state is not None:
            checkpoints.write(folder, message.job.keys, message.state)
        yield replace(message, state=None)
