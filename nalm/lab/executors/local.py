"""Training on this machine: in this process, or in several beside it, each with one population at a time.

A worker writes the checkpoints of its own population. Compilation is most of a short training, so several processes pay
even on one GPU.
"""

import contextlib
import multiprocessing
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess

import torch

from nalm.engine import NUMBERS, Run, device_for, populations
from nalm.errors import NALMError
from nalm.lab.custom_units import load
from nalm.lab.executors.base import MOST_ON_GPU, NOBODY, Message, Settings, attempt, kept, state_of
from nalm.lab.executors.queue import Job, Queue
from nalm.lab.machine import cores

PATIENCE = 10.0  # seconds that a worker has to end in good order


class Local:
    """This process, or several beside it (``workers``; None: as many as are worth it)."""

    def __init__(self, device: str = "auto", workers: int | None = None):
        self.device, self.workers = device, workers
        self.numbers = NUMBERS[device_for(device).type == "cuda"]

    def pieces(self, runs: Sequence[Run], compiled: bool) -> list[list[Run]]:
        """The runs by program, in pieces that fit."""
        return populations(runs, self.numbers)

    def execute(self, jobs: Iterator[Job], most: int, settings: Settings) -> Iterator[Message]:
        """Train every job, one after another or side by side."""
        workers = workers_for(self.device, settings.reads_images) if self.workers is None else self.workers
        queue = Queue(jobs, settings.folder)
        if min(workers, most) > 1:
            yield from _processes(queue, min(workers, most), settings)
            return
        while (job := queue.next()) is not None:
            for message in kept(attempt(job, settings, state_of(job, settings.folder)), settings.folder):
                yield message
                if message.kind == "memory":
                    queue.broken(job, "memory")


def _processes(queue: Queue, workers: int, settings: Settings) -> Iterator[Message]:
    threads = max(1, cores() // workers)
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
        _end([*busy, *idle], everyone, asked=bool(busy))


def _start(settings: Settings, threads: int) -> tuple[Connection, BaseProcess]:
    """A worker, and the line to it."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(theirs, settings, threads), daemon=True)
    try:
        with _deaf():
            process.start()
    except BaseException:
        ours.close()
        raise
    finally:
        theirs.close()
    return ours, process


def _end(lines: Sequence[Connection], processes: Sequence[BaseProcess], asked: bool) -> None:
    """End the workers: those that wait end by themselves when their line closes, and give back what they hold.

    Those that train are ``asked`` to end; one that does not is killed, and its semaphores are left to the system.
    """
    for line in lines:
        line.close()
    latest = time.monotonic() + PATIENCE
    try:
        for process in processes:
            if asked and process.is_alive():
                process.terminate()
        for process in processes:
            process.join(max(0.0, latest - time.monotonic()))
    finally:  # also if somebody who waits for this presses Ctrl-C once more
        for process in processes:
            process.kill()
            process.join()
            process.close()


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
        signal.raise_signal(signal.SIGTERM)
        time.sleep(PATIENCE)
        os._exit(1)


def _stop(number: int, frame: object) -> None:
    """End this worker in good order: unlike the system's way, this removes its temporary files and semaphores."""
    signal.signal(number, signal.SIG_IGN)  # once is enough
    sys.exit(128 + number)


def _serve(connection: Connection, settings: Settings, threads: int) -> None:
    """A worker's life: jobs in, messages out, until the driver closes the line or dies."""
    signal.signal(signal.SIGTERM, _stop)
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
    if device_for(device).type == "cuda":
        return 1 if reading else min(cores(), MOST_ON_GPU)
    return cores()
