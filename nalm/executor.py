"""Who trains: this process, or several beside it, each with one population at a time.

A driver hands out jobs and receives messages; it alone writes results. A worker writes the checkpoints of its
own population. Compilation is most of a short training, so several processes pay even on one GPU.
"""

import contextlib
import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from pathlib import Path

import torch

from nalm import checkpoints, images
from nalm.checkpoints import Checkpoint
from nalm.engine import Fitting, Run, Training, device_for, training_of
from nalm.errors import NALMError
from nalm.runs import Runs
from nalm.units.custom import load

SAVE_EVERY = 15.0  # seconds between checkpoints
TELL_EVERY = 0.3  # seconds between messages about one population
MOST_ON_GPU = 12  # processes that share a GPU: each holds half a gigabyte of it


@dataclass(frozen=True)
class Settings:
    """What all workers of a run have in common."""

    folder: Path
    device: str = "auto"
    compiled: bool = True
    units: tuple[str, ...] = ()  # FILE.py:Class of units that are not part of the library
    save_every: float = SAVE_EVERY
    data: str = ""  # the folder of MNIST's files


@dataclass(frozen=True)
class Job:
    """One population to train, from its start or from a checkpoint."""

    runs: tuple[Run, ...]
    checkpoint: Checkpoint | None = None

    @property
    def keys(self) -> list[tuple[str, int]]:
        """The runs by case and seed."""
        return [(run.case.hash, run.seed) for run in self.runs]


@dataclass(frozen=True)
class Message:
    """What a worker says: started, resumed, progress, checkpoint (with step and solved runs), or finished."""

    kind: str
    job: Job
    at: int = 0
    solved: int = 0
    runs: Runs | None = None


def work(job: Job, settings: Settings) -> Iterator[Message]:
    """Train one population to its end, saying how it goes."""
    training = _begun(job, settings)
    yield Message("resumed" if training.at else "started", job, training.at)
    saved = told = time.monotonic()
    while not training.finished:
        training.advance()
        now = time.monotonic()
        if now - told > TELL_EVERY:
            yield Message("progress", job, training.at, int(training.solved_now().sum()))
            told = now
        if now - saved > settings.save_every and not training.finished:
            _save(training, job, settings)
            yield Message("checkpoint", job, training.at, int(training.solved_now().sum()))
            saved = time.monotonic()
    if isinstance(training, images.Training):
        training.save(settings.folder)  # a longer training goes on from here
    results = training.results()
    yield Message("finished", job, training.at, int(results.solved.sum()), results)


def _begun(job: Job, settings: Settings) -> Training | Fitting | images.Training:
    """The training of a job, as far as it was once: numbers by the engine, images by networks that read them."""
    device, case = device_for(settings.device), job.runs[0].case
    if case.digits is not None:
        reading = images.Training(job.runs, device, compiled=settings.compiled, data=settings.data)
        reading.resume(settings.folder)
        return reading
    training = training_of(job.runs, device, compiled=settings.compiled)
    if job.checkpoint is not None:
        arrays = job.checkpoint.arrays(job.keys)
        training.restore({name: torch.from_numpy(a) for name, a in arrays.items()})
    return training


def _save(training: Training | Fitting | images.Training, job: Job, settings: Settings) -> None:
    if isinstance(training, images.Training):
        training.save(settings.folder)
    else:
        state = {name: t.cpu().numpy() for name, t in training.state().items()}
        checkpoints.write(settings.folder, job.keys, state)


def execute(jobs: Iterator[Job], workers: int, settings: Settings) -> Iterator[Message]:
    """Train every job; messages come as they are said."""
    if workers > 1:
        yield from _processes(jobs, workers, settings)
    else:
        for job in jobs:
            yield from work(job, settings)


def _processes(jobs: Iterator[Job], workers: int, settings: Settings) -> Iterator[Message]:
    context = multiprocessing.get_context("spawn")
    threads = max(1, (os.cpu_count() or 1) // workers)
    busy: dict[Connection, Job] = {}
    idle: list[Connection] = []
    everyone = []
    try:
        for _ in range(workers):
            job = next(jobs, None)
            if job is None:
                break
            ours, theirs = context.Pipe()
            process = context.Process(target=_serve, args=(theirs, settings, threads), daemon=True)
            with _deaf():
                process.start()
            theirs.close()
            everyone.append(process)
            ours.send(job)
            busy[ours] = job
        while busy:
            for connection in wait(list(busy)):
                assert isinstance(connection, Connection)
                try:
                    message = connection.recv()
                except EOFError:
                    job = busy[connection]
                    raise NALMError(
                        f"A worker died while it trained {len(job.runs)} runs of {job.runs[0].case.name!r} "
                        "(out of memory?): run the same command again, it goes on from the last checkpoint."
                    ) from None
                if isinstance(message, NALMError):
                    raise message
                yield message
                if message.kind == "finished":
                    job = next(jobs, None)
                    if job is None:
                        idle.append(connection)
                        del busy[connection]
                    else:
                        connection.send(job)
                        busy[connection] = job
    finally:
        for connection in [*busy, *idle]:
            connection.close()
        for process in everyone:
            process.terminate()
            process.join()


@contextlib.contextmanager
def _deaf() -> Iterator[None]:
    """Start a process that does not hear Ctrl-C: the driver does, and ends its workers."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _die_with_the_driver() -> None:
    """A driver that was killed cannot end its workers: they notice, and stop where they are."""
    driver = multiprocessing.parent_process()
    if driver is not None:
        driver.join()
        os._exit(1)


def _serve(connection: Connection, settings: Settings, threads: int) -> None:
    """A worker's life: jobs in, messages out, until the driver closes the line or dies."""
    threading.Thread(target=_die_with_the_driver, daemon=True).start()
    torch.set_num_threads(threads)
    with contextlib.suppress(EOFError, BrokenPipeError, ConnectionResetError, KeyboardInterrupt):
        try:
            for spelling in settings.units:
                load(spelling)
            while True:
                for message in work(connection.recv(), settings):
                    connection.send(message)
        except NALMError as error:
            connection.send(error)


def workers_for(device: str, populations: Sequence[Job]) -> int:
    """How many processes are worth it: one per core, or a dozen on a GPU, but no more than populations.

    One that reads images fills a GPU, and processes take turns on it: streams of one process share it better.
    """
    cores = os.cpu_count() or 1
    most = min(cores, MOST_ON_GPU) if device_for(device).type == "cuda" else cores
    if device_for(device).type == "cuda" and any(run.case.digits for job in populations for run in job.runs):
        most = 1
    return max(1, min(most, len(populations)))
