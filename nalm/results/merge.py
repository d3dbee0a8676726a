"""Several results files into one: every run once, and two answers to one question only if they agree."""

import contextlib
import os
import sqlite3
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from nalm.errors import NALMError
from nalm.results.database import connect, errors, transaction
from nalm.results.store import FIELDS, Store, unpack

TOLERANCE = 1e-4  # relative, on errors and weights: runs trained with other neighbours differ by rounding
FLOOR = 1e-9  # and what is smaller than this is noise of rounding
SAME = ("outcome", "steps")
CLOSE = ("validation", "test", "sparsity", "threshold")
NAMES = ", ".join(["hash", "seed", *FIELDS])


@dataclass(frozen=True)
class Merged:
    """What came together: the file, its runs, and how many of them were in several files."""

    path: Path
    runs: int
    shared: int


def merge(sources: Sequence[Path | str], out: Path) -> Merged:
    """Write one file with every run of the sources; nothing is written if two of them contradict each other."""
    if len({Path(s).resolve() for s in sources}) < 2:
        raise NALMError(f"Merging takes two results files or more, got {', '.join(map(str, sources))}.")
    if out.suffix != ".db":
        raise NALMError(f"The merged file must end in .db, got {str(out)[:200]!r}.")
    with errors(out):
        if out.exists():
            raise NALMError(f"{out} is there already: choose another name with -o.")
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
            with errors(part):
                db.execute("PRAGMA journal_mode = DELETE")
        with errors(out):
            os.replace(part, out)
    finally:
        for suffix in ("", "-wal", "-shm", "-journal"):
            part.with_name(part.name + suffix).unlink(missing_ok=True)
    return Merged(out, runs, shared)


def _add(db: sqlite3.Connection, store: Store, into: Path) -> int:
    """Copy what is new; returns how many runs were there before, and agree."""
    store.check()
    with errors(into), transaction(db):
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
                    _agree(db, store, row, known[row[:2]])
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
    """Rows of a small table; what is there already stays."""
    with errors(store.path):
        rows = store.db.execute(f"SELECT {columns} FROM {table}", values).fetchall()
    if rows:
        db.executemany(f"INSERT OR IGNORE INTO {table} VALUES ({', '.join('?' * len(rows[0]))})", rows)


def _batches(store: Store, shift: int, size: int = 10_000) -> Iterator[list[tuple]]:
    with errors(store.path):
        cursor = store.db.execute(f"SELECT {NAMES}, session + ?, finished FROM runs", (shift,))
        while batch := cursor.fetchmany(size):
            yield batch


def _known(db: sqlite3.Connection, keys: Sequence[tuple]) -> dict[tuple, tuple]:
    query = f"SELECT {NAMES} FROM runs WHERE hash = ? AND seed = ?"
    rows = (db.execute(query, key).fetchone() for key in keys)
    return {row[:2]: row for row in rows if row is not None}


def _agree(db: sqlite3.Connection, store: Store, ours: tuple, theirs: tuple) -> None:
    """Two trainings of one run must tell the same, up to rounding."""
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
    """Equal within the tolerance; what is not a number equals only itself."""
    return a.shape == b.shape and np.allclose(a, b, rtol=TOLERANCE, atol=FLOOR, equal_nan=True)


def _conflict(store: Store, name: str, seed: int, field: str, first: object, second: object) -> NALMError:
    case = next((c.name for c in store.cases() if c.hash == name), name[:12])
    return NALMError(
        f"{store.path} contradicts a file before it: of {case!r} ({name[:12]}) with seed {seed} the {field} is "
        f"{second}, there {first}. Nothing was written; `nalm verify` tells which of the two is right."
    )
