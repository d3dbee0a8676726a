"""The one harness of all benchmarks: run jobs in worker processes, write their trials and totals.

A benchmark declares its jobs, how to run one, and how to count; ``main`` gives it a command line. PATH.trials.csv
gets a line per trial; PATH.json holds ``about`` (command, versions, cost, note), ``totals`` and further tables.
"""

import argparse
import csv
import datetime
import importlib.metadata
import io
import json
import os
import platform
import shlex
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import MISSING, asdict, dataclass, field, fields
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Generic, TypeVar

from benchmarks.journal import Journal, key
from benchmarks.progress import Progress
from nalm import __version__
from nalm.errors import NALMError
from nalm.operating_system import THREADS, cores

J = TypeVar("J")  # a job: a frozen dataclass of plain values that says what to try
T = TypeVar("T")  # a trial: a frozen dataclass of plain values, what became of a job; it has ``seconds``
Row = dict[str, Any]
SHIPPED = "results/beyond"  # where the repository keeps the results
PACKAGES = ("numpy", "torch", "scikit-learn", "gplearn", "pyoperon", "pysindy", "pysr")


def option(default: Any, help: str) -> Any:  # noqa: A002
    """Declare a field of a benchmark's options that is also an option of its command line."""
    return field(default=default, metadata={"help": help})


@dataclass(frozen=True)
class Benchmark(Generic[J, T]):
    """One benchmark: its options, jobs, trials and totals."""

    name: str  # python -m benchmarks.NAME
    note: str  # how the figures are to be read
    options: type  # a dataclass whose fields are the options of the command line
    trial: type[T]
    jobs: Callable[[Any], list[J]]  # options -> jobs, in the order of the written trials
    one: Callable[[J], T]
    totals: Callable[[Sequence[T]], list[Row]]
    facts: Callable[[Any], Row] = lambda options: {}  # further entries of ``about``
    tables: Callable[[Sequence[T]], dict[str, list[Row]]] = lambda trials: {}  # besides the totals
    show: Callable[[Sequence[T]], str] | None = None  # for the terminal; the totals if None
    expected: Callable[[J], tuple[str, float]] = lambda job: ("", 1.0)  # kind of job, and its usual seconds
    prepare: Callable[[J], None] | None = None  # called in a worker once for each kind of job
    workers: int = 0  # processes unless the command line says otherwise; 0: one per core


def run(benchmark: Benchmark[J, T], path: Path, options: Any, workers: int = 0) -> list[T]:
    """Run the jobs that the journal beside PATH does not hold yet, then write all trials and their totals."""
    workers = workers or benchmark.workers or cores()
    wanted = benchmark.jobs(options)
    began, settings = time.time(), {"benchmark": benchmark.name, "nalm": __version__}
    with Journal(path.with_name(path.name + ".journal.jsonl"), benchmark.trial, settings) as journal:
        left = [job for job in wanted if key(job) not in journal.done]
        if len(left) < len(wanted):
            count = f"{len(wanted) - len(left):,} of {len(wanted):,}"
            print(f"{count} trials are in {journal.path}: continuing.", file=sys.stderr)
        progress = Progress([benchmark.expected(job) for job in left], workers)
        for job, trial in finished(benchmark, left, workers):
            journal.add(job, trial)
            progress.step(benchmark.expected(job)[0], trial.seconds)  # type: ignore[attr-defined]
        trials = [journal.done[key(job)] for job in wanted]
        cost = {"seconds": round(time.time() - began, 1), "workers": workers, "cores": cores()}
        write(benchmark, path, trials, {"command": command(benchmark, path, options), **cost}, options)
        journal.remove()
    return trials


def finished(benchmark: Benchmark[J, T], jobs: Sequence[J], workers: int) -> Iterator[tuple[J, T]]:
    """Yield each job with its trial as soon as it is finished; one worker means this process."""
    if workers == 1 or not jobs:  # limits are in seconds of the wall here
        for job in jobs:
            yield job, benchmark.one(job)
        return
    for name in THREADS:
        os.environ.setdefault(name, "1")
    kinds = {benchmark.expected(job)[0]: job for job in jobs}
    ready = (benchmark.prepare, list(kinds.values()))
    with ProcessPoolExecutor(workers, get_context("spawn"), _start, ready) as pool:
        futures = {pool.submit(benchmark.one, job): job for job in jobs}
        try:
            for future in as_completed(futures):
                yield futures[future], future.result()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def _start(prepare: Callable[[J], None] | None, jobs: Sequence[J]) -> None:
    """Set up a worker: one thread, limits in processor time, imports made before the first trial is timed."""
    import torch

    from nalm.discover import problem

    torch.set_num_threads(1)
    problem.CLOCK = time.process_time
    if prepare is not None:
        for job in jobs:
            prepare(job)


