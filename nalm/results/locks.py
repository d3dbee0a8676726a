"""Who is alive: a process holds a lock on a file of its own, and the lock dies with it, whatever the clock says."""

import fcntl
import os
import time
from pathlib import Path
from typing import IO

from nalm.errors import NALMError

FOLDER = "locks"


def hold(folder: Path) -> tuple[str, IO[str]]:
    """A new lock of this process: its name, and the file that holds it while it is open."""
    locks = folder / FOLDER
    try:
        locks.mkdir(exist_ok=True)
        for old in locks.glob("[0-9]*"):
            if not held(folder, old.name):
                old.unlink(missing_ok=True)
        name = f"{os.getpid()}-{time.time_ns()}"
        file = open(locks / f"new-{name}", "w")  # noqa: SIM115
        fcntl.flock(file, fcntl.LOCK_EX)
        os.rename(file.name, locks / name)  # nobody sees it before it is locked
    except OSError as error:
        raise NALMError(f"{folder} cannot be written ({error.strerror}): choose another --out.") from None
    return name, file


def held(folder: Path, name: object) -> bool:
    """Whether the process that made this lock still holds it."""
    if not isinstance(name, str) or not name or Path(name).name != name:
        return False  # a name from a file is no path
    try:
        with open(folder / FOLDER / name) as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except (OSError, ValueError):
        return False
    return False
