"""Run the contest: every problem, every rival, in worker processes of one thread each."""

import csv
import datetime
import hashlib
import importlib.metadata
import io
import json
import os
import platform
import signal
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import asdict
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.harness import Journal
from benchmarks.laws.judge import Outcome, judged
from benchmarks.laws.problems import SEEDS, Entry, entries, problem
from benchmarks.laws.rivals import RIVALS
from benchmarks.laws.totals import speed, summary, table, totals
from nalm import __version__
from nalm.errors import NALMError, unknown
from nalm.experiments.thesis.ch3 import RANGES
from nalm.lab.machine import cores

Job = tuple[Entry, str, float]  # problem, rival, seconds
GRACE = 1.25  # times its seconds after which a fit that does not watch the clock is stopped
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
NOTE = (
    "Every rival gets the same rows and the same seconds and is not told the noise. A fit is exact if far outside the "
    "data it equals the law on every row, to a billionth or the rounding of the law itself; near if its error there is "
    "at most five times the noise (without noise, a thousandth). The blind laws were written down before the "
    "ladder was tuned and not looked at while it was."
)


class LateError(Exception):
    """A fit took longer than it may."""


@contextmanager
def limit(seconds: float) -> Iterator[None]:
    """Stop what runs longer, where the system can ring a bell."""
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return

    def ring(*_: Any) -> None:
        raise LateError

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def one(job: Job) -> Outcome:
    """One rival on one problem; what goes wrong is an outcome too."""
    entry, name, seconds = job
    posed = problem(entry)
    nothing = np.full(len(posed.far_y), np.nan)
    began = time.perf_counter()
    try:
        with limit(GRACE * seconds):
            fitted = RIVALS[name].fit(posed.x, posed.y, posed.names, seconds, entry.seed)
            took = time.perf_counter() - began
            predicted = fitted.predict(posed.far_x)
    except LateError:
        return judged(entry, name, posed, nothing, None, time.perf_counter() - began, ended="time")
    except Exception as error:  # a rival that fails has lost, the contest goes on
        ended = f"{type(error).__name__}: {str(error)[:80]}"
        return judged(entry, name, posed, nothing, None, time.perf_counter() - began, ended=ended)
    return judged(entry, name, posed, predicted, fitted.verdict, took, fitted.formula)


def ready(rivals: Sequence[str]) -> None:
    """Load what the rivals need, so that no fit pays for an import."""
    import torch

    torch.set_num_threads(1)
    x = np.random.default_rng(0).uniform(1, 2, (40, 2))
    for name in rivals:
        RIVALS[name].fit(x, x[:, 0] * x[:, 1], ("a", "b"), 1.0, 0)


def jobs(found: Sequence[Entry], rivals: Sequence[str], seconds: float) -> list[Job]:
    """Who fits what, the long ones first."""
    wanted = [(e, name, seconds) for name in rivals for e in found if takes_part(name, e)]
    return sorted(wanted, key=lambda job: -RIVALS[job[1]].guess)


def takes_part(name: str, entry: Entry) -> bool:
    """Which problems a rival fits; only those that certify fit what is outside the class.

    Some: laws as they are and in a little noise, and compositions of two operations. Few: the same without
    noise, and of the open laws half; a third of the cells, one of them with a hundred inputs.
    """
    rival, few = RIVALS[name], RIVALS[name].takes == "few"
    if entry.suite == "outside":
        return rival.certifies
    if rival.takes == "all":
        return True
    if entry.suite == "laws":
        open_half = entry.part == "blind" or share(entry.name, 2)
        return entry.variant == "plain" and open_half if few else entry.variant in ("plain", "noise 1%")
    if entry.suite == "compositions":
        return entry.name.count("-") == 1
    return few and (entry.name == MANY if " 100 " in entry.name else share(entry.name, 3))


MANY = f"two-layer product 100 {RANGES[6][0]}"


def share(name: str, of: int) -> bool:
    """Whether a name falls into a fixed share of all names."""
    return hashlib.sha256(name.encode()).digest()[0] % of == 0


def chosen(rivals: str) -> tuple[list[str], dict[str, str]]:
    """The rivals asked for that can run here, and why the others cannot."""
    names = [name.strip() for name in rivals.split(",") if name.strip()] or list(RIVALS)
    for name in names:
        if name not in RIVALS:
            raise unknown("rival", name, RIVALS)
    reasons = {name: RIVALS[name].missing() for name in names}
    able = [name for name in names if not reasons[name]]
    if not able:
        raise NALMError(" ".join(reasons.values()))
    return able, {name: reason for name, reason in reasons.items() if reason}


