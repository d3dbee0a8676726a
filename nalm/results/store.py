"""One results folder: an SQLite database of finished runs, and checkpoints of what is still in training.

Finished runs are written in one transaction per population, so that a kill at any moment loses none.
Several processes may write to one folder. Each is a *session*, which reserves a run before it trains it; a reservation
is valid while the process of its session is running (see ``locks``).
"""

import contextlib
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from nalm import __version__
from nalm.config import Case, Experiment
from nalm.errors import NALMError
from nalm.results import locks
from nalm.results.database import connect, readable_errors, transaction
from nalm.results.packed import Arrays as Arrays
from nalm.results.packed import Finished as Finished
from nalm.results.packed import pack as pack
from nalm.results.packed import unpack as unpack
from nalm.results.runs import Runs
from nalm.results.schema import OUTCOMES as OUTCOMES
from nalm.results.schema import is_printable_name
from nalm.results.stored_runs import FIELDS as FIELDS
from nalm.results.stored_runs import Key as Key
from nalm.results.stored_runs import StoredRuns

NAME = "results.db"
OWN_UNITS = "units"  # the subfolder with copies of the files of user-defined units


class Store(StoredRuns):
    """A results folder, open for writing (``create``) or for reading only."""

    def __init__(self, folder: Path | str, *, create: bool = False):
        """Open ``folder``/results.db; ``folder`` may also be a file itself, if its name ends in .db."""
        given = Path(folder)
        with readable_errors(given):
            path = given if given.suffix == ".db" and not given.is_dir() else given / NAME
        self.folder = path.parent
        self.session: int | None = None
        self._lock: locks.Lock | None = None
        if create:
            try:
                self.folder.mkdir(parents=True, exist_ok=True)
            except (OSError, ValueError) as error:
                why = getattr(error, "strerror", None) or error
                raise NALMError(f"The folder {str(self.folder)[:200]!r} cannot be made: {why}.") from None
        else:
            with readable_errors(path):
                if not path.exists():
                    raise NALMError(
                        f"There are no results in {given}: run `nalm run NAME --out {given}` first."
                    )
        super().__init__(path, connect(path, create))

    @contextlib.contextmanager
    def change(self) -> Iterator[None]:
        """Commit everything that is executed inside, or nothing."""
        with readable_errors(self.path), transaction(self.db):
            yield

    def close(self) -> None:
        """Release the runs that this session has reserved, and close the file."""
        if self.session is not None:
            with contextlib.suppress(NALMError), self.change():
                self.db.execute("DELETE FROM taken WHERE session = ?", (self.session,))
        self.db.close()
        if self._lock is not None:
            self._lock.close()

    def __enter__(self) -> "Store":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # -- sessions -----------------------------------------------------------------------------

    def begin(self, command: str, torch: str) -> None:
        """Register this process as a session, which is required before reserving runs."""
        name, self._lock = locks.acquire(self.folder)
        python, now = ".".join(map(str, sys.version_info[:3])), time.time()
        with self.change():
            row = (name, command, __version__, torch, python, now, now)
            names = "lock, command, version, torch, python, started, seen"
            insert = f"INSERT INTO sessions ({names}) VALUES (?, ?, ?, ?, ?, ?, ?)"
            self.session = self.db.execute(insert, row).lastrowid

    def heartbeat(self) -> None:
        """Write the present time as the last activity of this session; called every few seconds."""
        with self.change():
            self.db.execute("UPDATE sessions SET seen = ? WHERE id = ?", (time.time(), self.session))

    def log_event(self, kind: str, population: str, runs: int, at: int) -> None:
        """Log an event of a population: started, resumed, checkpoint, finished, memory, lost or moved."""
        with self.change():
            self._insert_event(kind, population, runs, at)

    def _insert_event(self, kind: str, population: str, runs: int, at: int) -> None:
        row = (self.session, time.time(), kind, population, runs, at)
        self.db.execute("INSERT INTO events VALUES (?, ?, ?, ?, ?, ?)", row)

    def sessions(self) -> list[dict[str, Any]]:
        """List the sessions that have written to this store, each with whether its process is ``alive``."""
        names = ["id", "lock", "command", "version", "torch", "python", "started", "seen"]
        self._check("sessions")
        with readable_errors(self.path):
            rows = self.db.execute(f"SELECT {', '.join(names)} FROM sessions ORDER BY id").fetchall()
        return [
            dict(zip(names, row, strict=True)) | {"alive": locks.is_held(self.folder, row[1])} for row in rows
        ]

    def events(self) -> list[tuple[int, float, str, str, int, int]]:
        """Return (session, time, kind, population, runs, step) of every event in the order they were logged."""
        self._check("events")
        with readable_errors(self.path):
            return self.db.execute("SELECT * FROM events ORDER BY rowid").fetchall()

    def session_ids(self, experiment: str) -> set[int]:
        """Return the sessions that trained the runs of an experiment."""
        query = "SELECT DISTINCT session FROM runs JOIN members USING (hash) WHERE experiment = ?"
        with readable_errors(self.path):
            return {session for (session,) in self.db.execute(query, (experiment,))}

    # -- runs ---------------------------------------------------------------------------------

    def register(self, experiment: Experiment) -> None:
        """Write the name, title and cases of an experiment."""
        if not (is_printable_name(experiment.name) and is_printable_name(experiment.title)):
            raise NALMError(
                f"An experiment's name and title are up to 1,000 printable characters, got {experiment.name[:80]!r}."
            )
        with self.change():
            self.db.execute(
                "INSERT OR REPLACE INTO experiments VALUES (?, ?)", (experiment.name, experiment.title)
            )
            self._insert_cases(experiment.cases)
            rows = [(experiment.name, case.hash, place) for place, case in enumerate(experiment.cases)]
            self.db.executemany("INSERT OR REPLACE INTO members VALUES (?, ?, ?)", rows)

    def _insert_cases(self, cases: Iterable[Case]) -> None:
        rows = [(case.hash, case.json()) for case in cases]
        self.db.executemany("INSERT OR IGNORE INTO cases VALUES (?, ?)", rows)

    def reserve(self, wanted: Sequence[Key]) -> list[Key]:
        """Reserve those of the runs that are neither finished nor reserved by a running process; return them."""
        with self.change():
            living = {
                row[0]
                for row in self.db.execute("SELECT id, lock FROM sessions")
                if locks.is_held(self.folder, row[1])
            }
            found = self.db.execute("SELECT hash, seed, session FROM taken").fetchall()
            busy = {(h, s) for h, s, session in found if session in living or session == self.session}
            gone = [(h, s) for h, s, session in found if session not in living and session != self.session]
            self.db.executemany("DELETE FROM taken WHERE hash = ? AND seed = ?", gone)
            done = self._lookup(wanted)
            mine = [key for key in wanted if key not in busy and key not in done]
            self.db.executemany("INSERT INTO taken VALUES (?, ?, ?)", [(*key, self.session) for key in mine])
        return mine

    def count_abandoned(self) -> int:
        """Count the runs that a process reserved and did not finish before it ended."""
        living = [s["id"] for s in self.sessions() if s["alive"]]
        with readable_errors(self.path):
            rows = self.db.execute("SELECT session FROM taken").fetchall()
        return sum(session not in living for (session,) in rows)

    def save(self, runs: Runs | Finished, population: str = "", at: int = 0) -> None:
        """Write finished runs, all or none; a run that another process has finished meanwhile is not changed.

        With the name of their population, the event that it is finished is logged in the same transaction.
        """
        done = runs if isinstance(runs, Finished) else Finished.of(runs)
        lines, now = done.lines, time.time()
        rows = [
            (r.case.hash, r.seed, *(getattr(r, name) for name in FIELDS), self.session, now) for r in lines
        ]
        arrays = [(r.case.hash, r.seed, blob) for r, blob in zip(lines, done.blobs, strict=True)]
        with self.change():
            self._insert_cases({r.case.hash: r.case for r in lines}.values())
            marks = ", ".join("?" * (len(FIELDS) + 4))
            names = ", ".join(["hash", "seed", *FIELDS, "session", "finished"])
            self.db.executemany(f"INSERT OR IGNORE INTO runs ({names}) VALUES ({marks})", rows)
            self.db.executemany("INSERT OR IGNORE INTO arrays VALUES (?, ?, ?)", arrays)
            self.db.executemany("DELETE FROM taken WHERE hash = ? AND seed = ?", [row[:2] for row in rows])
            if population:
                self._insert_event("finished", population, len(rows), at)
