"""Detect whether the process of a session is still running, without a clock.

Each session holds a lock on a file of its own, and the operating system releases it when the process ends, however it
ends. The lock is SQLite's exclusive lock on an empty database, so it works on every system and folder on which the
results themselves can be written.
"""

import contextlib
import os
import secrets
import sqlite3
from pathlib import Path

from nalm.errors import NALMError

FOLDER = "locks"
TRIES = 100  # attempts if another process removes the new file as a stale one before it is locked


Lock = sqlite3.Connection


def acquire(folder: Path) -> tuple[str, Lock]:
    """Create and lock a file for this process; return its name and the connection that holds the lock while open."""
    locks = folder / FOLDER
    try:
        locks.mkdir(exist_ok=True)
        for old in locks.glob("[0-9]*"):
            if not is_held(folder, old.name):
                with contextlib.suppress(OSError):  # another process removed it first
                    old.unlink(missing_ok=True)
        for _ in range(TRIES):
            name = f"{os.getpid()}-{secrets.token_hex(8)}"
            db = _lock(locks / name)
            if (locks / name).exists():
                return name, db
            db.close()  # it was removed before it was locked
        raise NALMError(f"{locks} loses its files: choose another --out.")
    except OSError as error:
        raise NALMError(f"{folder} cannot be written ({error.strerror}): choose another --out.") from None
    except sqlite3.Error as error:
        raise NALMError(f"{folder} cannot be written ({error}): choose another --out.") from None


def _lock(path: Path) -> Lock:
    db = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    try:
        db.execute("PRAGMA journal_mode = OFF")  # nothing is ever written
        db.execute("BEGIN EXCLUSIVE")
    except BaseException:
        db.close()
        raise
    return db


def is_held(folder: Path, name: object) -> bool:
    """Return whether the process that created this lock still holds it."""
    if not isinstance(name, str) or not name or Path(name).name != name:
        return False  # the name comes from a database: it must not lead to another folder
    try:
        address = (folder / FOLDER / name).absolute().as_uri()
        with contextlib.closing(sqlite3.connect(f"{address}?mode=ro", uri=True, timeout=0)) as db:
            db.execute("SELECT count(*) FROM sqlite_master")
    except sqlite3.Error as error:
        return getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_BUSY
    except (OSError, ValueError):
        return False
    return False
