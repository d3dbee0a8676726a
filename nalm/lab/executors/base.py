"""Shared by all executors: the settings of a run, messages from workers, and the training of one population.

The driver hands out jobs, receives messages, and is the only process that writes results.
"""

import contextlib
import math
import time
import traceback
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol, TextIO

import torch

from nalm.engine import Run, Trainer, device_for, trainer
from nalm.engine.compiler import NotCompiled, out_of_memory
from nalm.errors import NALMError
from nalm.lab.executors.queue import Job as Job
from nalm.results import checkpoints
from nalm.results.networks import load_networks, save_networks
from nalm.results.store import Arrays, Finished, Key

SAVE_EVERY = 15.0  # seconds between checkpoints
TRAINED = 20  # times as long as saving took, a population is trained before it is saved again
REPORT_EVERY = 0.3  # seconds between progress messages about one population
MOST_ON_GPU = 12  # processes that share a GPU: each holds half a gigabyte of it
NO_JOB = Job(())  # the job in a message of a worker: the driver knows which it is


@dataclass(frozen=True)
class Settings:
    """Settings that are the same for all workers of a run."""

    folder: Path
    device: str = "auto"
    compiled: bool = True
    units: tuple[str, ...] = ()  # FILE.py:Class of units that are not part of the library
    save_every: float = SAVE_EVERY
    data: str = ""  # the folder of MNIST's files
    curves: bool = True  # stored whole; otherwise their last points
    precision: str = ""  # of networks that read images
    until: float = math.inf  # the time at which training stops and saves its state

    @property
    def over(self) -> bool:
        """True once the time is over."""
        return time.time() >= self.until


@dataclass(frozen=True)
class Message:
    """A report about a job: started, resumed, progress, checkpoint (with its state) or finished (with its runs).

    Or stopped (with its state): the time of the command is over. Or a failure: memory (it ran out), lost (the worker
    ended), moved (the node left the cluster).
    """

    kind: str
    job: Job
    at: int = 0
    solved: int = 0
    runs: Finished | None = None
    state: Arrays | None = None  # a checkpoint that is still to be written
    worker: str = ""  # NODE:PROCESS of the sender
    warning: str = ""  # why a population is trained uncompiled


class Executor(Protocol):
    """Trains jobs, on this machine or on a cluster."""

    device: str

    def pieces(self, runs: Sequence[Run], compiled: bool) -> list[list[Run]]:
        """Divide the runs into populations; ``compiled`` says whether each costs a compilation."""
        ...

    def execute(self, jobs: Iterator[Job], plan: Sequence[Job], settings: Settings) -> Iterator[Message]:
        """Train every job and yield messages as they arrive.

        ``plan`` lists the jobs that may come; ``jobs`` reserves each of them when it is asked for the next.
        """
        ...


def state_of(job: Job, folder: Path) -> Arrays | None:
    """Return the saved state of a job's runs: from its checkpoint or, for images, from the networks' own files."""
    if job.runs[0].case.task.extends:
        return load_networks(folder, _networks(job))
    return None if job.checkpoint is None else job.checkpoint.arrays(job.keys)


def _networks(job: Job) -> list[Key]:
    """Return (trunk, seed) of each run, which names the file of its network."""
    return [(run.case.trunk.hash, run.seed) for run in job.runs]


def attempt(job: Job, settings: Settings, state: Arrays | None = None) -> Iterator[Message]:
    """Train one population; yield a message if memory runs out, and raise any other error as a NALMError."""
    try:
        with _collected_warnings() as found:
            for message in _train(job, settings, state):
                yield replace(message, warning=found.pop()) if found else message
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


@contextlib.contextmanager
def _collected_warnings() -> Iterator[list[str]]:
    """Collect warnings about compilation, so that the driver can print one instead of one per worker and program."""
    found: list[str] = []
    before = warnings.showwarning

    def show(
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: TextIO | None = None,
        line: str | None = None,
    ) -> None:
        if issubclass(category, NotCompiled):
            found.append(str(message))
        else:
            before(message, category, filename, lineno, file, line)

    warnings.showwarning = show
    try:
        yield found
    finally:
        warnings.showwarning = before


def _train(job: Job, settings: Settings, state: Arrays | None) -> Iterator[Message]:
    training = _begun(job, settings, state)
    yield Message("resumed" if training.at else "started", job, training.at)
    saved = reported = time.monotonic()
    pause = settings.save_every
    while not training.finished:
        training.advance()
        now = time.monotonic()
        if settings.over and not training.finished:
            yield _saved("stopped", job, training)
            return
        if now - reported > REPORT_EVERY:
            yield Message("progress", job, training.at, int(training.solved_now().sum()))
            reported = now
        if now - saved > pause and not training.finished:
            yield _saved("checkpoint", job, training)  # which is written before the next step
            saved = time.monotonic()
            pause = max(settings.save_every, TRAINED * (saved - now)) if settings.save_every else 0.0
    results = training.results()
    last = training.final_state()
    state = None if last is None else _arrays(last)
    done = Finished.of(results, settings.curves)
    yield Message("finished", job, training.at, int(results.solved.sum()), done, state)


def _saved(kind: str, job: Job, training: Trainer) -> Message:
    """Return a message with the state of a training."""
    solved = int(training.solved_now().sum())
    return Message(kind, job, training.at, solved, state=_arrays(training.state()))


def _begun(job: Job, settings: Settings, state: Arrays | None) -> Trainer:
    """Return the training of a job, from its start or from a state."""
    device = device_for(settings.device)
    training = trainer(
        job.runs, device, compiled=settings.compiled, data=settings.data, precision=settings.precision
    )
    if state is not None:
        training.restore(tensors(state))
    return training


def _arrays(state: dict[str, torch.Tensor]) -> Arrays:
    """Return the tensors of a state as the arrays of a checkpoint."""
    return {name: t.cpu().numpy() for name, t in state.items()}


def tensors(arrays: Arrays) -> dict[str, torch.Tensor]:
    """Convert the arrays of a checkpoint to tensors."""
    try:
        return {name: torch.from_numpy(a) for name, a in arrays.items()}
    except TypeError as error:
        raise NALMError(f"The state of a checkpoint must hold numbers only: {error}.") from None


def write_checkpoints(messages: Iterator[Message], folder: Path) -> Iterator[Message]:
    """Write the checkpoints in the messages, and yield the messages without them."""
    for message in messages:
        if message.state is not None and message.job.runs[0].case.task.extends:
            save_networks(folder, _networks(message.job), message.state)
        elif message.state is not None:
            checkpoints.save_checkpoint(folder, message.job.keys, message.state)
        yield replace(message, state=None)
