"""Reading a results database: experiments, cases, finished runs and their arrays, each checked before use."""

import dataclasses
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from nalm.config import Case
from nalm.errors import NALMError
from nalm.results.database import readable_errors, without_gc
from nalm.results.packed import Arrays, unpack
from nalm.results.runs import Outcome
from nalm.results.schema import ROW_CONDITIONS, is_printable_name

Key = tuple[str, int]  # a run: hash of its case, seed

# the columns of table `runs` that are fields of an Outcome
FIELDS = [
    f.name for f in dataclasses.fields(Outcome) if f.name not in ("case", "seed", "version", "measures")
]


class StoredRuns:
    """The finished runs of one results database."""

    def __init__(self, path: Path, db: sqlite3.Connection):
        self.path, self.db = path, db
        self._checked: tuple[int, int] | None = None  # the state of the file when it was last checked

    def finished(self) -> set[Key]:
        """Return the keys of all finished runs."""
        with readable_errors(self.path):
            return set(self.db.execute("SELECT hash, seed FROM runs"))

    def lookup(self, wanted: Sequence[Key]) -> dict[Key, str]:
        """Return the outcome (solved, unsolved, diverged) of each of these runs that is finished."""
        with readable_errors(self.path):
            return self._lookup(wanted)

    def _lookup(self, wanted: Sequence[Key]) -> dict[Key, str]:
        """Return the outcomes of the wanted runs, one query each: the store may hold a million others."""
        query = "SELECT outcome FROM runs WHERE hash = ? AND seed = ?"
        rows = ((key, self.db.execute(query, key).fetchone()) for key in wanted)
        return {key: row[0] for key, row in rows if row is not None}

    def timings(self, device: str) -> list[tuple[str, float, int]]:
        """Return (case hash, seconds, steps), summed over the finished runs of each case on a device."""
        query = "SELECT hash, sum(seconds), sum(steps) FROM runs WHERE device = ? GROUP BY hash"
        with readable_errors(self.path):
            return self.db.execute(query, (device,)).fetchall()

    def counts(self) -> dict[str, dict[str, int]]:
        """Count the runs of each experiment by outcome."""
        query = "SELECT experiment, outcome, count(*) FROM runs JOIN members USING (hash) GROUP BY 1, 2"
        found: dict[str, dict[str, int]] = {}
        with readable_errors(self.path):
            for name, outcome, count in self.db.execute(query):
                found.setdefault(name, {})[outcome] = count
        return found

    def fingerprints(self) -> dict[str, str]:
        """Return a text for each experiment that changes when it is given more cases or finished runs."""
        query = (
            "SELECT e.name, count(m.hash), count(r.seed), max(r.finished) FROM experiments e "
            "LEFT JOIN members m ON m.experiment = e.name LEFT JOIN runs r USING (hash) GROUP BY 1"
        )
        with readable_errors(self.path):
            return {str(name): " ".join(map(repr, values)) for name, *values in self.db.execute(query)}

    def experiments(self) -> dict[str, str]:
        """Return the titles of the registered experiments by name."""
        with readable_errors(self.path):
            rows = self.db.execute("SELECT name, title FROM experiments ORDER BY name").fetchall()
        for row in rows:
            if not all(is_printable_name(text) for text in row):
                raise NALMError(f"{self.path} is damaged: an experiment is called {str(row[0])[:80]!r}.")
        return dict(rows)

    def cases(self, experiment: str = "") -> list[Case]:
        """Return all cases, or those of one experiment in its order."""
        chosen = "JOIN members USING (hash) WHERE experiment = ? ORDER BY place"
        with readable_errors(self.path):
            rows = self.db.execute(
                f"SELECT hash, json FROM cases {chosen if experiment else ''}",
                (experiment,) if experiment else (),
            ).fetchall()
        return [self._case(*row) for row in rows]

    def _case(self, name: Any, text: Any) -> Case:
        case = Case.from_json(text if isinstance(text, str) else repr(text))
        if case.hash != name:
            raise NALMError(
                f"{self.path} is damaged: the case stored as {str(name)[:12]} has the hash {case.key}."
            )
        return case

    def outcomes(self, experiment: str = "") -> list[Outcome]:
        """Return every finished run (of one experiment, or of all), ordered by case and seed."""
        cases = {case.hash: case for case in self.cases(experiment)}
        names = ", ".join(["hash", "seed", *FIELDS, "coalesce(CAST(version AS TEXT), '')"])
        chosen = "WHERE hash IN (SELECT hash FROM members WHERE experiment = ?)" if experiment else ""
        query = f"SELECT {names} FROM runs LEFT JOIN sessions ON session = sessions.id {chosen} ORDER BY hash, seed"
        by_case: dict[str, list[Outcome]] = {h: [] for h in cases}
        self.check()
        with readable_errors(self.path), without_gc():
            for h, *values in self.db.execute(query, (experiment,) if experiment else ()):
                if None in values:  # SQLite stores NaN as NULL; solved_at, the third value, may be None
                    values[3:] = [np.nan if v is None else v for v in values[3:]]
                if cases[h].task.measured:
                    values.append(self._measures(h, values[0]))
                by_case[h].append(Outcome(cases[h], *values))
        return [outcome for group in by_case.values() for outcome in group]

    def _measures(self, case: str, seed: int) -> dict[str, float]:
        found, before = self.arrays(case, seed), "measures."
        return {n.removeprefix(before): found[n].item() for n in sorted(found) if n.startswith(before)}

    def check(self) -> None:
        """Raise a NALMError if a row of any table is not as nalm writes it; SQLite itself accepts any value.

        A file that did not change since the last check is not read again: with a million runs that takes seconds.
        """
        with readable_errors(self.path):  # changes by other processes, and by this one
            state = self.db.execute("PRAGMA data_version").fetchone()[0], self.db.total_changes
        if state == self._checked:
            return
        self.experiments()
        self.cases()
        for table in ROW_CONDITIONS:
            self._check(table)
        self._checked = state

    def _check(self, table: str) -> None:
        wrong = " OR ".join(f"NOT coalesce({condition}, 0)" for condition in ROW_CONDITIONS[table])
        with readable_errors(self.path):
            row = self.db.execute(f"SELECT * FROM {table} WHERE {wrong} LIMIT 1").fetchone()
        if row is not None:
            start = ", ".join(str(value)[:12] for value in row[:2])
            raise NALMError(
                f"{self.path} is damaged: the row {start!r} of table {table!r} violates the schema. "
                "Restore the file from a copy."
            )

    def arrays(self, case: str, seed: int) -> Arrays:
        """Return the arrays of one run: steps, validation, test, sparsity, weights.*, trajectories.* and more."""
        return unpack(self.blob(case, seed), f"run {case[:12]} {seed} in {self.path}")

    def blob(self, case: str, seed: int) -> bytes:
        """Return the packed arrays of one run, as stored."""
        with readable_errors(self.path):
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
