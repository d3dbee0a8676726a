"""The networks of single runs that read images, on disk: they stay, so that a longer training can go on from them."""

import contextlib
from collections.abc import Sequence
from pathlib import Path

import safetensors
import safetensors.numpy

from nalm import __version__
from nalm.errors import NALMError
from nalm.results.checkpoints import NETWORKS, UNREADABLE, damaged, read_arrays, write_arrays
from nalm.results.store import Arrays, Key


def keep(folder: Path, trunk: str, seed: int, arrays: Arrays) -> None:
    """Save one run's network under its case, however long, and seed; one that was trained longer is left as it is."""
    path = _network(folder, trunk, seed)
    before = kept(folder, trunk, seed)
    if not before or before["at"] <= arrays["at"]:
        about = {"version": __version__, "trunk": trunk, "seed": str(seed), "at": str(int(arrays["at"]))}
        write_arrays(path, arrays, about)


def kept(folder: Path, trunk: str, seed: int) -> Arrays:
    """What ``keep`` wrote, or nothing; a file that is damaged or of another version is refused."""
    path = _network(folder, trunk, seed)
    if not path.exists():
        return {}
    try:
        arrays, about = read_arrays(path)
        found = about["version"], about["trunk"], about["seed"]
        _ = float(arrays["at"])
    except (safetensors.SafetensorError, OSError, ValueError, KeyError, TypeError) as error:
        raise damaged(path, error) from None
    if found != (__version__, trunk, str(seed)):
        raise NALMError(
            f"The network {path} is of nalm {found[0]}, case {found[1][:12]} and seed {found[2]}, not what its name "
            "says: delete it, and its run starts again."
        )
    return arrays


def keep_all(folder: Path, networks: Sequence[Key], state: Arrays) -> None:
    """Save the networks of a population, each named by its case, however long, and its seed: a file each."""
    for i, (trunk, seed) in enumerate(networks):
        own = f"{i}."
        keep(folder, trunk, seed, {n.removeprefix(own): a for n, a in state.items() if n.startswith(own)})


def kept_all(folder: Path, networks: Sequence[Key]) -> Arrays:
    """What ``keep_all`` wrote of these networks, as it took it; nothing of those that are not there."""
    found = [kept(folder, trunk, seed) for trunk, seed in networks]
    return {f"{i}.{name}": a for i, arrays in enumerate(found) for name, a in arrays.items()}


def networks(folder: Path) -> list[tuple[str, int, int]]:
    """The networks of a results folder that can be read: their case, however long, their seed and how far they are."""
    found = []
    for path in sorted((folder / NETWORKS).glob("*.safetensors")):
        with contextlib.suppress(safetensors.SafetensorError, OSError, *UNREADABLE):
            with safetensors.safe_open(path, "np") as file:
                about = file.metadata() or {}
            found.append((about["trunk"], int(about["seed"]), int(about["at"])))
    return found


def network_name(trunk: str, seed: int) -> str:
    """The file of a network within a results folder."""
    return f"{NETWORKS}/{trunk[:16]}-{seed}.safetensors"


def _network(folder: Path, trunk: str, seed: int) -> Path:
    return folder / network_name(trunk, seed)
