"""Hold and check the locks that show whether the process of a session is still running, without timestamps.

A session is one process that trains runs into a results folder. It holds a lock on a file of its own; the operating
system releases the lock when the process ends, even after a crash. The lock is SQLite's exclusive lock on an empty
database. The results are an SQLite file too, so this works wherever they can be written.
"""

import contextlib
import os
import secrets
import sqlite3
from pathlib import Path

from nalm.errors import NALMError

FOLDER = "locks"
TRIES = 100  # another process may take a new file that is not locked yet for an old one, and remove it


Lock = sqlite3.Connection


def acquire(folder: Path) -> tuple[str, Lock]:
    """Create and lock a file for this process; return its name and the connection that holds the lock until closed."""
    locks = folder / FOLDER
    try:
        locks.mkdir(exist_ok=True)
        for old in locks.glob("[0-9]*"):
            _remove_if_free(old)
        for _ in range(TRIES):
            name = f"{os.getpid()}-{secrets.token_hex(8)}"
            try:
                db = _lock(locks / name)
            except sqlite3.OperationalError as error:
                if _is_busy(error):  # another process has locked it, to remove it
                    continue
                raise
            if (locks / name).exists():
                return name, db
            db.close()  # it was removed before it was locked
        raise NALMError(f"Lock files in {locks} vanish as soon as they are created: choose another --out.")
    except OSError as error:
        raise NALMError(f"{folder} cannot be written ({error.strerror}): choose another --out.") from None
    except sqlite3.Error as error:
        raise NALMError(f"{folder} cannot be written ({error}): choose another --out.") from None


def _remove_if_free(path: Path) -> None:
    """Remove the lock file of a process that has ended. Hold its lock meanwhile, so that nobody acquires it."""
    with contextlib.suppress(OSError, sqlite3.Error), contextlib.closing(_lock(path, timeout=0)):
        path.unlink(missing_ok=True)


def _lock(path: Path, timeout: float = 5.0) -> Lock:
    db = sqlite3.connect(path, timeout=timeout, isolation_level=None, check_same_thread=False)
    try:
        db.execute("PRAGMA journal_mode = OFF")  # no data is written, so no journal is needed
        db.execute("BEGIN EXCLUSIVE")
    except BaseException:
        db.close()
        raise
    return db


def is_held(folder: Path, name: object) -> bool:
    """Return whether the process that created this lock still holds it."""
    if not isinstance(name, str) or not name or Path(name).name != name:
        return False  # the name is read from the database and not trusted: it must not lead to another folder
    try:
        address = (folder / FOLDER / name).absolute().as_uri()
        with contextlib.closing(sqlite3.connect(f"{address}?mode=ro", uri=True, timeout=0)) as db:
            db.execute("SELECT count(*) FROM sqlite_master")
    except sqlite3.Error as error:
        return _is_busy(error)
    except (OSError, ValueError):
        return False
    return False


def _is_busy(error: sqlite3.Error) -> bool:
    """Return whether SQLite found the lock held by another process."""
    return getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_BUSY
