"""Files that several rooms read and write: atomic writing, JSON of limited size, and numbers that JSON can hold."""

import contextlib
import json
import math
import os
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from nalm.errors import NALMError

LARGEST_FILE = 64 * 2**20  # bytes


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
