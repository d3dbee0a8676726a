"""The SQLite file behind a store: opening and checking it, transactions and error messages."""

import contextlib
import functools
import gc
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path

from nalm import __version__
from nalm.errors import NALMError
from nalm.results.schema import APPLICATION, FORMAT, MAX_VALUE, TABLES

WAITING_TIME = 60  # seconds to wait for another process that holds the database


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
        _use_write_ahead_log(db)
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


def _use_write_ahead_log(db: sqlite3.Connection) -> None:
    """Switch a new database to a write-ahead log; try again while another process does the same.

    SQLite reports this one collision at once, without the waiting time of the connection.
    """
    end = time.monotonic() + WAITING_TIME
    while True:
        try:
            db.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > end:
                raise
        time.sleep(0.01)


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
        f"{address}?mode={'rwc' if create else 'ro'}", uri=True, isolation_level=None, timeout=WAITING_TIME
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
