"""The file behind a store: SQLite in write-ahead mode, its tables, and its errors as sentences."""

import contextlib
import functools
import gc
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from nalm import __version__
from nalm.errors import NALMError

APPLICATION, FORMAT = 0x6E616C6D, 1  # "nalm" in SQLite's header, and the version of the tables below

TABLES = """
CREATE TABLE sessions (id INTEGER PRIMARY KEY, lock TEXT, command TEXT, version TEXT, torch TEXT, python TEXT,
    started REAL, seen REAL);
CREATE TABLE experiments (name TEXT PRIMARY KEY, title TEXT);
CREATE TABLE cases (hash TEXT PRIMARY KEY, json TEXT NOT NULL);
CREATE TABLE members (experiment TEXT, hash TEXT, place INTEGER, PRIMARY KEY (experiment, hash)) WITHOUT ROWID;
CREATE TABLE runs (hash TEXT, seed INTEGER, outcome TEXT, solved_at INTEGER, best_step INTEGER, validation REAL,
    test REAL, sparsity REAL, threshold REAL, steps INTEGER, resets INTEGER, formula TEXT, seconds REAL, mode TEXT,
    device TEXT, neighbours INTEGER, session INTEGER, finished REAL, PRIMARY KEY (hash, seed)) WITHOUT ROWID;
CREATE TABLE arrays (hash TEXT, seed INTEGER, data BLOB, PRIMARY KEY (hash, seed));
CREATE TABLE taken (hash TEXT, seed INTEGER, session INTEGER, PRIMARY KEY (hash, seed)) WITHOUT ROWID;
CREATE TABLE events (session INTEGER, time REAL, kind TEXT, population TEXT, runs INTEGER, at INTEGER);
"""


OUTCOMES = ("solved", "unsolved", "diverged")
LONGEST = 2**24  # characters of a formula: a deep network spells a long one

_REAL = ("validation", "test", "sparsity", "threshold", "seconds")
_RUN = {"integer": "seed best_step steps resets neighbours", "text": "formula mode device"}
_WORDS = [f"length({name}) <= {LONGEST}" for name in _RUN["text"].split()]
_WORDS += [f"{name} NOT GLOB '*[' || char(1) || '-' || char(31) || ']*'" for name in _RUN["text"].split()]


def _are(kind: str, names: str) -> list[str]:
    return [f"typeof({name}) = '{kind}'" for name in names.split()]


RIGHT = {  # what holds of every row, in SQL
    "runs": [
        *_are("integer", _RUN["integer"]),
        *_are("text", _RUN["text"]),
        *_WORDS,
        *(f"typeof({name}) IN ('real', 'null')" for name in _REAL),
        f"outcome IN {OUTCOMES} AND typeof(solved_at) IN ('integer', 'null')",
        "hash IN (SELECT hash FROM cases)",
        "session IS NULL OR session IN (SELECT id FROM sessions)",
    ],
    "sessions": [*_are("text", "lock command version torch python"), *_are("real", "started seen")],
    "events": [*_are("integer", "session runs at"), *_are("text", "kind population"), *_are("real", "time")],
}
LARGEST = 2**28  # bytes of one value


def connect(path: Path, create: bool) -> sqlite3.Connection:
    """Open a database of ours, or make one; anything else is refused and left as it is."""
    with errors(path):
        if path.exists():
            _whole(path)
        with contextlib.ExitStack() as stack:  # closes the file again if it is not ours
            db = _file(path, create)
            stack.callback(db.close)
            _checked(db, path, create)
            stack.pop_all()
        return db


def _checked(db: sqlite3.Connection, path: Path, create: bool) -> None:
    """Make the tables of a new database; refuse one that is not ours."""
    db.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LARGEST)
    db.execute("PRAGMA trusted_schema = OFF")
    application, version, tables = _seen(db)
    if create and not application and not tables:
        db.execute("PRAGMA journal_mode = WAL")
        with transaction(db):  # two processes may get here at once: the second finds the tables made
            if not _one(db, "SELECT count(*) FROM sqlite_master"):
                for statement in TABLES.split(";\n"):
                    db.execute(statement)
                db.execute(f"PRAGMA application_id = {APPLICATION}")
                db.execute(f"PRAGMA user_version = {FORMAT}")
    elif not application and not tables:
        raise NALMError(f"There are no results in {path.parent} yet: somebody has only just begun.")
    elif application != APPLICATION:
        raise NALMError(f"{path} is a database of another program: choose another folder with --out.")
    elif version != FORMAT:
        raise NALMError(
            f"{path} has format {version}, this nalm {__version__} reads format {FORMAT}: "
            "read it with the version that wrote it, or choose another folder with --out."
        )
    if _layout(db) != _ours():
        raise NALMError(
            f"{path} is not laid out as nalm lays out its results: restore it from a copy, or choose another --out."
        )
    if create:
        db.execute("PRAGMA synchronous = FULL")


