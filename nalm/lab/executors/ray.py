"""Training on a Ray cluster: a population is a task, and the driver is the only one who writes.

Workers need neither the results folder nor a file of the driver's: what they are to train, the state to go on from and
the source of one's own units come with the task; runs, checkpoints and progress stream back as they are said.
"""

import contextlib
import functools
import logging
import os
import secrets
import shutil
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
from nalm.lab.custom_units import load
from nalm.lab.executors.base import MOST_ON_GPU, NOBODY, Message, Settings, attempt, kept, state_of
from nalm.lab.executors.queue import Fault, Job, Queue
from nalm.results import locks
from nalm.results.store import Arrays

SCHEDULING = 0.015  # seconds that a task costs beside its work (docs/scale.md)
SHARE = 0.02  # of the work that scheduling may cost
COMPILED = 60.0  # seconds of work that are worth compiling a program once more
WAVES = 4  # tasks per worker to aim at: the last ones then end together
PREFIX = "nalm-ray-"  # of the folders of clusters that are started here
STORE = 256 * 2**20  # bytes for objects on their way, in a cluster that is started here
QUIET = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0"}

Source = tuple[str, str, bytes]  # of a unit: name of its file, class, content
Versions = tuple[str, str]  # nalm, torch


def _ray(own: bool = False) -> Any:
    """Ray, quiet; a cluster of one's own is opened by a token that is kept nowhere (Ray reads these when imported)."""
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
    """The cluster called ``ray:ADDRESS``; or for ``ray`` that of RAY_ADDRESS, or one started on this machine."""
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
    if ray.is_initialized():  # whoever did it also ends it
        yield Cluster(device)
        return
    with contextlib.ExitStack() as stack:
        if own:
            _begin(ray, stack, workers)
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


def _begin(ray: Any, stack: contextlib.ExitStack, workers: int | None) -> None:
    """A cluster of this machine alone: no dashboard, nobody else can reach it, and its logs go when it goes."""
    base = Path("/tmp" if os.path.isdir("/tmp") else tempfile.gettempdir())  # short: sockets have short names
    _tidy(base)
    folder = tempfile.mkdtemp(prefix=PREFIX, dir=base)
    stack.callback(shutil.rmtree, folder, ignore_errors=True)
    stack.callback(locks.hold(Path(folder))[1].close)
    ray.init(
        address="local",
        num_cpus=workers,
        include_dashboard=False,
        log_to_driver=False,
        logging_level=logging.CRITICAL,
        object_store_memory=STORE,
        _node_ip_address="127.0.0.1",
        _temp_dir=folder,
    )


def _tidy(base: Path) -> None:
    """End what is left of clusters whose driver was killed, and remove their folders: nobody holds their lock."""
    import psutil  # comes with Ray

    for folder in base.glob(f"{PREFIX}*"):
        names = [path.name for path in (folder / locks.FOLDER).glob("*")]
        if not names or any(locks.held(folder, name) for name in names):
            continue  # somebody's, or somebody is just about to begin
        for process in psutil.process_iter():
            with contextlib.suppress(psutil.Error):
                words = process.cmdline()
                if any(str(folder) in word for word in words) and process.pid != os.getpid():
                    process.kill()
        shutil.rmtree(folder, ignore_errors=True)


class Cluster:
    """A cluster that this process is connected to; every task has a core, on a GPU with a share of it."""

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
        """How many tasks can run at once, as the cluster stands now."""
        have = self.ray.cluster_resources()
        places = have.get("CPU", 0)
        if self.gpu:
            places = min(places, have.get("GPU", 0) / self.gpu)
        return max(1, int(places))

    def pieces(self, runs: Sequence[Run], compiled: bool) -> list[list[Run]]:
        """The runs by program, cut for the workers there are, but not so small that it costs more than it gives."""
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

    def execute(self, jobs: Iterator[Job], most: int, settings: Settings) -> Iterator[Message]:
        """Train every job wherever there is room; what is lost on the way is trained again."""
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
                    yield from kept(self._heard(stream, flying, queue), settings.folder)
        finally:
            for stream in flying:
                with contextlib.suppress(Exception):
                    self.ray.cancel(stream, force=True)

    def _ready(self, streams: list[Any]) -> list[Any]:
        """Those that have something to say, once one has."""
        self.ray.wait(streams, num_returns=1, timeout=5, fetch_local=False)
        ready: list[Any] = self.ray.wait(streams, num_returns=len(streams), timeout=0, fetch_local=False)[0]
        return ready

    def _heard(self, stream: Any, flying: dict[Any, Job], queue: Queue) -> Iterator[Message]:
        """The next message of one task; when it was the last, the task is no longer flying."""
        job = flying[stream]
        message = self._received(stream)
        yield replace(message, job=job)
        if message.kind == "checkpoint":  # it is written by now
            queue.advanced(job)
        if message.kind in ("finished", "memory", "lost", "moved"):
            del flying[stream]
        if message.kind in ("memory", "lost", "moved"):
            fault: Fault = message.kind  # type: ignore[assignment]
            queue.broken(job, fault)

    def _received(self, stream: Any) -> Message:
        """What a task says, or what is said of it."""
        errors = self.ray.exceptions
        try:
            message = self.ray.get(next(stream))
        except StopIteration:
            return Message("lost", NOBODY)
        except errors.OutOfMemoryError:
            return Message("memory", NOBODY)
        except (errors.NodeDiedError, errors.ObjectLostError, errors.OwnerDiedError):
            return Message("moved", NOBODY)
        except errors.RayTaskError as error:
            last = str(error).strip().splitlines()[-1]
            raise NALMError(
                f"A worker of the cluster failed ({last}): install nalm {__version__} on all."
            ) from None
        except errors.RayError:
            return Message("lost", NOBODY)
        if isinstance(message, NALMError):
            raise message
        assert isinstance(message, Message)
        return message


def _versions() -> Versions:
    """Of nalm and torch; for which kind of GPU torch was built may differ."""
    return __version__, torch.__version__.partition("+")[0]


def _sources(units: Sequence[str]) -> tuple[Source, ...]:
    """Units of one's own, to be sent along."""
    parts = [spelling.rpartition(":") for spelling in units]
    return tuple((Path(file).name, name, Path(file).read_bytes()) for file, _, name in parts)


@functools.lru_cache
def _load(sources: tuple[Source, ...]) -> None:
    """Register the units in this worker, once."""
    with tempfile.TemporaryDirectory() as folder:
        for file, name, content in sources:
            (Path(folder) / file).write_bytes(content)
            load(f"{Path(folder) / file}:{name}")


def _serve(
    runs: tuple[Run, ...], state: Arrays | None, common: tuple[Settings, tuple[Source, ...], Versions]
) -> Iterator[Message | NALMError]:
    """A task: train one population, saying how it goes."""
    import ray

    settings, sources, versions = common
    here = ray.get_runtime_context()
    worker = f"{here.get_node_id()[:6]}:{os.getpid()}"
    torch.set_num_threads(1)  # a task has one core
    try:
        if _versions() != versions:
            raise NALMError(
                "A worker of the cluster has nalm {} with torch {}, the driver {} with {}: "
                "install the same versions on all.".format(*_versions(), *versions)
            )
        _load(sources)
        for message in attempt(Job(runs), settings, state and {n: a.copy() for n, a in state.items()}):
            yield replace(message, job=NOBODY, worker=worker)
    except NALMError as error:
        yield error