# -- the files ------------------------------------------------------------------------------------


def write(benchmark: Benchmark[J, T], path: Path, trials: Sequence[T], made: Row, options: Any) -> None:
    """Write PATH.trials.csv and PATH.json."""
    text = io.StringIO()
    writer = csv.DictWriter(text, [f.name for f in fields(benchmark.trial)], lineterminator="\n")  # type: ignore[arg-type]
    writer.writeheader()
    writer.writerows(asdict(trial) for trial in trials)  # type: ignore[call-overload]
    about = {
        "benchmark": benchmark.name,
        **made,
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "versions": versions(),
        "note": benchmark.note,
        **benchmark.facts(options),
    }
    page = {"about": about, "totals": benchmark.totals(trials), **benchmark.tables(trials)}
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.with_name(path.name + ".trials.csv").write_text(text.getvalue(), encoding="utf-8", newline="\n")
        path.with_name(path.name + ".json").write_text(described(page), encoding="utf-8")
    except OSError as error:
        raise NALMError(f"The results {path} could not be written: {error.strerror}.") from None


def described(page: dict[str, Any]) -> str:
    """Format the JSON of a benchmark with one line per row, so that a changed row is one changed line."""
    about = json.dumps(page["about"], indent=1, allow_nan=False).replace("\n", "\n ")
    tables = [
        f' "{name}": [\n  ' + ",\n  ".join(json.dumps(row, allow_nan=False) for row in rows) + "\n ]"
        for name, rows in page.items()
        if name != "about"
    ]
    return "{\n" + ",\n".join([f' "about": {about}', *tables]) + "\n}\n"


def versions() -> dict[str, str]:
    """Return the versions of everything that can take part."""
    found = {"nalm": __version__, "python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def command(benchmark: Benchmark[J, T], path: Path, options: Any) -> str:
    """Return the command that repeats a benchmark."""
    words = ["python", "-m", f"benchmarks.{benchmark.name}", f"{SHIPPED}/{path.name}"]
    for name, value in asdict(options).items():
        if value is True:
            words.append(f"--{name}")
        elif value not in (False, ""):
            words += [f"--{name}", f"{value:g}" if isinstance(value, float) else str(value)]
    return shlex.join(words)


def table(rows: Sequence[Row], widest: int = 48) -> str:
    """Format rows as aligned columns for a terminal."""
    if not rows:
        return ""
    cells = [list(rows[0]), *([_cell(value)[:widest] for value in row.values()] for row in rows)]
    wide = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return "\n".join(
        "  ".join(f"{cell:{w}s}" for cell, w in zip(line, wide, strict=True)).rstrip() for line in cells
    )


def _cell(value: Any) -> str:
    return "-" if value is None else f"{value:.4g}" if isinstance(value, float) else str(value)


# -- the command line -----------------------------------------------------------------------------


def main(benchmark: Benchmark[J, T], words: Sequence[str] | None = None) -> int:
    """Run a benchmark from the command line; return the exit status."""
    parser = argparse.ArgumentParser(
        prog=f"python -m benchmarks.{benchmark.name}", description=benchmark.note
    )
    parser.add_argument("path", type=Path, help="where to write: PATH.trials.csv and PATH.json")
    parser.add_argument("--workers", type=int, default=0, help="processes; 0: the benchmark's own choice")
    for f in fields(benchmark.options):
        default = None if f.default is MISSING else f.default
        if isinstance(default, bool):
            parser.add_argument(f"--{f.name}", action="store_true", help=f.metadata["help"])
        else:
            kind = type(default)
            parser.add_argument(
                f"--{f.name}", type=kind, default=default, help=f"{f.metadata['help']} (%(default)s)"
            )
    given = vars(parser.parse_args(words))
    path, workers = given.pop("path"), given.pop("workers")
    try:
        trials = run(benchmark, path, benchmark.options(**given), workers)
    except NALMError as error:
        print(error, file=sys.stderr)
        return 2
    print(benchmark.show(trials) if benchmark.show else table(benchmark.totals(trials)))
    return 0
