"""Training on a Ray cluster: a population is a task, and the driver is the only process that writes.

Workers need neither the results folder nor any file of the driver: the runs to train, the state to resume from and the
source code of user-defined units come with the task; runs, checkpoints and progress are streamed back.
"""

import contextlib
import functools
import logging
import os
import secrets
import socket
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from nalm import __version__
from nalm.engine import NUMBERS, Run, populations
from nalm.errors import NALMError
from nalm.lab import costs
from nalm.lab.executors import own_cluster
from nalm.lab.executors.base import (
    MOST_ON_GPU,
    NO_JOB,
    Message,
    Settings,
    attempt,
    state_of,
    write_checkpoints,
)
from nalm.lab.executors.queue import Fault, Job, Queue
from nalm.results.store import Arrays
from nalm.units.own import load, parted, sources

SCHEDULING = 0.015  # seconds that scheduling a task costs (docs/scale.md)
SHARE = 0.02  # of the work that scheduling may cost
COMPILED = 60.0  # least seconds of work of a task that has to compile a program
WAVES = 4  # tasks per worker to aim at, so that workers finish at about the same time
QUIET = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0"}

Source = tuple[str, tuple[tuple[str, bytes], ...]]  # of a user-defined unit: FILE.py:Class, files
Versions = tuple[str, str]  # nalm, torch


def _ray(own: bool = False) -> Any:
    """Import Ray with little output; ``own`` protects a cluster that nalm starts by a random token.

    Ray reads these environment variables when it is imported.
    """
    secret = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(32)}
    for name, value in (QUIET | (secret if own and "RAY_AUTH_MODE" not in os.environ else {})).items():
        os.environ.setdefault(name, value)
    try:
        import ray
    except ImportError:
        raise NALMError("Training --on ray needs Ray: pip install 'nalm[ray]'.") from None
    return ray


@contextlib.contextmanager
def connected(on: str, device: str = "auto", workers: int | None = None) -> Iterator["Cluster"]:
    """Connect to the cluster ``ray:ADDRESS``; ``ray`` means that of RAY_ADDRESS, or a new one on this machine."""
    kind, _, address = on.partition(":")
    if kind != "ray":
        raise NALMError(f"--on takes ray or ray:ADDRESS, got {on!r}.")
    if device not in ("auto", "cpu", "cuda"):
        raise NALMError(f"There is no device called {device!r} on a cluster: use 'auto', 'cpu' or 'cuda'.")
    address = address or os.environ.get("RAY_ADDRESS", "")
    own = address in ("", "local")
    ray = _ray(own and "ray" not in sys.modules)
    if address.startswith("ray://"):
        raise NALMError(
            f"{address} is a client's address: run nalm on a machine of the cluster with the address of its head, "
            "such as ray:10.0.0.1:6379, or ray:auto."
        )
    if ray.is_initialized():  # the caller connected, and disconnects
        yield Cluster(device)
        return
    with contextlib.ExitStack() as stack:
        if own:
            own_cluster.start(ray, stack, workers)
        else:
            _join(ray, address)
        stack.callback(ray.shutdown)
        yield Cluster(device)


def _join(ray: Any, address: str) -> None:
    host, _, port = address.rpartition(":")
    try:
        if host and port.isdigit():  # Ray would wait for minutes
            socket.create_connection((host.strip("[]"), int(port)), timeout=10).close()
        ray.init(address=address, log_to_driver=False, logging_level=logging.CRITICAL)
    except (ConnectionError, RuntimeError, ValueError, OSError, OverflowError) as error:
        first = (str(error).strip().splitlines() or [type(error).__name__])[0]
        raise NALMError(
            f"There is no Ray cluster at {address!r} ({first}): start one with `ray start --head`, or leave out the "
            "address to have one started on this machine."
        ) from None


