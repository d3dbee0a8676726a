"""The arrays of a run as compressed bytes, and back; damaged or too large data is refused."""

import hashlib
import zlib
from dataclasses import dataclass

import numpy as np
import safetensors
import safetensors.numpy

from nalm.errors import NALMError
from nalm.results.runs import Outcome, Runs

MAX_EXPANDED = 2**28  # bytes of a run's arrays after decompression
CHECKSUM = "checksum"  # the array with the checksum of all other numbers of a run
# what a run came to; the checksum covers these and the arrays
RESULT = (
    "outcome",
    "solved_at",
    "best_step",
    "validation",
    "test",
    "sparsity",
    "threshold",
    "steps",
    "resets",
    "formula",
)

Arrays = dict[str, np.ndarray]


@dataclass(frozen=True)
class Finished:
    """Finished runs, already serialised by the worker so that the driver only inserts them."""

    lines: list[Outcome]
    blobs: list[bytes]  # for each run its packed arrays

    @classmethod
    def of(cls, runs: Runs, curves: bool = True) -> "Finished":
        """Serialise these runs; without ``curves``, of these the last evaluation only."""
        lines = runs.lines()
        arrays = [run_arrays(runs, i, curves) for i in range(len(runs))]
        return cls(lines, [pack(a | {CHECKSUM: checksum(o, a)}) for o, a in zip(lines, arrays, strict=True)])


def checksum(outcome: Outcome, arrays: Arrays) -> np.ndarray:
    """Return SHA-256 of what a run came to and of its arrays, which tells whether any digit was changed later."""
    digest = hashlib.sha256(" ".join(f"{name}={getattr(outcome, name)}" for name in RESULT).encode())
    for name in sorted(arrays.keys() - {CHECKSUM}):
        array = np.ascontiguousarray(arrays[name])
        digest.update(f" {name} {array.dtype} {array.shape} ".encode() + array.tobytes())
    return np.frombuffer(digest.digest(), np.uint8)


def run_arrays(runs: Runs, i: int, curves: bool = True) -> Arrays:
    """Return curves, final weights, measures, records and trajectories of run ``i`` by name.

    Without ``curves`` there are no trajectories, and the curves have one point, the last.
    """
    kept = slice(None) if curves else slice(-1, None)
    arrays: Arrays = {"steps": runs.steps[i][kept]}
    arrays |= {name: getattr(runs, name)[i][kept] for name in ("validation", "test", "sparsity")}
    arrays |= {f"weights.{n}": w for n, w in runs.weights[i].items()}
    arrays |= {f"measures.{n}": np.array(v) for n, v in runs.measures[i].items()}
    arrays |= {f"records.{n}": r for n, r in runs.records[i].items()}
    paths = runs.trajectories[i] if curves else {}
    return arrays | {f"trajectories.{n}": w for n, w in paths.items()}


def pack(arrays: Arrays) -> bytes:
    """Serialise named arrays (safetensors) and compress them (zlib)."""
    return zlib.compress(safetensors.numpy.save({n: np.ascontiguousarray(a) for n, a in arrays.items()}), 1)


def unpack(data: bytes, where: str) -> Arrays:
    """Return the arrays that ``pack`` wrote; ``where`` names them in the error if the data is damaged."""
    try:
        expanding = zlib.decompressobj()
        content = expanding.decompress(data, MAX_EXPANDED)
        if not expanding.eof:
            raise ValueError(f"they are cut short, or more than {MAX_EXPANDED:,} bytes")
        return safetensors.numpy.load(content)
    except (zlib.error, safetensors.SafetensorError, ValueError, KeyError, TypeError) as error:
        raise NALMError(f"The arrays of {where} are damaged: {error}.") from None
