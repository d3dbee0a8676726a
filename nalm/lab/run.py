"""Run experiments: skip finished runs, resume from checkpoints, train the rest, and save results as they arrive."""

import math
import shlex
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import torch

from nalm.config import Experiment
from nalm.engine import Run, check
from nalm.engine.compiler import NotCompiled
from nalm.engine.device import check_precision
from nalm.engine.images import mnist
from nalm.errors import NALMError
from nalm.lab.executors.base import SAVE_EVERY, Executor, Job, Message, Settings
from nalm.lab.executors.local import Local
from nalm.results import checkpoints
from nalm.results.store import OWN_UNITS, Key, Store
from nalm.units import own

HEARTBEAT = 5.0  # seconds between two writes of the last activity into the store
FAILED = ("memory", "lost", "moved")  # messages about a population whose training failed


@dataclass
class State:
    """The progress of a command, as a progress bar shows it."""

    runs: int  # wanted in all
    steps: int  # run-steps wanted in all
    finished: int = 0
    solved: int = 0
    done: int = 0  # run-steps
    before: int = 0  # run-steps that earlier processes did
    waiting: bool = False
    active: dict[str, tuple[str, int, int, int]] = field(default_factory=dict)  # name, runs, step, solved
    workers: dict[str, str] = field(default_factory=dict)  # population -> NODE:PROCESS of its worker
    warning: str = ""  # why some populations are trained uncompiled; the first reason
    started: float = field(default_factory=time.monotonic)

    @property
    def remaining(self) -> float:
        """Seconds left at the rate so far; infinite during the first 2 % of the work, which includes compiling."""
        now = self.done + sum(runs * at for _, runs, at, _ in self.active.values())
        gained = now - self.before
        known = gained > 0.02 * (self.steps - self.before)
        return (time.monotonic() - self.started) * (self.steps - now) / gained if known else float("inf")

    @property
    def fraction(self) -> float:
        """The share of all run-steps that is done."""
        return (self.done + sum(runs * at for _, runs, at, _ in self.active.values())) / max(self.steps, 1)


Show = Callable[[State], None]


def run(
    experiments: Sequence[Experiment],
    folder: Path | str = "runs",
    *,
    device: str = "auto",
    compiled: bool = True,
    workers: int | None = None,
    executor: Executor | None = None,
    units: Sequence[str] = (),
    show: Show | None = None,
    save_every: float = SAVE_EVERY,
    data: Path | str = "",
    curves: bool = True,
    precision: str = "",
    max_time: float = math.inf,
) -> State:
    """Train every run of the experiments that is not yet in the folder's store; return when all are.

    ``workers`` is the number of processes (None: chosen by the executor), unless an ``executor`` is given;
    ``show`` is called with the state whenever it changes; without it, a failed compilation is a Python warning.
    Workers load the user-defined units: ``units`` as FILE.py:Class, and those of the cases that are loaded here. Their
    files are copied into the folder, under ``units``. ``save_every`` is the least time in seconds between checkpoints,
    ``data`` the folder of MNIST's files. Without ``curves`` only the last evaluation of each run is stored, which is
    enough for tallies; networks that read images are judged by their curves and refused. ``precision`` is that of
    networks that read images. After ``max_time`` seconds the state of unfinished runs is saved and the call returns.
    """
    if workers is not None and workers < 1:
        raise NALMError(f"workers must be 1 or more, or None for an automatic choice; got {workers}.")
    if not save_every >= 0:
        raise NALMError(f"save_every must be 0 or more seconds, got {save_every:g}.")
    if not max_time > 0:
        raise NALMError(f"max_time must be more than 0 seconds, got {max_time:g}.")
    check_precision(precision)
    until = time.time() + max_time
    wanted: dict[Key, Run] = {}
    for experiment in experiments:
        check(experiment.cases)
        if not curves and any(case.task.images for case in experiment.cases):
            raise NALMError(f"{experiment.name} reads images and is judged by its curves: keep them.")
        for case in experiment.cases:
            for seed in experiment.seeds:
                wanted.setdefault((case.hash, seed), Run(case, seed, len(wanted)))
    if any(run.case.task.source == "mnist" for run in _missing(wanted, Path(folder))):
        data = mnist.folder(data)
    executor = executor or Local(device, workers)
    named = [layer.unit for run in wanted.values() for layer in run.case.model]
    loaded = tuple(dict.fromkeys((*units, *own.spellings(named))))
    settings = Settings(
        Path(folder), executor.device, compiled, loaded, save_every, str(data), curves, precision, until
    )
    with Store(folder, create=True) as store:
        store.begin(_command(), torch.__version__)
        checkpoints.remove_stale_files(store.folder)
        own.copy_sources(named, store.folder / OWN_UNITS)
        for experiment in experiments:
            store.register(experiment)
        session = Session(store, settings, executor, wanted, show or (lambda state: None))
        while (missing := session.missing()) and not settings.over:
            if not session.train(session.plan(missing)):
                session.state.waiting = True
                session.show(session.state)
                time.sleep(1)
        session.show(session.state)
    if session.state.warning and show is None:
        warnings.warn(session.state.warning, NotCompiled, stacklevel=2)
    return session.state