class Cluster:
    """Trains on the cluster that this process is connected to; a task gets one core and, with GPUs, a share of one."""

    def __init__(self, device: str = "auto"):
        self.ray = _ray()
        gpus = self.ray.cluster_resources().get("GPU", 0)
        if device == "cuda" and not gpus:
            raise NALMError("The cluster has no GPU: use --device cpu or auto.")
        self.device = "cuda" if gpus and device != "cpu" else "cpu"
        self.gpu = round(1 / MOST_ON_GPU, 4) if self.device == "cuda" else 0
        self._task = self.ray.remote(_serve).options(
            num_returns="streaming", num_cpus=1, num_gpus=self.gpu, max_retries=0
        )

    def slots(self) -> int:
        """Return how many tasks the cluster can run at once at present."""
        have = self.ray.cluster_resources()
        places = have.get("CPU", 0)
        if self.gpu:
            places = min(places, have.get("GPU", 0) / self.gpu)
        return max(1, int(places))

    def pieces(self, runs: Sequence[Run], compiled: bool) -> list[list[Run]]:
        """Group the runs by program and divide them among the workers, but not so finely that overhead dominates."""
        groups = populations(runs, NUMBERS[self.device == "cuda"])
        times = [costs.seconds([run.case for run in group], self.device) for group in groups]
        least = COMPILED if compiled else SCHEDULING / SHARE
        wanted = max(least, sum(times) / (WAVES * self.slots()))
        pieces = []
        for group, seconds in zip(groups, times, strict=True):
            count = max(1, min(len(group), round(seconds / wanted)))
            size = -(-len(group) // count)
            pieces += [group[i : i + size] for i in range(0, len(group), size)]
        return pieces

    def execute(self, jobs: Iterator[Job], plan: Sequence[Job], settings: Settings) -> Iterator[Message]:
        """Train every job on any free worker; a job whose worker is lost is trained again."""
        queue = Queue(jobs, settings.folder)
        plain = replace(settings, folder=Path(), units=())  # a worker has no folder
        common = self.ray.put((plain, _sources(settings.units), _versions()))
        flying: dict[Any, Job] = {}
        try:
            while True:
                slots = self.slots()
                while len(flying) < slots + slots // 8 + 1 and (job := queue.next()) is not None:
                    flying[self._task.remote(job.runs, state_of(job, settings.folder), common)] = job
                if not flying:
                    return
                for stream in self._ready(list(flying)):
                    yield from write_checkpoints(self._handle(stream, flying, queue), settings.folder)
        finally:
            for stream in flying:
                with contextlib.suppress(Exception):
                    self.ray.cancel(stream, force=True)

    def _ready(self, streams: list[Any]) -> list[Any]:
        """Wait until a stream has a message, and return all streams that have one."""
        self.ray.wait(streams, num_returns=1, timeout=5, fetch_local=False)
        ready: list[Any] = self.ray.wait(streams, num_returns=len(streams), timeout=0, fetch_local=False)[0]
        return ready

    def _handle(self, stream: Any, flying: dict[Any, Job], queue: Queue) -> Iterator[Message]:
        """Yield the next message of one task; remove the task from ``flying`` if it was the last."""
        job = flying[stream]
        message = self._receive(stream)
        yield replace(message, job=job)
        if message.kind == "checkpoint":  # it is written by now
            queue.advanced(job)
        if message.kind in ("finished", "stopped", "memory", "lost", "moved"):
            del flying[stream]
        if message.kind in ("memory", "lost", "moved"):
            fault: Fault = message.kind  # type: ignore[assignment]
            queue.requeue(job, fault)

    def _receive(self, stream: Any) -> Message:
        """Return the next message of a task, or a message about how it failed."""
        errors = self.ray.exceptions
        try:
            message = self.ray.get(next(stream))
        except StopIteration:
            return Message("lost", NO_JOB)
        except errors.OutOfMemoryError:
            return Message("memory", NO_JOB)
        except (errors.NodeDiedError, errors.ObjectLostError, errors.OwnerDiedError):
            return Message("moved", NO_JOB)
        except errors.RayTaskError as error:
            last = str(error).strip().splitlines()[-1]
            raise NALMError(
                f"A worker of the cluster failed ({last}): install nalm {__version__} on all."
            ) from None
        except errors.RayError:
            return Message("lost", NO_JOB)
        if isinstance(message, NALMError):
            raise message
        assert isinstance(message, Message)
        return message


def _versions() -> Versions:
    """Return the versions of nalm and torch; torch may be built for different GPUs."""
    return __version__, torch.__version__.partition("+")[0]


def _sources(units: Sequence[str]) -> tuple[Source, ...]:
    """Read the files of user-defined units, to be sent with the tasks."""
    parts = [parted(spelling) for spelling in units]
    return tuple((f"{file.name}:{name}", tuple(sources(file).items())) for file, name in parts)


@functools.lru_cache
def _load(units: tuple[Source, ...]) -> None:
    """Register the user-defined units in this worker, once."""
    for spelling, files in units:
        with tempfile.TemporaryDirectory() as folder:
            for file, content in files:
                (Path(folder) / file).parent.mkdir(parents=True, exist_ok=True)
                (Path(folder) / file).write_bytes(content)
            load(f"{folder}/{spelling}")


def _serve(
    runs: tuple[Run, ...], state: Arrays | None, common: tuple[Settings, tuple[Source, ...], Versions]
) -> Iterator[Message | NALMError]:
    """Train one population in a Ray task, and yield messages."""
    import ray

    settings, units, versions = common
    here = ray.get_runtime_context()
    worker = f"{here.get_node_id()[:6]}:{os.getpid()}"
    torch.set_num_threads(1)  # a task has one core
    try:
        if _versions() != versions:
            raise NALMError(
                "A worker of the cluster has nalm {} with torch {}, the driver {} with {}: "
                "install the same versions on all.".format(*_versions(), *versions)
            )
        _load(units)
        for message in attempt(Job(runs), settings, state and {n: a.copy() for n, a in state.items()}):
            yield replace(message, job=NO_JOB, worker=worker)
    except NALMError as error:
        yield error
