"""Where results live: one SQLite file per results folder, and checkpoints of what is still in training.

Finished runs are written in one transaction per population, so that a kill at any moment loses none.
Several processes may write to one folder: a run that one of them is training is *taken*, which holds for
as long as that process lives (it keeps a lock on a file of its own; the lock dies with it).
"""

import contextlib
import dataclasses
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from nalm import __version__
from nalm.config import Case, Experiment
from nalm.errors import NALMError
from nalm.results import locks
from nalm.results.database import OUTCOMES as OUTCOMES
from nalm.results.database import RIGHT, connect, errors, sayable, transaction, unhurried
from nalm.results.packed import Arrays as Arrays
from nalm.results.packed import Finished as Finished
from nalm.results.packed import pack as pack
from nalm.results.packed import unpack as unpack
from nalm.results.runs import Outcome, Runs

NAME = "results.db"
Key = tuple[str, int]  # a run: hash of its case, seed

FIELDS = [
    f.name for f in dataclasses.fields(Outcome) if f.name not in ("case", "seed", "version", "measures")
]


class Store:
    """A results folder, open for writing (``create``) or for reading what is there."""

    def __init__(self, folder: Path | str, *, create: bool = False):
        """A folder stands for the file results.db in it; a file may also be named itself, if it ends in .db."""
        given = Path(folder)
        with errors(given):
            self.path = given if given.suffix == ".db" and not given.is_dir() else given / NAME
        self.folder = self.path.parent
        self.session: int | None = None
        self._lock: locks.Lock | None = None
        if create:
            try:
                self.folder.mkdir(parents=True, exist_ok=True)
            except (OSError, ValueError) as error:
                why = getattr(error, "strerror", None) or error
                raise NALMError(f"The folder {str(self.folder)[:200]!r} cannot be made: {why}.") from None
        else:
            with errors(self.path):
                if not self.path.exists():
                    raise NALMError(
                        f"There are no results in {given}: run `nalm run NAME --out {given}` first."
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
        name, self._lock = locks.hold(self.folder)
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
        if not (sayable(experiment.name) and sayable(experiment.title)):
            raise NALMError(
                f"An experiment's name and title are up to 1,000 printable characters, got {experiment.name[:80]!r}."
            )
        with self._change():
            self.db.execute(
                "INSERT OR REPLACE INTO experiments VALUES (?, ?)", (experiment.name, experiment.title)
            )
            self._cases(experiment.cases)
            rows = [(experiment.name, case.hash, place) for place, case in enumerate(experiment.cases)]
            self.db.executemany("INSERT OR REPLACE INTO members VALUES (?, ?, ?)", rows)

    def _cases(self, cases: Iterable[Case]) -> None:
        rows = [(case.hash, case.json()) for case in cases]
        self.db.executemany("INSERT OR IGNORE INTO cases VALUES (?, ?)", rows)

    def take(self, wanted: Sequence[Key]) -> list[Key]:
        """Those of the runs that are neither finished nor in the hands of a living process; now they are mine."""
        with self._change():
            living = {
                row[0]
                for row in self.db.execute("SELECT id, lock FROM sessions")
                if locks.held(self.folder, row[1])
            }
            found = self.db.execute("SELECT hash, seed, session FROM taken").fetchall()
            busy = {(h, s) for h, s, session in found if session in living or session == self.session}
            gone = [(h, s) for h, s, session in found if session not in living and session != self.session]
            self.db.executemany("DELETE FROM taken WHERE hash = ? AND seed = ?", gone)
            done = self._found(wanted)
            mine = [key for key in wanted if key not in busy and key not in done]
            self.db.executemany("INSERT INTO taken VALUES (?, ?, ?)", [(*key, self.session) for key in mine])
        return mine

    def save(self, runs: Runs | Finished) -> None:
        """Write finished runs, all or none; one that another process has finished meanwhile stays as it is."""
        done = runs if isinstance(runs, Finished) else Finished.of(runs)
        lines, now = done.lines, time.time()
        rows = [
            (r.case.hash, r.seed, *(getattr(r, name) for name in FIELDS), self.session, now) for r in lines
        ]
        arrays = [(r.case.hash, r.seed, blob) for r, blob in zip(lines, done.blobs, strict=True)]
        with self._change():
            self._cases({r.case.hash: r.case for r in lines}.values())
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
            rows = self.db.execute("SELECT name, title FROM experiments ORDER BY name").fetchall()
        for row in rows:
            if not all(sayable(text) for text in row):
                raise NALMError(f"{self.path} is damaged: an experiment is called {str(row[0])[:80]!r}.")
        return dict(rows)

    def cases(self, experiment: str = "") -> list[Case]:
        """All cases, or those of one experiment, in its order."""
        chosen = "JOIN members USING (hash) WHERE experiment = ? ORDER BY place"
        with errors(self.path):
            rows = self.db.execute(
                f"SELECT hash, json FROM cases {chosen if experiment else ''}",
                (experiment,) if experiment else (),
            ).fetchall()
        return [self._case(*row) for row in rows]

    def _case(self, name: Any, text: Any) -> Case:
        case = Case.from_json(text if isinstance(text, str) else repr(text))
        if case.hash != name:
            raise NALMError(
                f"{self.path} is damaged: a case is not the one whose hash it has ({str(name)[:12]})."
            )
        return case

    def outcomes(self, experiment: str = "") -> list[Outcome]:
        """Every finished run in a line, in the order of cases and seeds."""
        cases = {case.hash: case for case in self.cases(experiment)}
        names = ", ".join(["hash", "seed", *FIELDS, "coalesce(CAST(version AS TEXT), '')"])
        chosen = "WHERE hash IN (SELECT hash FROM members WHERE experiment = ?)" if experiment else ""
        query = f"SELECT {names} FROM runs LEFT JOIN sessions ON session = sessions.id {chosen} ORDER BY hash, seed"
        by_case: dict[str, list[Outcome]] = {h: [] for h in cases}
        self.check()
        with errors(self.path), unhurried():
            for h, *values in self.db.execute(query, (experiment,) if experiment else ()):
                if None in values:  # not a number; solved-at, the third, may be missing
                    values[3:] = [np.nan if v is None else v for v in values[3:]]
                if cases[h].task.grids or cases[h].task.counts:
                    values.append(self._measures(h, values[0]))
                by_case[h].append(Outcome(cases[h], *values))
        return [outcome for group in by_case.values() for outcome in group]

    def _measures(self, case: str, seed: int) -> dict[str, float]:
        found, before = self.arrays(case, seed), "measures."
        return {n.removeprefix(before): found[n].item() for n in sorted(found) if n.startswith(before)}

    def check(self) -> None:
        """SQLite holds anything in any column; a run or case with something else than it should have is damage."""
        self.experiments()
        self.cases()
        for table in RIGHT:
            self._check(table)

    def _check(self, table: str) -> None:
        wrong = " OR ".join(f"NOT coalesce({condition}, 0)" for condition in RIGHT[table])
        with errors(self.path):
            row = self.db.execute(f"SELECT * FROM {table} WHERE {wrong} LIMIT 1").fetchone()
        if row is not None:
            start = ", ".join(str(value)[:12] for value in row[:2])
            raise NALMError(
                f"{self.path} is damaged: what stands among its {table} as {start!r} is none of them."
            )

    def counts(self) -> dict[str, dict[str, int]]:
        """How the runs of each experiment ended: how many of them solved, unsolved, diverged."""
        query = "SELECT experiment, outcome, count(*) FROM runs JOIN members USING (hash) GROUP BY 1, 2"
        found: dict[str, dict[str, int]] = {}
        with errors(self.path):
            for name, outcome, count in self.db.execute(query):
                found.setdefault(name, {})[outcome] = count
        return found

    def arrays(self, case: str, seed: int) -> Arrays:
        """Curves, weights and trajectories of one run: steps, validation, test, sparsity, weights.*, trajectories.*."""
        return unpack(self.blob(case, seed), f"run {case[:12]} {seed} in {self.path}")

    def blob(self, case: str, seed: int) -> bytes:
        """The same as they are stored."""
        with errors(self.path):
            row = self.db.execute(
                "SELECT data FROM arrays WHERE hash = ? AND seed = ?", (case, seed)
            ).fetchone()
        if row is None:
            raise NALMError(f"{self.path} has no run with case {case[:12]} and seed {seed}.")
        if not isinstance(row[0], bytes):
            raise NALMError(
                f"The arrays of run {case[:12]} {seed} in {self.path} are damaged: they are no bytes."
            )
        return row[0]

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
        self._check("sessions")
        with errors(self.path):
            rows = self.db.execute(f"SELECT {', '.join(names)} FROM sessions ORDER BY id").fetchall()
        return [
            dict(zip(names, row, strict=True)) | {"alive": locks.held(self.folder, row[1])} for row in rows
        ]

    def events(self) -> list[tuple[int, float, str, str, int, int]]:
        """Session, time, kind, population, runs, step: what happened, in order."""
        self._check("events")
        with errors(self.path):
            return self.db.execute("SELECT * FROM events ORDER BY rowid").fetchall()
