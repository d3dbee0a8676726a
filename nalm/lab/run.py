"""One command, one outcome: skip what is stored, go on with what was begun, train the rest, save as it comes."""

import shlex
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import torch

from nalm.config import Experiment
from nalm.engine import Run, check
from nalm.engine.images import mnist
from nalm.errors import NALMError
from nalm.lab.executors.base import SAVE_EVERY, Executor, Job, Message, Settings
from nalm.lab.executors.local import Local
from nalm.results import checkpoints
from nalm.results.store import Key, Store

HEARTBEAT = 5.0  # seconds between signs of life in the store
BROKEN = ("memory", "lost", "moved")  # messages of a population that was broken off


@dataclass
class State:
    """How far a run of experiments has come; what a progress bar shows."""

    runs: int  # wanted in all
    steps: int  # run-steps wanted in all
    finished: int = 0
    solved: int = 0
    done: int = 0  # run-steps
    before: int = 0  # of them by earlier processes
    waiting: bool = False
    active: dict[str, tuple[str, int, int, int]] = field(default_factory=dict)  # name, runs, step, solved
    workers: dict[str, str] = field(default_factory=dict)  # population -> NODE:PROCESS that trains it
    started: float = field(default_factory=time.monotonic)

    @property
    def remaining(self) -> float:
        """Seconds left, at the rate so far; infinite while little is known (compiling comes first)."""
        now = self.done + sum(runs * at for _, runs, at, _ in self.active.values())
        gained = now - self.before
        known = gained > 0.02 * (self.steps - self.before)
        return (time.monotonic() - self.started) * (self.steps - now) / gained if known else float("inf")

    @property
    def fraction(self) -> float:
        """The share of all steps that is done."""
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
    show: Show = lambda state: None,
    save_every: float = SAVE_EVERY,
    data: Path | str = "",
) -> State:
    """Bring every run of the experiments into the folder's store; returns when all are there.

    ``workers`` is the number of processes (None: as many as are worth it), unless an ``executor`` is given;
    ``units`` names units of one's own as FILE.py:Class, for the workers to load; ``save_every`` is the time in seconds
    between checkpoints, ``data`` the folder of MNIST's files.
    """
    if workers is not None and workers < 1:
        raise NALMError(f"Training takes 1 or more workers, or as many as are worth it; got {workers}.")
    if not save_every >= 0:
        raise NALMError(f"Checkpoints are 0 or more seconds apart, got {save_every:g}.")
    wanted: dict[Key, Run] = {}
    for experiment in experiments:
        check(experiment.cases)
        for case in experiment.cases:
            for seed in experiment.seeds:
                wanted.setdefault((case.hash, seed), Run(case, seed, len(wanted)))
    if any(run.case.task.source == "mnist" for run in _missing(wanted, Path(folder))):
        data = mnist.folder(data)
    executor = executor or Local(device, workers)
    settings = Settings(Path(folder), executor.device, compiled, tuple(units), save_every, str(data))
    with Store(folder, create=True) as store:
        store.begin(_command(), torch.__version__)
        checkpoints.tidy(store.folder)
        for experiment in experiments:
            store.register(experiment)
        lab = _Laboratory(store, settings, executor, wanted, show)
        while missing := lab.missing():
            if not lab.train(lab.plan(missing)):
                lab.state.waiting = True
                show(lab.state)
                time.sleep(1)
        show(lab.state)
    return lab.state


def _command() -> str:
    """What was typed, as text: under a locale without UTF-8 Python reads names of files as something else."""
    return shlex.join(sys.argv).encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _missing(wanted: dict[Key, Run], folder: Path) -> list[Run]:
    """The runs that are still to be trained; all, if there is no store yet."""
    try:
        with Store(folder) as store:
            found = store.found(list(wanted))
    except NALMError:
        found = {}
    return [run for key, run in wanted.items() if key not in found]


