"""Merge results files: every run is written once, and runs that are in several files must agree."""

import contextlib
import os
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from nalm.errors import NALMError
from nalm.results.database import connect, readable_errors, transaction
from nalm.results.store import FIELDS, OWN_UNITS, Store, unpack

TOLERANCE = 1e-4  # relative, for errors and weights: runs trained in other populations differ by rounding
FLOOR = 1e-9  # absolute
SAME = ("outcome", "steps")
CLOSE = ("validation", "test", "sparsity", "threshold")
NAMES = ", ".join(["hash", "seed", *FIELDS])


@dataclass(frozen=True)
class Merged:
    """The result of a merge: the file, its number of runs, and how many of them were in several sources."""

    path: Path
    runs: int
    shared: int


def merge(sources: Sequence[Path | str], out: Path) -> Merged:
    """Write one file with every run of the sources; write nothing if two of them contradict each other."""
    if len({Path(s).resolve() for s in sources}) < 2:
        raise NALMError(f"Merging takes two results files or more, got {', '.join(map(str, sources))}.")
    if out.suffix != ".db":
        raise NALMError(f"The merged file must end in .db, got {str(out)[:200]!r}.")
    with readable_errors(out):
        if out.exists():
            raise NALMError(f"{out} exists already: choose another name with -o.")
        out.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=out.parent, prefix=f".{out.name[:100]}.", suffix=".db")
        os.close(handle)
        os.unlink(name)
    part, shared = Path(name), 0
    try:
        with contextlib.closing(connect(part, create=True)) as db:
            for source in sources:
                with Store(source) as store:
                    shared += _add(db, store, part)
            runs = db.execute("SELECT count(*) FROM runs").fetchone()[0]
            with readable_errors(part):
                db.execute("PRAGMA journal_mode = DELETE")
        with readable_errors(out):
            for source in sources:
                _copy_units(Path(source), out.parent)
            os.replace(part, out)
    finally:
        for suffix in ("", "-wal", "-shm", "-journal"):
            part.with_name(part.name + suffix).unlink(missing_ok=True)
    return Merged(out, runs, shared)


def _copy_units(source: Path, into: Path) -> None:
    """Copy the files of user-defined units beside the merged file."""
    units = (source if source.is_dir() else source.parent) / OWN_UNITS
    if units.is_dir() and units.resolve() != (into / OWN_UNITS).resolve():
        shutil.copytree(units, into / OWN_UNITS, dirs_exist_ok=True)


def _add(db: sqlite3.Connection, store: Store, into: Path) -> int:
    """Copy the new rows of a store; return the number of runs that were already there and agree."""
    store.check()
    with readable_errors(into), transaction(db):
        shift = db.execute("SELECT coalesce(max(id), 0) FROM sessions").fetchone()[0]
        _copy(db, store, "sessions", "id + ?, '', command, version, torch, python, started, seen", (shift,))
        _copy(db, store, "experiments", "name, title")
        _copy(db, store, "cases", "hash, json")
        _copy(db, store, "members", "experiment, hash, place")
        _copy(db, store, "events", "session + ?, time, kind, population, runs, at", (shift,))
        shared = 0
        for batch in _batches(store, shift):
            known = _known(db, [row[:2] for row in batch])
            for row in batch:
                if row[:2] in known:
                    _check_agreement(db, store, row, known[row[:2]])
                    shared += 1
            new = [row for row in batch if row[:2] not in known]
            marks = ", ".join("?" * (len(FIELDS) + 4))
            db.executemany(f"INSERT INTO runs ({NAMES}, session, finished) VALUES ({marks})", new)
            blobs = [(*row[:2], store.blob(*row[:2])) for row in new]
            db.executemany("INSERT INTO arrays VALUES (?, ?, ?)", blobs)
    return shared


def _copy(
    db: sqlite3.Connection, store: Store, table: str, columns: str, values: tuple[int, ...] = ()
) -> None:
    """Copy the rows of a small table; existing rows are not changed."""
    with readable_errors(store.path):
        rows = store.db.execute(f"SELECT {columns} FROM {table}", values).fetchall()
    if rows:
        db.executemany(f"INSERT OR IGNORE INTO {table} VALUES ({', '.join('?' * len(rows[0]))})", rows)


def _batches(store: Store, shift: int, size: int = 10_000) -> Iterator[list[tuple]]:
    with readable_errors(store.path):
        cursor = store.db.execute(f"SELECT {NAMES}, session + ?, finished FROM runs", (shift,))
        while batch := cursor.fetchmany(size):
            yield batch


def _known(db: sqlite3.Connection, keys: Sequence[tuple]) -> dict[tuple, tuple]:
    query = f"SELECT {NAMES} FROM runs WHERE hash = ? AND seed = ?"
    rows = (db.execute(query, key).fetchone() for key in keys)
    return {row[:2]: row for row in rows if row is not None}


def _check_agreement(db: sqlite3.Connection, store: Store, ours: tuple, theirs: tuple) -> None:
    """Raise a NALMError if two trainings of one run differ by more than rounding."""
    name, seed = ours[:2]
    a, b = (dict(zip(NAMES.split(", "), row, strict=False)) for row in (theirs, ours))
    for field in SAME:
        if a[field] != b[field]:
            raise _conflict(store, name, seed, field, a[field], b[field])
    for field in CLOSE:
        first, second = (np.nan if row[field] is None else row[field] for row in (a, b))
        if not close(np.array(first), np.array(second)):
            raise _conflict(store, name, seed, field, first, second)
    before = db.execute("SELECT data FROM arrays WHERE hash = ? AND seed = ?", (name, seed)).fetchone()[0]
    now = store.blob(name, seed)
    if before == now:
        return
    first, second = unpack(before, "an earlier file"), unpack(now, str(store.path))
    for field in sorted(first.keys() | second.keys()):
        if field.startswith("weights.") and not (
            field in first and field in second and close(first[field], second[field])
        ):
            raise _conflict(store, name, seed, field, "others", "these")


def close(a: np.ndarray, b: np.ndarray) -> bool:
    """Return whether two arrays are equal within the tolerance; NaN equals NaN."""
    return a.shape == b.shape and np.allclose(a, b, rtol=TOLERANCE, atol=FLOOR, equal_nan=True)


def _conflict(store: Store, name: str, seed: int, field: str, first: object, second: object) -> NALMError:
    case = next((c.name for c in store.cases() if c.hash == name), name[:12])
    return NALMError(
        f"{store.path} contradicts a file before it: of {case!r} ({name[:12]}) with seed {seed} the {field} is "
        f"{second}, there {first}. Nothing was written; `nalm verify` shows which of the two is wrong."
    )
