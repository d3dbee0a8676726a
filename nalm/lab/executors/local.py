"""Training on this machine: in this process, or in several worker processes with one population each.

A worker writes the checkpoints of its own population. Compilation takes most of the time of a short training, so
several processes are faster even on one GPU.
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
from nalm.lab.executors.base import (
    MOST_ON_GPU,
    NO_JOB,
    Message,
    Settings,
    attempt,
    state_of,
    write_checkpoints,
)
from nalm.lab.executors.queue import Job, Queue
from nalm.operating_system import GRACE, cores, end_with_driver, ignore_sigint
from nalm.units.own import load

MOMENT = 0.05  # seconds after which a worker that could not exit tries again


class Local:
    """Trains in this process or in ``workers`` processes (None: as many as ``workers_for`` says)."""

    def __init__(self, device: str = "auto", workers: int | None = None):
        self.device, self.workers = device, workers
        self.numbers = NUMBERS[device_for(device).type == "cuda"]

    def pieces(self, runs: Sequence[Run], compiled: bool) -> list[list[Run]]:
        """Group the runs by program, in populations that fit into memory, compiled or not."""
        return populations(runs, self.numbers)

    def execute(self, jobs: Iterator[Job], plan: Sequence[Job], settings: Settings) -> Iterator[Message]:
        """Train every job, one after another or in parallel; ``plan`` is all of them, ``jobs`` hands them out."""
        reads_images = any(run.case.task.images for job in plan for run in job.runs)
        workers = workers_for(self.device, reads_images) if self.workers is None else self.workers
        queue = Queue(jobs, settings.folder)
        if min(workers, len(plan)) > 1:
            yield from _processes(queue, min(workers, len(plan)), settings)
            return
        while (job := queue.next()) is not None:
            for message in _trained(job, settings):
                yield message
                if message.kind == "memory":
                    queue.requeue(job, "memory")


def _trained(job: Job, settings: Settings) -> Iterator[Message]:
    """Train a job from its saved state, writing its checkpoints."""
    messages = attempt(job, settings, state_of(job, settings.folder))
    return write_checkpoints(messages, settings.folder)


def _processes(queue: Queue, workers: int, settings: Settings) -> Iterator[Message]:
    """Train the jobs of a queue in worker processes, which are started when they are needed."""
    threads = max(1, cores() // workers)
    busy: dict[Connection, Job] = {}
    idle: list[Connection] = []
    everyone: list[BaseProcess] = []
    try:
        while True:
            while len(busy) < workers and (job := queue.next()) is not None:
                if not idle:
                    line, process = _start_worker(settings, threads)
                    idle.append(line)
                    everyone.append(process)
                busy[line := idle.pop()] = job
                with contextlib.suppress(BrokenPipeError):  # the worker has ended: recv will tell
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
                    queue.requeue(job, "memory" if message.kind == "memory" else "lost")
                if message.kind in ("finished", "stopped", "memory", "lost"):
                    del busy[connection]
                    if message.kind == "lost":
                        connection.close()
                    else:
                        idle.append(connection)
    finally:
        _end_workers([*busy, *idle], everyone, terminate=bool(busy))


def _start_worker(settings: Settings, threads: int) -> tuple[Connection, BaseProcess]:
    """Start a worker; return the connection to it and its process."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(theirs, settings, threads), daemon=True)
    try:
        with ignore_sigint():
            process.start()
    except BaseException:
        ours.close()
        raise
    finally:
        theirs.close()
    return ours, process


def _end_workers(lines: Sequence[Connection], processes: Sequence[BaseProcess], terminate: bool) -> None:
    """End the workers: a waiting one ends by itself when its connection closes, and removes its temporary files.

    With ``terminate``, workers that are training get SIGTERM; one that has not ended after ``GRACE`` is killed.
    """
    for line in lines:
        line.close()
    latest = time.monotonic() + GRACE
    try:
        for process in processes:
            if terminate and process.is_alive():
                process.terminate()
        for process in processes:
            process.join(max(0.0, latest - time.monotonic()))
    finally:  # also if the user presses Ctrl-C again while this waits
        for process in processes:
            process.kill()
            process.join()
            process.close()


def _stop(number: int, frame: object) -> None:
    """Handle SIGTERM by exiting Python, which removes temporary files and semaphores."""
    signal.signal(number, signal.SIG_IGN)  # a second signal must not interrupt the exit
    sys.exit(128 + number)


def _stop_again(ignored: "sys.UnraisableHookArgs") -> None:
    """Stop a moment later where Python ignored the exit, because the signal came while it ran a destructor."""
    if ignored.exc_type is not SystemExit:
        sys.__unraisablehook__(ignored)
        return
    signal.signal(signal.SIGTERM, _stop)
    again = threading.Timer(MOMENT, signal.raise_signal, (signal.SIGTERM,))
    again.daemon = True
    again.start()


def _serve(connection: Connection, settings: Settings, threads: int) -> None:
    """Run a worker: receive jobs and send messages until the driver closes the connection or ends."""
    signal.signal(signal.SIGTERM, _stop)
    sys.unraisablehook = _stop_again
    threading.Thread(target=end_with_driver, daemon=True).start()
    torch.set_num_threads(threads)
    with contextlib.suppress(EOFError, BrokenPipeError, ConnectionResetError, KeyboardInterrupt):
        try:
            for spelling in settings.units:
                load(spelling)
            while True:
                job = connection.recv()
                for message in _trained(job, settings):
                    connection.send(replace(message, job=NO_JOB, worker=f"here:{os.getpid()}"))
        except NALMError as error:
            connection.send(error)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # it must not interrupt torch's cleaning up at exit


def workers_for(device: str, reads_images: bool = False) -> int:
    """Return the number of processes that trains fastest: one per core, up to ``MOST_ON_GPU`` on a GPU.

    A process that reads images fills a GPU, and several take turns on it: streams of one process share it better.
    """
    if device_for(device).type == "cuda":
        return 1 if reads_images else min(cores(), MOST_ON_GPU)
    return cores()
