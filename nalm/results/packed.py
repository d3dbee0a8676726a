"""Named arrays as compressed bytes, and back; nothing else gets through, and nothing larger than it should be."""

import zlib
from dataclasses import dataclass

import numpy as np
import safetensors
import safetensors.numpy

from nalm.errors import NALMError
from nalm.results.runs import Outcome, Runs

EXPANDED = 2**28  # bytes of a run's arrays

Arrays = dict[str, np.ndarray]


@dataclass(frozen=True)
class Finished:
    """Finished runs as a store keeps them: made by whoever trained them, so that whoever writes has little to do."""

    lines: list[Outcome]
    blobs: list[bytes]  # of each, what ``pack`` makes of its arrays

    @classmethod
    def of(cls, runs: Runs) -> "Finished":
        """These runs, in a line each and packed."""
        return cls(runs.lines(), [pack(of_run(runs, i)) for i in range(len(runs))])


def of_run(runs: Runs, i: int) -> Arrays:
    """Curves, final weights, measures, records and trajectories of one run by name."""
    arrays: Arrays = {"steps": runs.steps[i]}
    arrays |= {name: getattr(runs, name)[i] for name in ("validation", "test", "sparsity")}
    arrays |= {f"weights.{n}": w for n, w in runs.weights[i].items()}
    arrays |= {f"measures.{n}": np.array(v) for n, v in runs.measures[i].items()}
    arrays |= {f"records.{n}": r for n, r in runs.records[i].items()}
    return arrays | {f"trajectories.{n}": w for n, w in runs.trajectories[i].items()}


def pack(arrays: Arrays) -> bytes:
    """Named arrays as compressed bytes that hold nothing but numbers."""
    return zlib.compress(safetensors.numpy.save({n: np.ascontiguousarray(a) for n, a in arrays.items()}), 1)


def unpack(data: bytes, where: str) -> Arrays:
    """What ``pack`` made; anything else is refused."""
    try:
        expanding = zlib.decompressobj()
        content = expanding.decompress(data, EXPANDED)
        if not expanding.eof:
            raise ValueError(f"they are cut short, or more than {EXPANDED:,} bytes")
        return safetensors.numpy.load(content)
    except (zlib.error, safetensors.SafetensorError, ValueError, KeyError, TypeError) as error:
        raise NALMError(f"The arrays of {where} are damaged: {error}.") from None
