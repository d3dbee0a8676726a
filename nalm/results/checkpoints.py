"""Checkpoints of populations in training: one file each, replaced atomically, exact to the last bit."""

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
NETWORKS = "networks"  # the folder of saved networks, see nalm.results.networks
# what reading a damaged or hostile JSON text may raise
UNREADABLE = (ValueError, KeyError, TypeError, OverflowError, RecursionError)
STALE = 600  # seconds after which a temporary file counts as left behind
TRIES = 3  # attempts to write a file whose temporary file another process removes as stale


@dataclass(frozen=True)
class Checkpoint:
    """A checkpoint file and its runs in their order; ``arrays`` reads the numbers."""

    path: Path
    runs: tuple[Key, ...]

    def arrays(self, wanted: Sequence[Key] | None = None) -> Arrays:
        """Return the state of the ``wanted`` runs (default: all), in the form that ``Trainer.restore`` takes."""
        try:
            arrays, _ = read_arrays(self.path)
        except (safetensors.SafetensorError, OSError, ValueError, TypeError, KeyError) as error:
            raise damaged_error(self.path, error) from None
        if wanted is None or tuple(wanted) == self.runs:
            return arrays
        along = {"curves": 1, "trajectories": 1, "params": 0, "slots": 0, "resets": 0, "since": 0, "best": 0}
        kinds = {name: along.get(name.split(".")[0]) for name in arrays}
        try:
            rows = [self.runs.index(key) for key in wanted]
            return {n: a if (axis := kinds[n]) is None else a.take(rows, axis) for n, a in arrays.items()}
        except (IndexError, ValueError) as error:
            raise damaged_error(self.path, error) from None


def population_name(runs: Sequence[Key]) -> str:
    """Return the name of a population, a hash of its runs and their order."""
    return hashlib.sha256(json.dumps([list(key) for key in runs]).encode()).hexdigest()[:24]


def save_checkpoint(folder: Path, runs: Sequence[Key], arrays: Arrays) -> Path:
    """Save the state of a population; the previous file stays until the new one is complete."""
    path = folder / FOLDER / f"{population_name(runs)}.safetensors"
    about = {"version": __version__, "runs": json.dumps([list(key) for key in runs])}
    return write_arrays(path, arrays, about)


def write_arrays(path: Path, arrays: Arrays, about: dict[str, str]) -> Path:
    """Write arrays with a checksum over all of them, so that damage anywhere in the file is noticed."""
    content = safetensors.numpy.save(arrays, metadata={**about, "sum": _checksum(arrays, about)})
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        for again in reversed(range(TRIES)):
            try:
                _replace_file(path, content)
            except FileNotFoundError:  # removed as stale by another process while this one was stopped
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


def _replace_file(path: Path, content: bytes) -> None:
    """Write a file atomically, with the permissions that the user gives to new files."""
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


def _checksum(arrays: Arrays, about: dict[str, str]) -> str:
    """Return a hash over the metadata and over names, types, shapes and bytes of all arrays."""
    found = hashlib.sha256(json.dumps(about, sort_keys=True).encode())
    for name in sorted(arrays):
        a = np.ascontiguousarray(arrays[name])
        found.update(f"{name} {a.dtype} {a.shape}".encode() + a.tobytes())
    return found.hexdigest()


def read_arrays(path: Path) -> tuple[Arrays, dict[str, str]]:
    """Return the arrays and metadata of a file; raise ValueError if the checksum does not match."""
    with safetensors.safe_open(path, "np") as file:
        about = file.metadata() or {}
    arrays = safetensors.numpy.load_file(path)
    if about.pop("sum") != _checksum(arrays, about):
        raise ValueError("its checksum does not match its numbers")
    return arrays, about


def open_checkpoint(path: Path) -> Checkpoint:
    """Read which runs a file holds; refuse a file that is damaged or of another version."""
    try:
        with safetensors.safe_open(path, "np") as file:
            about = file.metadata() or {}
        runs = tuple((str(h), int(seed)) for h, seed in json.loads(about["runs"]))
        version = about["version"]
        if len(set(runs)) < len(runs):
            raise ValueError("it lists a run twice")
    except FileNotFoundError:
        raise
    except (safetensors.SafetensorError, OSError, *UNREADABLE) as error:
        raise damaged_error(path, error) from None
    if version != __version__:
        raise NALMError(
            f"The checkpoint {path} was written by nalm {version}, this is {__version__}: finish it with that "
            f"version, or delete the file to train its {len(runs)} runs from the start."
        )
    return Checkpoint(path, runs)


def list_checkpoints(folder: Path) -> list[Checkpoint]:
    """List the checkpoints of a results folder, the newest first."""
    dated = []
    for path in (folder / FOLDER).glob("*.safetensors"):
        with contextlib.suppress(FileNotFoundError):  # its runs have been finished meanwhile
            dated.append((path.stat().st_mtime, open_checkpoint(path)))
    return [checkpoint for _, checkpoint in sorted(dated, key=lambda pair: -pair[0])]


def find_checkpoint(folder: Path, runs: Sequence[Key]) -> Checkpoint | None:
    """Return the checkpoint of exactly this population, or None without a readable one."""
    try:
        return open_checkpoint(folder / FOLDER / f"{population_name(runs)}.safetensors")
    except (FileNotFoundError, NALMError):
        return None


def remove_stale_files(folder: Path) -> None:
    """Remove temporary files that a process left behind when it was killed while writing."""
    for path in (*(folder / FOLDER).glob("*.tmp"), *(folder / NETWORKS).glob("*.tmp")):
        with contextlib.suppress(OSError):  # another process removed it first
            if abs(time.time() - path.stat().st_mtime) > STALE:
                path.unlink()


def damaged_error(path: Path, error: Exception) -> NALMError:
    """Return the error for a damaged checkpoint."""
    return NALMError(f"The checkpoint {path} is damaged ({error}): delete it, and its runs start again.")