def _command() -> str:
    """Return the command line as valid text; without a UTF-8 locale Python reads file names as surrogates."""
    return shlex.join(sys.argv).encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _missing(wanted: dict[Key, Run], folder: Path) -> list[Run]:
    """Return the runs that are not finished yet; all of them without a store."""
    try:
        with Store(folder) as store:
            found = store.lookup(list(wanted))
    except NALMError:
        found = {}
    return [run for key, run in wanted.items() if key not in found]


class Session:
    """One execution of ``run``: the store, the wanted runs, and the state shown to the user."""

    def __init__(
        self, store: Store, settings: Settings, executor: Executor, wanted: dict[Key, Run], show: Show
    ):
        self.store, self.settings, self.executor = store, settings, executor
        self.wanted, self.show = wanted, show
        self.state = State(len(wanted), sum(r.case.recipe.steps for r in wanted.values()))
        finished = store.lookup(list(wanted))
        self.state.before = sum(wanted[key].case.recipe.steps for key in finished)
        self.begun: set[str] = set()  # populations of this session
        self.alive = time.monotonic()

    def missing(self) -> list[Run]:
        """Return the wanted runs that are not in the store yet, and update the counts of the state."""
        have = self.store.lookup(list(self.wanted))
        self.state.finished = len(have)
        self.state.solved = sum(outcome == "solved" for outcome in have.values())
        self.state.done = sum(self.wanted[key].case.recipe.steps for key in have)
        return [run for key, run in self.wanted.items() if key not in have]

    def plan(self, missing: Sequence[Run]) -> list[Job]:
        """Return the populations to train: those with a checkpoint first, then the others, the largest first."""
        left = {(run.case.hash, run.seed): run for run in missing}
        jobs = []
        for checkpoint in checkpoints.list_checkpoints(self.store.folder):
            keys = [key for key in checkpoint.runs if key in left]
            if keys:
                jobs.append(Job(tuple(left.pop(key) for key in keys), checkpoint))
        pieces = self.executor.pieces(list(left.values()), self.settings.compiled)
        rest = [Job(tuple(group)) for group in pieces]
        return jobs + sorted(rest, key=_size, reverse=True)

    def train(self, plan: Sequence[Job]) -> bool:
        """Train the jobs that no other process has reserved; return whether there was any."""
        trained = False
        for message in self.executor.execute(self._reserved(plan), plan, self.settings):
            trained = True
            self._handle(message)
        return trained

    def _reserved(self, plan: Sequence[Job]) -> Iterator[Job]:
        """Reserve each job when it is asked for, and yield it without the runs of other processes."""
        for job in plan:
            if self.settings.over:
                return
            mine = set(self.store.reserve(job.keys))
            if mine:
                runs = tuple(run for run in job.runs if (run.case.hash, run.seed) in mine)
                yield Job(runs, job.checkpoint)

    def _handle(self, message: Message) -> None:
        """Save what a message brings, log it, and update the state."""
        job, state = message.job, self.state
        name = checkpoints.population_name(job.keys)
        state.waiting = False
        state.warning = state.warning or message.warning
        if message.kind == "finished":
            assert message.runs is not None
            self.store.save(message.runs, population=name, at=message.at)
            self._delete_checkpoints(job)
            state.finished += len(job.runs)
            state.solved += message.solved
            state.done += sum(run.case.recipe.steps for run in job.runs)
        if message.kind in ("finished", "stopped", *FAILED):
            state.active.pop(name, None)
            state.workers.pop(name, None)
        else:
            if message.kind == "resumed" and name not in self.begun:
                state.before += len(job.runs) * message.at
            self.begun.add(name)
            state.active[name] = (job.runs[0].case.name, len(job.runs), message.at, message.solved)
            state.workers[name] = message.worker
        if message.kind not in ("finished", "progress"):
            self.store.log_event(message.kind, name, len(job.runs), message.at)
        if time.monotonic() - self.alive > HEARTBEAT:
            self.store.heartbeat()
            self.alive = time.monotonic()
        self.show(state)

    def _delete_checkpoints(self, job: Job) -> None:
        """Delete the checkpoints of a job whose runs are all finished."""
        own = (
            self.settings.folder / checkpoints.FOLDER / f"{checkpoints.population_name(job.keys)}.safetensors"
        )
        own.unlink(missing_ok=True)
        if job.checkpoint is None:
            return
        if len(self.store.lookup(job.checkpoint.runs)) == len(set(job.checkpoint.runs)):
            job.checkpoint.path.unlink(missing_ok=True)


def _size(job: Job) -> int:
    """Estimate the work of a job, for sorting."""
    case = job.runs[0].case
    return len(job.runs) * case.recipe.steps * case.inputs
