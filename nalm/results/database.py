"""The SQLite file behind a store: opening and checking it, its tables, transactions and error messages."""

import contextlib
import functools
import gc
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path

from nalm import __version__
from nalm.errors import NALMError

# "nalm" in SQLite's header, and the version of the tables below
APPLICATION, FORMAT = 0x6E616C6D, 1

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
MAX_TEXT = 2**24  # characters of a formula, which is long for a deep network
MAX_VALUE = 2**28  # bytes of one value in any table

_REAL_OR_NULL = ("validation", "test", "sparsity", "threshold", "seconds")
_INTEGERS, _TEXTS = "seed best_step steps resets neighbours", "formula mode device"
_CONTROL = "'*[' || char(1) || '-' || char(31) || ']*'"  # a GLOB pattern: contains a control character
_TEXT_CONDITIONS = [
    *(f"length({name}) <= {MAX_TEXT}" for name in _TEXTS.split()),
    *(f"{name} NOT GLOB {_CONTROL}" for name in _TEXTS.split()),
]


def _typeof(kind: str, names: str) -> list[str]:
    """Return the SQL conditions that these columns have this type."""
    return [f"typeof({name}) = '{kind}'" for name in names.split()]


# per table, SQL conditions that hold for every row that nalm wrote: SQLite itself accepts any value in any column
ROW_CONDITIONS = {
    "runs": [
        *_typeof("integer", _INTEGERS),
        *_typeof("text", _TEXTS),
        *_TEXT_CONDITIONS,
        *(f"typeof({name}) IN ('real', 'null')" for name in _REAL_OR_NULL),
        f"outcome IN {OUTCOMES} AND typeof(solved_at) IN ('integer', 'null')",
        "hash IN (SELECT hash FROM cases)",
        "session IS NULL OR session IN (SELECT id FROM sessions)",
    ],
    "sessions": [*_typeof("text", "lock command version torch python"), *_typeof("real", "started seen")],
    "events": [
        *_typeof("integer", "session runs at"),
        *_typeof("text", "kind population"),
        *_typeof("real", "time"),
    ],
}


def connect(path: Path, create: bool) -> sqlite3.Connection:
    """Open a results database, or make one with ``create``; refuse any other file and leave it unchanged."""
    with readable_errors(path):
        if path.exists():
            _check_not_truncated(path)
        with contextlib.ExitStack() as stack:  # closes the file again if it is refused
            db = _open(path, create)
            stack.callback(db.close)
            _check_layout(db, path, create)
            stack.pop_all()
        return db


def _check_layout(db: sqlite3.Connection, path: Path, create: bool) -> None:
    """Create the tables of a new database; refuse a database with another header or other tables."""
    db.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MAX_VALUE)
    db.execute("PRAGMA trusted_schema = OFF")
    application, version, tables = _read_header(db)
    if create and not application and not tables:
        db.execute("PRAGMA journal_mode = WAL")
        with transaction(db):  # two processes may arrive here together: the second finds the tables made
            if not _integer(db, "SELECT count(*) FROM sqlite_master"):
                for statement in TABLES.split(";\n"):
                    db.execute(statement)
                db.execute(f"PRAGMA application_id = {APPLICATION}")
                db.execute(f"PRAGMA user_version = {FORMAT}")
    elif not application and not tables:
        raise NALMError(
            f"{path.parent} contains no results yet: another process is still creating the database. Try again."
        )
    elif application != APPLICATION:
        raise NALMError(f"{path} is a database of another program: choose another folder with --out.")
    elif version != FORMAT:
        raise NALMError(
            f"{path} has format {version}, this nalm {__version__} reads format {FORMAT}: "
            "read it with the version that wrote it, or choose another folder with --out."
        )
    if _layout(db) != _expected_layout():
        raise NALMError(
            f"{path} has other tables or columns than nalm creates: restore it from a copy, or choose another --out."
        )
    if create:
        db.execute("PRAGMA synchronous = FULL")


def _layout(db: sqlite3.Connection) -> dict[str, list[str]]:
    """Return the columns of each table; views, triggers and indices, which nalm does not create, get an entry too."""
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
def _expected_layout() -> dict[str, list[str]]:
    with contextlib.closing(sqlite3.connect(":memory:")) as db:
        db.executescript(TABLES)
        return _layout(db)


def _read_header(db: sqlite3.Connection) -> tuple[int, int, int]:
    """Read application id, format and number of tables in one transaction, so that they belong together."""
    db.execute("BEGIN")
    try:
        pragmas = [_integer(db, f"PRAGMA {name}") for name in ("application_id", "user_version")]
        return pragmas[0], pragmas[1], _integer(db, "SELECT count(*) FROM sqlite_master")
    finally:
        db.execute("ROLLBACK")


def _integer(db: sqlite3.Connection, query: str) -> int:
    number: int = db.execute(query).fetchone()[0]
    return number


def _open(path: Path, create: bool) -> sqlite3.Connection:
    address = path.absolute().as_uri()
    db = sqlite3.connect(
        f"{address}?mode={'rwc' if create else 'ro'}", uri=True, isolation_level=None, timeout=60
    )
    if create:
        return db
    try:
        _integer(db, "SELECT count(*) FROM sqlite_master")
    except sqlite3.OperationalError:  # the folder is read-only: read the file alone, without its log
        db.close()
        return sqlite3.connect(f"{address}?immutable=1", uri=True, isolation_level=None)
    except BaseException:
        db.close()
        raise
    return db


@contextlib.contextmanager
def transaction(db: sqlite3.Connection) -> Iterator[None]:
    """Commit everything that is executed inside, or nothing."""
    db.execute("BEGIN IMMEDIATE")
    try:
        yield
        db.execute("COMMIT")
    except BaseException:
        with contextlib.suppress(sqlite3.Error):
            db.execute("ROLLBACK")
        raise


@contextlib.contextmanager
def readable_errors(path: Path) -> Iterator[None]:
    """Turn errors of SQLite and of the file system into a NALMError that says what to do."""
    try:
        yield
    except OSError as error:
        raise NALMError(f"{str(path)[:200]} cannot be read: {error.strerror or error}.") from None
    except UnicodeError:  # SQLite's message quotes a name that is not valid text
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


def _check_not_truncated(path: Path) -> None:
    """Refuse a file that stays shorter than the number of pages in its header says.

    Another process that is writing may have changed the header before the length, so look again for a second.
    """
    for _ in range(10):
        if not _is_truncated(path):
            return
        time.sleep(0.1)
    raise NALMError(
        f"{path} was cut short ({path.stat().st_size} bytes): restore it from a copy, or choose another --out."
    )


def _is_truncated(path: Path) -> bool:
    """Return whether a file is shorter than its header says, and no log holds the rest."""
    log = path.with_name(f"{path.name}-wal")
    if log.exists() and log.stat().st_size:
        return False  # another process is writing: pages may still be in the log
    with open(path, "rb") as file:
        head = file.read(100)
    size = path.stat().st_size
    page = int.from_bytes(head[16:18], "big")
    pages = int.from_bytes(head[28:32], "big")
    return bool(size) and (len(head) < 100 or size < pages * (65536 if page == 1 else page))


@contextlib.contextmanager
def without_gc() -> Iterator[None]:
    """Disable the garbage collector while many rows are loaded: it would scan them again and again."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def is_printable_name(text: object) -> bool:
    """Return whether this can be the name or the title of an experiment."""
    return isinstance(text, str) and text.isprintable() and len(text) <= 1_000
