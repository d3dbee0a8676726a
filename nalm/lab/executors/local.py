"""Who trains: this process, or several beside it, each with one population at a time.

A driver hands out jobs and receives messages; it alone writes results. A worker on this machine writes the checkpoints
of its own population. Compilation is most of a short training, so several processes pay even on one GPU.
"""

import contextlib
import multiprocessing
import os
import signal
import threading
import time
import traceback
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Protocol

import torch

from nalm.engine import NUMBERS, Fitting, Run, Training, device_for, images, populations, training_of
from nalm.engine.compiler import out_of_memory
from nalm.errors import NALMError
from nalm.lab.custom_units import load
from nalm.lab.executors.queue import Job as Job
from nalm.lab.executors.queue import Queue
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


class Local:
    """This process, or several beside it (``workers``; None: as many as are worth it)."""

    def __init__(self, device: str = "auto", workers: int | None = None):
        self.device, self.workers = device, workers
        self.reading = False  # images
        self.numbers = NUMBERS[device_for(device).type == "cuda"]

    def pieces(self, runs: Sequence[Run], compiled: bool) -> list[list[Run]]:
        """The runs by program, in pieces that fit."""
        self.reading = any(run.case.digits for run in runs)
        return populations(runs, self.numbers)

    def execute(self, jobs: Iterator[Job], most: int, settings: Settings) -> Iterator[Message]:
        """Train every job, one after another or side by side."""
        workers = workers_for(self.device, self.reading) if self.workers is None else self.workers
        queue = Queue(jobs, settings.folder)
        if min(workers, most) > 1:
            yield from _processes(queue, min(workers, most), settings)
            return
        while (job := queue.next()) is not None:
            for message in kept(attempt(job, settings, state_of(job, settings.folder)), settings.folder):
                yield message
                if message.kind == "memory":
                    queue.broken(job, "memory")


def state_of(job: Job, folder: Path) -> Arrays | None:
    """What a job's checkpoint holds of its runs; networks that read images are files of their own."""
    if job.runs[0].case.digits is not None:
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
                state=_state(training),
            )
            saved = time.monotonic()
    results = training.results()
    last = _state(training) if isinstance(training, images.Training) else None  # for a longer training
    yield Message("finished", job, training.at, int(results.solved.sum()), Finished.of(results), last)


def _begun(job: Job, settings: Settings, state: Arrays | None) -> Training | Fitting | images.Training:
    """The training of a job, as far as it was once: numbers by the engine, images by networks that read them."""
    device = device_for(settings.device)
    training: Training | Fitting | images.Training
    if job.runs[0].case.digits is not None:
        training = images.Training(job.runs, device, compiled=settings.compiled, data=settings.data)
    else:
        training = training_of(job.runs, device, compiled=settings.compiled)
    if state is not None:
        training.restore(tensors(state))
    return training


def _state(training: Training | Fitting | images.Training) -> Arrays:
    """What a checkpoint holds."""
    return {name: t.cpu().numpy() for name, t in training.state().items()}


def tensors(arrays: Arrays) -> dict[str, torch.Tensor]:
    """A checkpoint's arrays as training takes them."""
    try:
        return {name: torch.from_numpy(a) for name, a in arrays.items()}
    except TypeError as error:
        raise NALMError(f"This state holds something else than numbers: {error}.") from None


def kept(messages: Iterator[Message], folder: Path) -> Iterator[Message]:
    """The messages, their checkpoints written on the way."""
    for message in messages:
        if message.state is not None and message.job.runs[0].case.digits is not None:
            saved.keep_all(folder, _networks(message.job), message.state)
        elif message.state is not None:
            checkpoints.write(folder, message.job.keys, message.state)
        yield replace(message, state=None)


def _processes(queue: Queue, workers: int, settings: Settings) -> Iterator[Message]:
    threads = max(1, (os.cpu_count() or 1) // workers)
    busy: dict[Connection, Job] = {}
    idle: list[Connection] = []
    everyone: list[BaseProcess] = []
    try:
        while True:
            while len(busy) < workers and (job := queue.next()) is not None:
                if not idle:
                    line, process = _start(settings, threads)
                    idle.append(line)
                    everyone.append(process)
                busy[line := idle.pop()] = job
                with contextlib.suppress(BrokenPipeError):  # it is dead: the line says so when it is read
                    line.send(job)
            if not busy:
                return
            for connection in wait(list(busy)):
                assert isinstance(connection, Connection)
                job = busy[connection]
                try:
                    message = connection.recv()
                except (EOFError, ConnectionResetError):
                    message = Message("lost", job)
                if isinstance(message, NALMError):
                    raise message
                yield replace(message, job=job)
                if message.kind == "checkpoint":
                    queue.advanced(job)
                if message.kind in ("memory", "lost"):
                    queue.broken(job, "memory" if message.kind == "memory" else "lost")
                if message.kind in ("finished", "memory", "lost"):
                    del busy[connection]
                    if message.kind == "lost":
                        connection.close()
                    else:
                        idle.append(connection)
    finally:
        for connection in [*busy, *idle]:
            connection.close()
        for process in everyone:
            process.terminate()
            process.join()


def _start(settings: Settings, threads: int) -> tuple[Connection, BaseProcess]:
    """A worker, and the line to it."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(theirs, settings, threads), daemon=True)
    with _deaf():
        process.start()
    theirs.close()
    return ours, process


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
                job = connection.recv()
                for message in kept(attempt(job, settings, state_of(job, settings.folder)), settings.folder):
                    connection.send(replace(message, job=NOBODY, worker=f"here:{os.getpid()}"))
        except NALMError as error:
            connection.send(error)


def workers_for(device: str, reading: bool = False) -> int:
    """How many processes are worth it: one per core, or a dozen on a GPU.

    One that reads images fills a GPU, and processes take turns on it: streams of one process share it better.
    """
    cores = os.cpu_count() or 1
    if device_for(device).type == "cuda":
        return 1 if reading else min(cores, MOST_ON_GPU)
    return cores