def contest(
    path: Path,
    rivals: str = "",
    part: str = "open",
    suites: str = "",
    workers: int = 0,
    seconds: float = 60.0,
    quick: bool = False,
) -> list[Outcome]:
    """Run what is not in the journal yet; then write PATH.trials.csv and PATH.json."""
    names, skipped = chosen(rivals)
    kept = [s.strip() for s in suites.split(",") if s.strip()] or list(SEEDS)
    for suite in kept:
        if suite not in SEEDS:
            raise unknown("suite", suite, SEEDS)
    for reason in skipped.values():
        print(reason, file=sys.stderr)
    workers = workers or cores()
    found = [e for e in entries(part, quick) if e.suite in kept]
    for entry in found:
        if entry.suite == "laws":
            problem(entry)  # a law without values is found out now
    wanted = jobs(found, names, seconds)
    began = time.time()
    settings = {"nalm": __version__, "seconds": seconds}
    with Journal(path.with_name(path.name + ".journal.jsonl"), settings) as journal:
        left = [job for job in wanted if (*asdict(job[0]).values(), job[1]) not in journal.done]
        if len(left) < len(wanted):
            print(
                f"{len(wanted) - len(left):,} of {len(wanted):,} fits are in {journal.path}: going on.",
                file=sys.stderr,
            )
        progress = Progress(left, workers)
        for outcome in fits(left, names, workers):
            journal.add(outcome)
            progress.step(outcome)
        outcomes = [journal.done[*asdict(e).values(), name] for e, name, _ in wanted]
        command = f"python -m benchmarks.laws results/beyond/{path.name} --part {part} --seconds {seconds:g}"
        command += (
            f" --rivals {','.join(names)}" + (f" --suites {suites}" if suites else "") + " --quick" * quick
        )
        about = {
            "command": command,
            "workers": workers,
            "wall": round(time.time() - began, 1),
            "skipped": skipped,
        }
        write(path, outcomes, about)
        journal.remove()
    return outcomes


def fits(wanted: Sequence[Job], rivals: Sequence[str], workers: int) -> Iterator[Outcome]:
    """The outcomes, as they come."""
    if workers == 1 or not wanted:
        yield from map(one, wanted)
        return
    for name in THREADS:
        os.environ.setdefault(name, "1")
    with ProcessPoolExecutor(workers, get_context("spawn"), ready, (list(rivals),)) as pool:
        futures = [pool.submit(one, job) for job in wanted]
        try:
            for future in as_completed(futures):
                yield future.result()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


class Progress:
    """A line on stderr every few seconds: what is done, and how long the rest will take."""

    def __init__(self, wanted: Sequence[Job], workers: int, every: float = 5.0):
        self.total, self.workers, self.every = len(wanted), workers, every
        self.left: dict[str, int] = {}
        for _, name, _ in wanted:
            self.left[name] = self.left.get(name, 0) + 1
        self.seen: dict[str, list[float]] = {}
        self.said = time.monotonic()
        print(
            f"{self.total:,} fits, about {self.eta():.0f} s on {workers} workers", file=sys.stderr, flush=True
        )

    def eta(self) -> float:
        """Seconds until the end: what a fit of each rival took so far, or is known to take."""
        cost = 0.0
        for name, count in self.left.items():
            seen = self.seen.get(name, [])
            cost += count * (float(np.mean(seen)) if len(seen) >= 10 else RIVALS[name].guess)
        return cost / self.workers

    def step(self, outcome: Outcome) -> None:
        """Count a fit."""
        self.left[outcome.rival] -= 1
        self.seen.setdefault(outcome.rival, []).append(outcome.seconds)
        if time.monotonic() - self.said > self.every:
            self.said = time.monotonic()
            done = self.total - sum(self.left.values())
            print(f"{done:,} of {self.total:,} fits, {self.eta():.0f} s left", file=sys.stderr, flush=True)


def versions() -> dict[str, str]:
    """Of everything that took part."""
    found = {"nalm": __version__, "python": platform.python_version()}
    for name in ("numpy", "torch", "scikit-learn", "gplearn", "pysr"):
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def write(path: Path, outcomes: Sequence[Outcome], about: dict[str, Any]) -> None:
    """A line per fit, and the totals with their origin."""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(Outcome.__dataclass_fields__), lineterminator="\n")
    writer.writeheader()
    writer.writerows(asdict(o) for o in outcomes)
    page = {
        **about,
        "versions": versions(),
        "cores": cores(),
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "note": NOTE,
        "rivals": {name: RIVALS[name].about for name in dict.fromkeys(o.rival for o in outcomes)},
        "totals": totals(outcomes),
        "speed": speed(outcomes),
    }
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.with_name(path.name + ".trials.csv").write_text(text.getvalue(), encoding="utf-8", newline="\n")
        path.with_name(path.name + ".json").write_text(
            json.dumps(page, indent=1, allow_nan=False) + "\n", encoding="utf-8"
        )
    except OSError as error:
        raise NALMError(f"The results {path} could not be written: {error.strerror}.") from None


def printed(outcomes: Sequence[Outcome]) -> str:
    """The totals for a terminal."""
    return "\n".join([table(totals(outcomes)), *summary(outcomes)])
