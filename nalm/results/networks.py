"""Saved networks of single runs that read images: they are kept after the run, so that a longer training can resume.

A file is named by its *trunk*, the case without its number of steps, and by the seed.
"""

import contextlib
from collections.abc import Sequence
from pathlib import Path

import safetensors
import safetensors.numpy

from nalm import __version__
from nalm.errors import NALMError
from nalm.results.checkpoints import NETWORKS, UNREADABLE, damaged_error, read_arrays, write_arrays
from nalm.results.store import Arrays, Key


def save_network(folder: Path, trunk: str, seed: int, arrays: Arrays) -> None:
    """Save the network of one run, unless a longer-trained one is already stored."""
    path = folder / network_name(trunk, seed)
    before = load_network(folder, trunk, seed)
    if not before or before["at"] <= arrays["at"]:
        about = {"version": __version__, "trunk": trunk, "seed": str(seed), "at": str(int(arrays["at"]))}
        write_arrays(path, arrays, about)


def load_network(folder: Path, trunk: str, seed: int) -> Arrays:
    """Return the saved network of one run, empty without one; refuse a file that is damaged or of another version."""
    path = folder / network_name(trunk, seed)
    if not path.exists():
        return {}
    try:
        arrays, about = read_arrays(path)
        found = about["version"], about["trunk"], about["seed"]
        _ = float(arrays["at"])
    except (safetensors.SafetensorError, OSError, ValueError, KeyError, TypeError) as error:
        raise damaged_error(path, error) from None
    if found != (__version__, trunk, str(seed)):
        raise NALMError(
            f"The network {path} is of nalm {found[0]}, case {found[1][:12]} and seed {found[2]}, not what its name "
            "says: delete it, and its run starts again."
        )
    return arrays


def save_networks(folder: Path, keys: Sequence[Key], state: Arrays) -> None:
    """Save the networks of a population, one file each; ``state`` names the arrays of network i ``i.NAME``."""
    for i, (trunk, seed) in enumerate(keys):
        own = f"{i}."
        arrays = {n.removeprefix(own): a for n, a in state.items() if n.startswith(own)}
        save_network(folder, trunk, seed, arrays)


def load_networks(folder: Path, keys: Sequence[Key]) -> Arrays:
    """Return the saved networks of a population as one state; a network without a file has no entries."""
    found = [load_network(folder, trunk, seed) for trunk, seed in keys]
    return {f"{i}.{name}": a for i, arrays in enumerate(found) for name, a in arrays.items()}


def list_networks(folder: Path) -> list[tuple[str, int, int]]:
    """List (trunk, seed, step reached) of every readable network in a results folder."""
    found = []
    for path in sorted((folder / NETWORKS).glob("*.safetensors")):
        with contextlib.suppress(safetensors.SafetensorError, OSError, *UNREADABLE):
            with safetensors.safe_open(path, "np") as file:
                about = file.metadata() or {}
            found.append((about["trunk"], int(about["seed"]), int(about["at"])))
    return found


def network_name(trunk: str, seed: int) -> str:
    """Return the path of a network's file within a results folder."""
    return f"{NETWORKS}/{trunk[:16]}-{seed}.safetensors"
