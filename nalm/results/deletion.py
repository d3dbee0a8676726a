"""Delete runs and experiments from a results folder."""

from collections.abc import Sequence
from dataclasses import dataclass

from nalm.config import Case
from nalm.errors import NALMError
from nalm.results import checkpoints
from nalm.results.networks import network_name
from nalm.results.store import Key, Store


@dataclass(frozen=True)
class Deletion:
    """A selection of runs to delete, and the names of experiments to delete whole."""

    runs: tuple[Key, ...]
    experiments: tuple[str, ...] = ()
    shared: int = 0  # runs that stay, because another experiment has their case too


def of_experiments(store: Store, names: Sequence[str]) -> Deletion:
    """Plan to delete experiments with their runs; a run that another experiment needs stays."""
    gone = {case.hash for name in names for case in store.cases(name)}
    others = [name for name in store.experiments() if name not in names]
    needed = {case.hash for name in others for case in store.cases(name)}
    runs = sorted(key for key in store.finished() if key[0] in gone)
    return Deletion(
        tuple(key for key in runs if key[0] not in needed),
        tuple(names),
        sum(key[0] in needed for key in runs),
    )


def of_cases(store: Store, cases: Sequence[Case], seeds: Sequence[int] = ()) -> Deletion:
    """Plan to delete the runs of cases, all of them or those of some seeds."""
    hashes = {case.hash for case in cases}
    runs = [key for key in store.finished() if key[0] in hashes and (not seeds or key[1] in seeds)]
    return Deletion(tuple(sorted(runs)))


def delete(store: Store, what: Deletion) -> None:
    """Delete runs with their arrays, checkpoints and saved networks; refuse while a process is writing here.

    Nothing is deleted if any part fails before the end of the transaction.
    """
    if any(session["alive"] for session in store.sessions()):
        raise NALMError(f"A process is training into {store.folder}: stop it first, or wait until it ends.")
    keys = set(what.runs)
    cases = {case.hash: case for case in store.cases()}
    with store.change():
        for table in ("runs", "arrays", "taken"):
            store.db.executemany(f"DELETE FROM {table} WHERE hash = ? AND seed = ?", what.runs)
        for name in what.experiments:
            store.db.execute("DELETE FROM members WHERE experiment = ?", (name,))
            store.db.execute("DELETE FROM experiments WHERE name = ?", (name,))
        kept = "SELECT hash FROM members UNION SELECT hash FROM runs"
        store.db.execute(f"DELETE FROM cases WHERE hash NOT IN ({kept})")
    left = {case.hash for case in store.cases()}
    for checkpoint in checkpoints.list_checkpoints(store.folder):
        if all(key in keys or key[0] not in left for key in checkpoint.runs):
            checkpoint.path.unlink(missing_ok=True)
    for case, seed in what.runs:
        if cases[case].task.extends:
            (store.folder / network_name(cases[case].trunk.hash, seed)).unlink(missing_ok=True)
