"""The operating system: files written whole, JSON of limited size, the cores of this machine, worker processes."""

import contextlib
import json
import math
import multiprocessing
import os
import secrets
import signal
import sys
import threading
import time
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from nalm.errors import NALMError

LARGEST_FILE = 64 * 2**20  # bytes
GRACE = 10.0  # seconds that a worker has to end by itself before it is killed
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


@contextlib.contextmanager
def atomic_path(path: Path) -> Iterator[Path]:
    """Yield a temporary path in the same folder, and move it to ``path`` when the block ends without an error.

    After an error, or if the process is killed, ``path`` is as it was before.
    """
    temporary = path.with_name(f".{path.name[:40]}.{os.getpid()}-{secrets.token_hex(4)}.tmp")
    try:
        yield temporary
        os.replace(temporary, path)
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)


def write_atomically(path: Path, content: bytes) -> None:
    """Write a file completely or not at all; an error of the operating system becomes one sentence."""
    try:
        with atomic_path(path) as temporary, temporary.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise NALMError(f"Cannot write {path}: {error.strerror}; choose another place.") from None


def write_json(path: Path, value: Any) -> None:
    """Write a plain value as indented JSON, atomically; NaN and infinity are not allowed in it."""
    write_atomically(path, (json.dumps(value, indent=1, allow_nan=False) + "\n").encode())


def read_json(path: Path) -> Any:
    """Read a JSON file of at most ``LARGEST_FILE`` bytes; anything else is an error of one sentence."""
    try:
        if (size := path.stat().st_size) > LARGEST_FILE:
            raise NALMError(f"{path} has {size:,} bytes; at most {LARGEST_FILE:,} are read.")
        return json.loads(path.read_bytes())
    except OSError as error:
        raise NALMError(f"Cannot read {path}: {error.strerror}.") from None
    except (ValueError, RecursionError) as error:
        if isinstance(error, NALMError):
            raise
        raise NALMError(f"{path} is not JSON: {error}.") from None


def json_number(value: float) -> float | None:
    """Convert a number for JSON, which has no NaN and no infinity: these become None.

    >>> json_number(0.5), json_number(float("nan")), json_number(float("-inf"))
    (0.5, None, None)
    """
    return float(value) if math.isfinite(value) else None


# -- processes --------------------------------------------------------------------------------------


def cores() -> int:
    """Return the number of cores that this process may use, which can be fewer than the machine has."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@contextlib.contextmanager
def ignore_sigint() -> Iterator[None]:
    """Ignore SIGINT while spawning a worker; the driver handles Ctrl-C and terminates its workers."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@contextlib.contextmanager
def without_main() -> Iterator[None]:
    """Spawn workers that do not run the user's script again: they need nothing of it, and it may have no guard."""
    main = sys.modules["__main__"]
    sys.modules["__main__"] = types.ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main


@contextlib.contextmanager
def one_thread() -> Iterator[None]:
    """Spawn workers that use one thread each for linear algebra, unless the environment says otherwise."""
    added = [name for name in THREADS if name not in os.environ]
    os.environ.update(dict.fromkeys(added, "1"))
    try:
        yield
    finally:
        for name in added:
            del os.environ[name]


def end_with_driver() -> None:
    """Wait for the driver and end this worker after it: a driver that was killed cannot end its workers itself."""
    driver = multiprocessing.parent_process()
    if driver is not None:
        driver.join()
        signal.raise_signal(signal.SIGTERM)
        time.sleep(GRACE)
        os._exit(1)
