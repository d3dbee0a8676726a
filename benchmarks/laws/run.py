"""The contest on physical laws, cells and compositions: every rival fits every problem within the same time."""

import hashlib
import signal
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks import harness
from benchmarks.harness import option
from benchmarks.laws.judge import Trial, judged
from benchmarks.laws.problems import SEEDS, Entry, entries, problem
from benchmarks.laws.rivals import RIVALS
from benchmarks.laws.totals import speed, summary, table, totals
from nalm.errors import NALMError, unknown
from nalm.experiments.thesis.ch3 import RANGES

GRACE = 1.25  # a fit that ignores its time limit is stopped after this many times the limit
NOTE = (
    "Every rival gets the same rows and the same seconds and is not told the noise. A fit is exact if far outside the "
    "data it equals the law on every row, to a billionth or the rounding of the law itself; near if its error there is "
    "at most five times the noise (without noise, a thousandth). The blind laws were written down before the "
    "ladder was tuned and not looked at while it was."
)


@dataclass(frozen=True)
class Options:
    """The methods of the contest and its problems."""

    rivals: str = option("", "some rivals, separated by commas; all if empty")
    part: str = option("open", "which laws: open, blind or all")
    suites: str = option(
        "", "some of laws, cells, compositions and outside, separated by commas; all if empty"
    )
    seconds: float = option(60.0, "time limit of a fit")
    quick: bool = option(False, "one seed, no noise")


@dataclass(frozen=True)
class Job:
    """One rival on one problem."""

    entry: Entry
    rival: str
    seconds: float


class LateError(Exception):
    """A fit exceeded its time limit."""


@contextmanager
def limit(seconds: float) -> Iterator[None]:
    """Raise LateError in the body after some seconds, where the system has interval timers."""
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(*_: Any) -> None:
        raise LateError

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def one(job: Job) -> Trial:
    """Fit one problem with one rival; an error or an exceeded time limit is a trial too."""
    entry, name, seconds = job.entry, job.rival, job.seconds
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
    except Exception as error:  # a rival that fails has lost; the contest continues
        ended = f"{type(error).__name__}: {str(error)[:80]}"
        return judged(entry, name, posed, nothing, None, time.perf_counter() - began, ended=ended)
    return judged(entry, name, posed, predicted, fitted.verdict, took, fitted.formula)


def prepare(job: Job) -> None:
    """Fit a tiny problem once, so that no timed fit includes imports."""
    x = np.random.default_rng(0).uniform(1, 2, (40, 2))
    RIVALS[job.rival].fit(x, x[:, 0] * x[:, 1], ("a", "b"), 1.0, 0)


def jobs(options: Options) -> list[Job]:
    """List who fits what, the slowest rivals first."""
    rivals, _ = chosen(options.rivals)
    suites = named(options.suites, "suite", list(SEEDS))
    found = [e for e in entries(options.part, options.quick) if e.suite in suites]
    for entry in found:
        if entry.suite == "laws":
            problem(entry)  # raises now if a law has no values on its range
    wanted = [Job(e, name, options.seconds) for name in rivals for e in found if takes_part(name, e)]
    return sorted(wanted, key=lambda job: -RIVALS[job.rival].guess)


def takes_part(name: str, entry: Entry) -> bool:
    """Return whether a rival fits a problem; only rivals that certify fit targets outside the class.

    ``takes="some"``: plain laws and laws with 1% noise, and compositions of two operations. ``takes="few"``: the
    same without noise, half of the open laws, and a third of the cells, one of them with a hundred inputs.
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
    """Return whether a name falls into a fixed share (one of ``of``) of all names."""
    return hashlib.sha256(name.encode()).digest()[0] % of == 0


def named(text: str, kind: str, known: Sequence[str]) -> list[str]:
    """Split names at commas and check them; an empty text means all known names."""
    names = [name.strip() for name in text.split(",") if name.strip()] or list(known)
    for name in names:
        if name not in known:
            raise unknown(kind, name, known)
    return names


def chosen(rivals: str) -> tuple[list[str], dict[str, str]]:
    """Return the chosen rivals that can run here, and why the others cannot."""
    names = named(rivals, "rival", list(RIVALS))
    reasons = {name: RIVALS[name].missing() for name in names}
    able = [name for name in names if not reasons[name]]
    if not able:
        raise NALMError(" ".join(reasons.values()))
    return able, {name: reason for name, reason in reasons.items() if reason}


def facts(options: Options) -> dict[str, Any]:
    """Describe the rivals that took part, and say why others did not."""
    rivals, skipped = chosen(options.rivals)
    slowest_first = sorted(rivals, key=lambda name: -RIVALS[name].guess)
    return {"methods": {name: RIVALS[name].about for name in slowest_first}, "skipped": skipped}


BENCHMARK = harness.Benchmark(
    "laws",
    NOTE,
    Options,
    Trial,
    jobs,
    one,
    totals,
    facts=facts,
    tables=lambda trials: {"speed": speed(trials)},
    show=lambda trials: "\n".join([table(totals(trials)), *summary(trials)]),
    expected=lambda job: (job.rival, RIVALS[job.rival].guess),
    prepare=prepare,
)