class _Laboratory:
    """The store and what is wanted of it, while a run is going on."""

    def __init__(
        self, store: Store, settings: Settings, executor: Executor, wanted: dict[Key, Run], show: Show
    ):
        self.store, self.settings, self.executor = store, settings, executor
        self.wanted, self.show = wanted, show
        self.state = State(len(wanted), sum(r.case.recipe.steps for r in wanted.values()))
        finished = store.found(list(wanted))
        self.state.before = sum(wanted[key].case.recipe.steps for key in finished)
        self.begun: set[str] = set()  # populations of this session
        self.alive = time.monotonic()

    def missing(self) -> list[Run]:
        """The runs that are not in the store yet."""
        have = self.store.found(list(self.wanted))
        self.state.finished = len(have)
        self.state.solved = sum(outcome == "solved" for outcome in have.values())
        self.state.done = sum(self.wanted[key].case.recipe.steps for key in have)
        return [run for key, run in self.wanted.items() if key not in have]

    def plan(self, missing: Sequence[Run]) -> list[Job]:
        """Populations to train: those with a checkpoint first, then the rest, the most work first."""
        left = {(run.case.hash, run.seed): run for run in missing}
        jobs = []
        for checkpoint in checkpoints.found(self.store.folder):
            keys = [key for key in checkpoint.runs if key in left]
            if keys:
                jobs.append(Job(tuple(left.pop(key) for key in keys), checkpoint))
        pieces = self.executor.pieces(list(left.values()), self.settings.compiled)
        rest = [Job(tuple(group)) for group in pieces]
        return jobs + sorted(rest, key=_work, reverse=True)

    def train(self, plan: Sequence[Job]) -> bool:
        """Train what nobody else is training; whether there was anything."""
        any_at_all = False
        images = any(job.runs[0].case.task.images for job in plan)
        settings = replace(self.settings, reads_images=images)
        for message in self.executor.execute(self._mine(plan), len(plan), settings):
            any_at_all = True
            self._heard(message)
        return any_at_all

    def _mine(self, plan: Sequence[Job]) -> Iterator[Job]:
        for job in plan:
            mine = set(self.store.take(job.keys))
            if mine:
                runs = tuple(run for run in job.runs if (run.case.hash, run.seed) in mine)
                yield Job(runs, job.checkpoint)

    def _heard(self, message: Message) -> None:
        job, state = message.job, self.state
        name = checkpoints.name_of(job.keys)
        state.waiting = False
        if message.kind == "finished":
            assert message.runs is not None
            self.store.save(message.runs)
            self._forget(job)
            state.finished += len(job.runs)
            state.solved += message.solved
            state.done += sum(run.case.recipe.steps for run in job.runs)
        if message.kind in ("finished", *BROKEN):
            state.active.pop(name, None)
            state.workers.pop(name, None)
        else:
            if message.kind == "resumed" and name not in self.begun:
                state.before += len(job.runs) * message.at
            self.begun.add(name)
            state.active[name] = (job.runs[0].case.name, len(job.runs), message.at, message.solved)
            state.workers[name] = message.worker
        if message.kind != "progress":
            self.store.note(message.kind, name, len(job.runs), message.at)
        if time.monotonic() - self.alive > HEARTBEAT:
            self.store.seen()
            self.alive = time.monotonic()
        self.show(state)

    def _forget(self, job: Job) -> None:
        """Delete checkpoints whose runs are all finished."""
        own = self.settings.folder / checkpoints.FOLDER / f"{checkpoints.name_of(job.keys)}.safetensors"
        own.unlink(missing_ok=True)
        if job.checkpoint is None:
            return
        if len(self.store.found(job.checkpoint.runs)) == len(set(job.checkpoint.runs)):
            job.checkpoint.path.unlink(missing_ok=True)


def _work(job: Job) -> int:
    case = job.runs[0].case
    return len(job.runs) * case.recipe.steps * case.inputs