def _layout(db: sqlite3.Connection) -> dict[str, list[str]]:
    """The tables and their columns; views, triggers, indices and the like, which are not ours, show as such."""
    rows = db.execute("SELECT type, name, sql FROM sqlite_master").fetchall()
    found = {}
    for kind, name, sql in rows:
        if kind == "table" and str(sql).startswith("CREATE TABLE") and '"' not in name:
            columns = db.execute(f'PRAGMA table_xinfo("{name}")').fetchall()
            found[name] = [f"{c[1]}{' hidden' * c[6]}" for c in columns]
        elif kind != "index" or sql is not None or not str(name).startswith("sqlite_autoindex_"):
            found[f"{kind} {name}"] = []
    return found


@functools.cache
def _ours() -> dict[str, list[str]]:
    with contextlib.closing(sqlite3.connect(":memory:")) as db:
        db.executescript(TABLES)
        return _layout(db)


def _seen(db: sqlite3.Connection) -> tuple[int, int, int]:
    """Whose database it is, its format and its number of tables, all of one moment."""
    db.execute("BEGIN")
    try:
        pragmas = [_one(db, f"PRAGMA {name}") for name in ("application_id", "user_version")]
        return pragmas[0], pragmas[1], _one(db, "SELECT count(*) FROM sqlite_master")
    finally:
        db.execute("ROLLBACK")


def _one(db: sqlite3.Connection, query: str) -> int:
    number: int = db.execute(query).fetchone()[0]
    return number


def _file(path: Path, create: bool) -> sqlite3.Connection:
    address = path.absolute().as_uri()
    db = sqlite3.connect(
        f"{address}?mode={'rwc' if create else 'ro'}", uri=True, isolation_level=None, timeout=60
    )
    if create:
        return db
    try:
        _one(db, "SELECT count(*) FROM sqlite_master")
    except sqlite3.OperationalError:  # a folder that cannot be written to: read what is in the file itself
        db.close()
        return sqlite3.connect(f"{address}?immutable=1", uri=True, isolation_level=None)
    except BaseException:
        db.close()
        raise
    return db


@contextlib.contextmanager
def transaction(db: sqlite3.Connection) -> Iterator[None]:
    """All or nothing."""
    db.execute("BEGIN IMMEDIATE")
    try:
        yield
        db.execute("COMMIT")
    except BaseException:
        with contextlib.suppress(sqlite3.Error):
            db.execute("ROLLBACK")
        raise


@contextlib.contextmanager
def errors(path: Path) -> Iterator[None]:
    """SQLite's errors as sentences that say what to do; whatever was committed before is safe."""
    try:
        yield
    except OSError as error:
        raise NALMError(f"{str(path)[:200]} cannot be read: {error.strerror or error}.") from None
    except UnicodeError:  # of SQLite's own message about a name that is none
        raise NALMError(
            f"{path} is damaged or not a database: move it away, or choose another --out."
        ) from None
    except sqlite3.Error as error:
        text = str(error)
        if "full" in text or "disk I/O" in text:
            remedy = "free some space and run the same command again; every finished run is safe"
            raise NALMError(f"There is no space left for {path}: {remedy}.") from None
        if "readonly" in text or "unable to open" in text:
            raise NALMError(f"{path} cannot be written: choose another folder with --out.") from None
        if "locked" in text:
            raise NALMError(f"{path} was locked by another process for a minute: try again.") from None
        raise NALMError(
            f"{path} is damaged or not a database ({text}): move it away, or choose another --out."
        ) from None


def _whole(path: Path) -> None:
    """A file that says it has more pages than it has was cut short; unless somebody is writing to it just now."""
    log = path.with_name(f"{path.name}-wal")
    if log.exists() and log.stat().st_size:
        return  # pages may still be on their way from the log
    with open(path, "rb") as file:
        head = file.read(100)
    size = path.stat().st_size
    page = int.from_bytes(head[16:18], "big")
    pages = int.from_bytes(head[28:32], "big")
    if size and (len(head) < 100 or size < pages * (65536 if page == 1 else page)):
        raise NALMError(
            f"{path} was cut short ({size} bytes): restore it from a copy, or choose another --out."
        )


@contextlib.contextmanager
def unhurried() -> Iterator[None]:
    """Make a million objects without being asked after each few thousand which of them are garbage."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def sayable(text: object) -> bool:
    """Whether this can be an experiment's name or title."""
    return isinstance(text, str) and text.isprintable() and len(text) <= 1_000
