"""Who is alive: a process holds a lock on a file of its own, and the lock dies with it, whatever the clock says.

The lock is SQLite's on an empty database: it is the operating system's, and works wherever the results can be written.
"""

import contextlib
import os
import secrets
import sqlite3
from pathlib import Path

from nalm.errors import NALMError

FOLDER = "locks"
TRIES = 100  # times that somebody may take a new file for one that was left behind


Lock = sqlite3.Connection


def hold(folder: Path) -> tuple[str, Lock]:
    """A new lock of this process: its name, and the connection that holds it while it is open."""
    locks = folder / FOLDER
    try:
        locks.mkdir(exist_ok=True)
        for old in locks.glob("[0-9]*"):
            if not held(folder, old.name):
                with contextlib.suppress(OSError):  # somebody was quicker
                    old.unlink(missing_ok=True)
        for _ in range(TRIES):
            name = f"{os.getpid()}-{secrets.token_hex(8)}"
            db = _locked(locks / name)
            if (locks / name).exists():
                return name, db
            db.close()  # it was removed before it was locked
        raise NALMError(f"{locks} loses its files: choose another --out.")
    except OSError as error:
        raise NALMError(f"{folder} cannot be written ({error.strerror}): choose another --out.") from None
    except sqlite3.Error as error:
        raise NALMError(f"{folder} cannot be written ({error}): choose another --out.") from None


def _locked(path: Path) -> Lock:
    db = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    try:
        db.execute("PRAGMA journal_mode = OFF")  # nothing is ever written
        db.execute("BEGIN EXCLUSIVE")
    except BaseException:
        db.close()
        raise
    return db


def held(folder: Path, name: object) -> bool:
    """Whether the process that made this lock still holds it."""
    if not isinstance(name, str) or not name or Path(name).name != name:
        return False  # a name from a file is no path
    try:
        address = (folder / FOLDER / name).absolute().as_uri()
        with contextlib.closing(sqlite3.connect(f"{address}?mode=ro", uri=True, timeout=0)) as db:
            db.execute("SELECT count(*) FROM sqlite_master")
    except sqlite3.Error as error:
        return getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_BUSY
    except (OSError, ValueError):
        return False
    return False
