"""What is still in training, on disk: one file per population, replaced as a whole, exact to the last bit."""

import contextlib
import hashlib
import json
import os
import secrets
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import safetensors
import safetensors.numpy

from nalm import __version__
from nalm.errors import NALMError
from nalm.results.store import Arrays, Key

FOLDER = "checkpoints"
NETWORKS = (
    "networks"  # of single runs that read images: they stay, so that a longer training can go on from them
)
UNREADABLE = (
    ValueError,
    KeyError,
    TypeError,
    OverflowError,
    RecursionError,
)  # what reading hostile JSON may raise
STALE = 600  # seconds since somebody wrote to a file that is still to be put in its place
TRIES = 3  # times that a file is written which others take for one that was left behind


@dataclass(frozen=True)
class Checkpoint:
    """A checkpoint file and the runs it holds, in their order; the numbers are read when asked for."""

    path: Path
    runs: tuple[Key, ...]

    def arrays(self, wanted: Sequence[Key] | None = None) -> Arrays:
        """The state of these runs (all of them if not said), as ``Training.restore`` takes it."""
        try:
            arrays, _ = read_arrays(self.path)
        except (safetensors.SafetensorError, OSError, ValueError, TypeError, KeyError) as error:
            raise damaged(self.path, error) from None
        if wanted is None or tuple(wanted) == self.runs:
            return arrays
        along = {"curves": 1, "trajectories": 1, "params": 0, "slots": 0, "resets": 0, "since": 0, "best": 0}
        kinds = {name: along.get(name.split(".")[0]) for name in arrays}
        try:
            rows = [self.runs.index(key) for key in wanted]
            return {n: a if (axis := kinds[n]) is None else a.take(rows, axis) for n, a in arrays.items()}
        except (IndexError, ValueError) as error:
            raise damaged(self.path, error) from None


def name_of(runs: Sequence[Key]) -> str:
    """A population's name: it depends on its runs and their order alone."""
    return hashlib.sha256(json.dumps([list(key) for key in runs]).encode()).hexdigest()[:24]


def write(folder: Path, runs: Sequence[Key], arrays: Arrays) -> Path:
    """Save a population's state; the old file stands until the new one is complete."""
    path = folder / FOLDER / f"{name_of(runs)}.safetensors"
    about = {"version": __version__, "runs": json.dumps([list(key) for key in runs])}
    return write_arrays(path, arrays, about)


def write_arrays(path: Path, arrays: Arrays, about: dict[str, str]) -> Path:
    """A file that holds the sum of its own numbers, so that damage anywhere in it is noticed."""
    content = safetensors.numpy.save(arrays, metadata={**about, "sum": _sum(arrays, about)})
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        for again in reversed(range(TRIES)):
            try:
                _put(path, content)
            except FileNotFoundError:  # tidied away by somebody, while this process was stopped
                if not again:
                    raise
            else:
                break
    except OSError as error:
        raise NALMError(
            f"The checkpoint {path} could not be written ({error.strerror}): free some space and run the same "
            "command again; every finished run is safe."
        ) from None
    return path


def _put(path: Path, content: bytes) -> None:
    """A file in its place at once and as a whole, with the rights that the user gives to new files."""
    temporary = path.with_name(f"{path.stem}-{os.getpid()}-{secrets.token_hex(4)}.tmp")
    try:
        with open(temporary, "xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise


def _sum(arrays: Arrays, about: dict[str, str]) -> str:
    """One word for all that a file says of itself, and for all names, kinds, shapes and bytes."""
    found = hashlib.sha256(json.dumps(about, sort_keys=True).encode())
    for name in sorted(arrays):
        a = np.ascontiguousarray(arrays[name])
        found.update(f"{name} {a.dtype} {a.shape}".encode() + a.tobytes())
    return found.hexdigest()


def read_arrays(path: Path) -> tuple[Arrays, dict[str, str]]:
    """All numbers of a file, and what it says of itself; if they are those that were written."""
    with safetensors.safe_open(path, "np") as file:
        about = file.metadata() or {}
    arrays = safetensors.numpy.load_file(path)
    if about.pop("sum") != _sum(arrays, about):
        raise ValueError("its numbers are not those that were written")
    return arrays, about


def read(path: Path) -> Checkpoint:
    """Which runs a file holds; a file that is damaged or of another version is refused."""
    try:
        with safetensors.safe_open(path, "np") as file:
            about = file.metadata() or {}
        runs = tuple((str(h), int(seed)) for h, seed in json.loads(about["runs"]))
        version = about["version"]
        if len(set(runs)) < len(runs):
            raise ValueError("a run stands there twice")
    except FileNotFoundError:
        raise
    except (safetensors.SafetensorError, OSError, *UNREADABLE) as error:
        raise damaged(path, error) from None
    if version != __version__:
        raise NALMError(
            f"The checkpoint {path} was written by nalm {version}, this is {__version__}: finish it with that "
            f"version, or delete the file to train its {len(runs)} runs from the start."
        )
    return Checkpoint(path, runs)


def found(folder: Path) -> list[Checkpoint]:
    """Every checkpoint of a results folder, the newest first."""
    dated = []
    for path in (folder / FOLDER).glob("*.safetensors"):
        with contextlib.suppress(FileNotFoundError):  # its owner has finished meanwhile
            dated.append((path.stat().st_mtime, read(path)))
    return [checkpoint for _, checkpoint in sorted(dated, key=lambda pair: -pair[0])]


def latest(folder: Path, runs: Sequence[Key]) -> Checkpoint | None:
    """The checkpoint of just this population, if it has one that can be read."""
    try:
        return read(folder / FOLDER / f"{name_of(runs)}.safetensors")
    except (FileNotFoundError, NALMError):
        return None


def tidy(folder: Path) -> None:
    """Remove what a process that was killed while it wrote has left behind: nobody has written to it for long."""
    for path in (*(folder / FOLDER).glob("*.tmp"), *(folder / NETWORKS).glob("*.tmp")):
        with contextlib.suppress(OSError):  # somebody was quicker
            if abs(time.time() - path.stat().st_mtime) > STALE:
                path.unlink()


def damaged(path: Path, error: Exception) -> NALMError:
    """The error that says so, and what to do."""
    return NALMError(f"The checkpoint {path} is damaged ({error}): delete it, and its runs start again.")
