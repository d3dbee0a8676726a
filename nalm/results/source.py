"""Where finished runs are read from: a results folder with a store, or a folder of shipped tables."""

from pathlib import Path
from typing import Any, Literal

import numpy as np

from nalm.errors import NALMError
from nalm.results import files as shipped
from nalm.results.curves import points
from nalm.results.runs import Outcome
from nalm.results.store import NAME, Store

Results = dict[str, list[Outcome]]  # experiment -> its finished runs


def kind(where: str | Path) -> Literal["store", "shipped"]:
    """What a folder holds: a store, which goes first, or shipped tables."""
    folder = Path(where)
    try:
        if (folder / NAME).is_file() or (folder.suffix == ".db" and folder.is_file()):
            return "store"
        if not folder.is_dir():
            raise NALMError(_missing(folder))
        if shipped.experiments(folder):
            return "shipped"
    except OSError as error:
        raise NALMError(f"{str(where)[:200]} cannot be read: {error.strerror}.") from None
    raise NALMError(
        f"{folder} holds neither {NAME} nor shipped tables (*.csv, each with a *.json beside it): "
        f"give a results folder, or make one with `nalm run NAME --out {folder}`."
    )


def outcomes(where: str | Path) -> Results:
    """Every finished run of a results folder by experiment; an experiment without one is left out."""
    found = _stored(Path(where)) if kind(where) == "store" else _shipped(Path(where))
    found = {name: runs for name, runs in found.items() if runs}
    if not found:
        raise NALMError(f"No run in {where} is finished: `nalm status --out {where}` says what is under way.")
    return found


def curves(where: str | Path, wanted: Results) -> dict[str, dict[tuple[str, int], dict[str, np.ndarray]]]:
    """Read curves by experiment, then by case (the first 12 letters of its hash) and seed.

    From a store those of the given runs are read, from shipped tables those of their experiments.
    """
    if not wanted:
        return {}
    folder = Path(where)
    if kind(folder) == "store":
        with Store(folder) as store:
            return {
                name: {(o.case.key, o.seed): points(store, o) for o in runs} for name, runs in wanted.items()
            }
    paths = {_name(shipped.about(path), name): path for name, path in shipped.experiments(folder).items()}
    return {name: shipped.curves(paths[name]) for name in wanted}


def _missing(folder: Path) -> str:
    if folder.exists():
        return f"{folder} is a file: give the folder that it is in."
    if str(folder) == "results":
        return (
            "There is no folder results in the current directory: the shipped results come with the "
            "source code, not with the installed package; change to a checkout, or give another folder."
        )
    return (
        f"There is no folder {folder}: give one that `nalm run NAME --out FOLDER` made, or shipped results."
    )


def _stored(folder: Path) -> Results:
    found: Results = {}
    with Store(folder) as store:
        runs: dict[str, list[Outcome]] = {}
        for outcome in store.outcomes():
            runs.setdefault(outcome.case.hash, []).append(outcome)
        for name in store.experiments():
            found[name] = [o for case in store.cases(name) for o in runs.get(case.hash, ())]
    return found


def _shipped(folder: Path) -> Results:
    found: Results = {}
    places: dict[str, Path] = {}
    for path_name, path in shipped.experiments(folder).items():
        name = _name(shipped.about(path), path_name)
        if name in found:
            raise NALMError(
                f"{folder} holds {name} twice, in {places[name]} and {path}: give one of the two."
            )
        found[name], places[name] = shipped.read(path), path
    return found


def _name(about: dict[str, Any], path_name: str) -> str:
    """An experiment's own name, which holds in any folder; its path for want of one."""
    name = about.get("experiment")
    return name if isinstance(name, str) and name else path_name
