"""Where results live: one SQLite file per results folder, and checkpoints of what is still in training.

Finished runs are written in one transaction per population, so that a kill at any moment loses none.
Several processes may write to one folder: a run that one of them is training is *taken*, which holds for
as long as that process lives (it keeps a lock on a file of its own; the lock dies with it).
"""

import contextlib
import fcntl
import os
import sys
import time
import zlib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import IO, Any

import numpy as np
import safetensors
import safetensors.numpy

from nalm import __version__
from nalm.config import Case, Experiment
from nalm.database import connect, errors, transaction
from nalm.errors import NALMError
from nalm.runs import Outcome, Runs

NAME = "results.db"
Key = tuple[str, int]  # a run: hash of its case, seed
Arrays = dict[str, np.ndarray]

COLUMNS = (
    "outcome solved_at best_step validation test sparsity threshold steps resets formula seconds mode device"
)
FIELDS = [*COLUMNS.split(), "neighbours"]


class Store:
    """A results folder, open for writing (``create``) or for reading what is there."""

    def __init__(self, folder: Path | str, *, create: bool = False):
        self.folder = Path(folder)
        self.path = self.folder / NAME
        self.session: int | None = None
        self._lock: IO[str] | None = None
        if create:
            try:
                self.folder.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise NALMError(f"The folder {self.folder} cannot be made: {error.strerror}.") from None
        elif not self.path.exists():
            raise NALMError(
                f"There are no results in {self.folder}: run `nalm run NAME --out {self.folder}` first."
            )
        self.db = connect(self.path, create)

    @contextlib.contextmanager
    def _change(self) -> Iterator[None]:
        with errors(self.path), transaction(self.db):
            yield

    def close(self) -> None:
        """Give back what this process has taken, and close the file."""
        if self.session is not None:
            with contextlib.suppress(NALMError), self._change():
                self.db.execute("DELETE FROM taken WHERE session = ?", (self.session,))
        self.db.close()
        if self._lock is not None:
            self._lock.close()

    def __enter__(self) -> "Store":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # -- writing ------------------------------------------------------------------------------

    def begin(self, command: str, torch: str) -> None:
        """Start a session: this process is now somebody who can take runs."""
        locks = self.folder / "locks"
        try:
            locks.mkdir(exist_ok=True)
            for old in locks.glob("[0-9]*"):
                if not self._alive(old.name):
                    old.unlink(missing_ok=True)
            name = f"{os.getpid()}-{time.time_ns()}"
            self._lock = open(locks / f"new-{name}", "w")  # noqa: SIM115
            fcntl.flock(self._lock, fcntl.LOCK_EX)
            os.rename(self._lock.name, locks / name)  # nobody sees it before it is locked
        except OSError as error:
            raise NALMError(
                f"{self.folder} cannot be written ({error.strerror}): choose another --out."
            ) from None
        python, now = ".".join(map(str, sys.version_info[:3])), time.time()
        with self._change():
            row = (name, command, __version__, torch, python, now, now)
            names = "lock, command, version, torch, python, started, seen"
            insert = f"INSERT INTO sessions ({names}) VALUES (?, ?, ?, ?, ?, ?, ?)"
            self.session = self.db.execute(insert, row).lastrowid

    def seen(self) -> None:
        """Say that this session is alive; called now and then."""
        with self._change():
            self.db.execute("UPDATE sessions SET seen = ? WHERE id = ?", (time.time(), self.session))

    def note(self, kind: str, population: str, runs: int, at: int) -> None:
        """Keep a line about a population: started, resumed, checkpoint, finished."""
        with self._change():
            row = (self.session, time.time(), kind, population, runs, at)
            self.db.execute("INSERT INTO events VALUES (?, ?, ?, ?, ?, ?)", row)

    def register(self, experiment: Experiment) -> None:
        """Write down which cases belong to an experiment."""
        with self._change():
            self.db.execute(
                "INSERT OR REPLACE INTO experiments VALUES (?, ?)", (experiment.name, experiment.title)
            )
            self._cases(experiment.cases)
            rows = [(experiment.name, case.hash, place) for place, case in enumerate(experiment.cases)]
            self.db.executemany("INSERT OR REPLACE INTO members VALUES (?, ?, ?)", rows)

    def _cases(self, cases: Iterable[Case]) -> None:
        rows = [(case.hash, case.json()) for case in dict.fromkeys(cases)]
        self.db.executemany("INSERT OR IGNORE INTO cases VALUES (?, ?)", rows)

    def take(self, wanted: Sequence[Key]) -> list[Key]:
        """Those of the runs that are neither finished nor in the hands of a living process; now they are mine."""
        with self._change():
            living = {
                row[0] for row in self.db.execute("SELECT id, lock FROM sessions") if self._alive(row[1])
            }
            found = self.db.execute("SELECT hash, seed, session FROM taken").fetchall()
            busy = {(h, s) for h, s, session in found if session in living or session == self.session}
            gone = [(h, s) for h, s, session in found if session not in living and session != self.session]
            self.db.executemany("DELETE FROM taken WHERE hash = ? AND seed = ?", gone)
            done = self._found(wanted)
            mine = [key for key in wanted if key not in busy and key not in done]
            self.db.executemany("INSERT INTO taken VALUES (?, ?, ?)", [(*key, self.session) for key in mine])
        return mine

    def _alive(self, lock: str) -> bool:
        """Whether the process that made this lock still holds it."""
        try:
            with open(self.folder / "locks" / lock) as file:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        except OSError:
            return False
        return False

    def save(self, runs: Runs) -> None:
        """Write finished runs, all or none; one that another process has finished meanwhile stays as it is."""
        lines, now = runs.lines(), time.time()
        rows = [
            (r.case.hash, r.seed, *(getattr(r, name) for name in FIELDS), self.session, now) for r in lines
        ]
        arrays = [(r.case.hash, r.seed, pack(_arrays(runs, i))) for i, r in enumerate(lines)]
        with self._change():
            self._cases(runs.cases)
            marks = ", ".join("?" * (len(FIELDS) + 4))
            names = ", ".join(["hash", "seed", *FIELDS, "session", "finished"])
            self.db.executemany(f"INSERT OR IGNORE INTO runs ({names}) VALUES ({marks})", rows)
            self.db.executemany("INSERT OR IGNORE INTO arrays VALUES (?, ?, ?)", arrays)
            self.db.executemany("DELETE FROM taken WHERE hash = ? AND seed = ?", [row[:2] for row in rows])

    # -- reading ------------------------------------------------------------------------------

    def finished(self) -> set[Key]:
        """Every run that is done."""
        with errors(self.path):
            return set(self.db.execute("SELECT hash, seed FROM runs"))

    def found(self, wanted: Sequence[Key]) -> dict[Key, str]:
        """How those of the runs ended that are done."""
        with errors(self.path):
            return self._found(wanted)

    def _found(self, wanted: Sequence[Key]) -> dict[Key, str]:
        """Looked up run by run: a store may hold a million others."""
        query = "SELECT outcome FROM runs WHERE hash = ? AND seed = ?"
        rows = ((key, self.db.execute(query, key).fetchone()) for key in wanted)
        return {key: row[0] for key, row in rows if row is not None}

    def pace(self, device: str) -> list[tuple[str, float, int]]:
        """What the finished runs on a device took: case, seconds and steps of all its runs."""
        query = "SELECT hash, sum(seconds), sum(steps) FROM runs WHERE device = ? GROUP BY hash"
        with errors(self.path):
            return self.db.execute(query, (device,)).fetchall()

    def experiments(self) -> dict[str, str]:
        """Names and titles of the experiments that were run into this folder."""
        with errors(self.path):
            return dict(self.db.execute("SELECT name, title FROM experiments ORDER BY name"))

    def cases(self, experiment: str = "") -> list[Case]:
        """All cases, or those of one experiment, in its order."""
        chosen = "JOIN members USING (hash) WHERE experiment = ? ORDER BY place"
        with errors(self.path):
            rows = self.db.execute(
                f"SELECT json FROM cases {chosen if experiment else ''}", (experiment,) if experiment else ()
            ).fetchall()
        return [Case.from_json(text) for (text,) in rows]

    def outcomes(self, experiment: str = "") -> list[Outcome]:
        """Every finished run in a line, in the order of cases and seeds."""
        cases = {case.hash: case for case in self.cases(experiment)}
        names = ", ".join(["hash", "seed", *FIELDS, "version"])
        with errors(self.path):
            query = (
                f"SELECT {names} FROM runs LEFT JOIN sessions ON session = sessions.id ORDER BY hash, seed"
            )
            rows = [row for row in self.db.execute(query) if row[0] in cases]
        by_case: dict[str, list[Outcome]] = {h: [] for h in cases}
        for h, seed, *values, version in rows:
            numbers: dict[str, Any] = {
                n: np.nan if v is None and n != "solved_at" else v
                for n, v in zip(FIELDS, values, strict=True)
            }
            by_case[h].append(Outcome(case=cases[h], seed=seed, version=version or "", **numbers))
        return [outcome for group in by_case.values() for outcome in group]

    def arrays(self, case: str, seed: int) -> Arrays:
        """Curves, weights and trajectories of one run: steps, validation, test, sparsity, weights.*, trajectories.*."""
        with errors(self.path):
            row = self.db.execute(
                "SELECT data FROM arrays WHERE hash = ? AND seed = ?", (case, seed)
            ).fetchone()
        if row is None:
            raise NALMError(f"{self.path} has no run with case {case[:12]} and seed {seed}.")
        return unpack(row[0], f"run {case[:12]} {seed} in {self.path}")

    def trainers(self, experiment: str) -> set[int]:
        """The sessions that trained the runs of an experiment."""
        query = "SELECT DISTINCT session FROM runs JOIN members USING (hash) WHERE experiment = ?"
        with errors(self.path):
            return {session for (session,) in self.db.execute(query, (experiment,))}

    def begun(self) -> int:
        """Runs that a process which is no more had begun and not finished."""
        living = [s["id"] for s in self.sessions() if s["alive"]]
        with errors(self.path):
            rows = self.db.execute("SELECT session FROM taken").fetchall()
        return sum(session not in living for (session,) in rows)

    def sessions(self) -> list[dict[str, Any]]:
        """Who has worked here, and whether they still do."""
        names = ["id", "lock", "command", "version", "torch", "python", "started", "seen"]
        with errors(self.path):
            rows = self.db.execute(f"SELECT {', '.join(names)} FROM sessions ORDER BY id").fetchall()
        return [dict(zip(names, row, strict=True)) | {"alive": self._alive(row[1])} for row in rows]

    def events(self) -> list[tuple[int, float, str, str, int, int]]:
        """Session, time, kind, population, runs, step: what happened, in order."""
        with errors(self.path):
            return self.db.execute("SELECT * FROM events ORDER BY time").fetchall()


def _arrays(runs: Runs, i: int) -> Arrays:
    arrays: Arrays = {"steps": runs.steps[i]}
    arrays |= {name: getattr(runs, name)[i] for name in ("validation", "test", "sparsity")}
    arrays |= {f"weights.{n}": w for n, w in runs.weights[i].items()}
    return arrays | {f"trajectories.{n}": w for n, w in runs.trajectories[i].items()}


def pack(arrays: Arrays) -> bytes:
    """Named arrays as compressed bytes that hold nothing but numbers."""
    return zlib.compress(safetensors.numpy.save({n: np.ascontiguousarray(a) for n, a in arrays.items()}), 1)


def unpack(data: bytes, where: str) -> Arrays:
    """What ``pack`` made; anything else is refused."""
    try:
        return safetensors.numpy.load(zlib.decompress(data))
    except (zlib.error, safetensors.SafetensorError, ValueError, KeyError) as error:
        raise NALMError(f"The arrays of {where} are damaged: {error}.") from None
