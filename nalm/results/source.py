"""The one way to read finished runs of any folder: a results folder with a store, or a folder of shipped tables."""

import glob
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np

from nalm.errors import NALMError
from nalm.results import files as shipped
from nalm.results import tally_files
from nalm.results.curves import best, points
from nalm.results.runs import Outcome
from nalm.results.store import NAME, Store
from nalm.results.tally import Tally

Results = dict[str, list[Outcome]]  # experiment -> its finished runs
Curves = dict[
    tuple[str, int], dict[str, np.ndarray]
]  # by the first 12 letters of the case's hash and the seed

MOST = 20_000  # runs of a stored experiment up to which the curves of all are read; beyond, those of one seed per case


@dataclass(frozen=True)
class Recorded:
    """One experiment as a folder holds it."""

    name: str
    title: str
    outcomes: list[Outcome]
    curves: Curves
    origin: dict[str, Any]  # command, versions, device, date; empty without a finished run
    empty: tuple[str, ...] = ()  # names of cases without a finished run
    tallies: tuple[Tally, ...] = ()  # of the same cases with more seeds, where these were shipped
    counted: dict[str, Any] = field(default_factory=dict)  # the origin of the tallies


def kind(where: str | Path) -> Literal["store", "shipped"]:
    """Return what a folder holds: a store or shipped tables; a store if it holds both."""
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
    """Return the finished runs by experiment, without curves; an experiment without a finished run is left out."""
    found = _stored(Path(where)) if kind(where) == "store" else _shipped(Path(where))
    found = {name: runs for name, runs in found.items() if runs}
    if not found:
        raise NALMError(
            f"No run in {where} is finished: `nalm status --out {where}` shows what is in training."
        )
    return found


def tallies(where: str | Path) -> dict[str, list[Tally]]:
    """Return the shipped tallies by experiment; a store has none, since it holds the runs themselves."""
    if kind(where) == "store":
        return {}
    found = shipped.tallied(Path(where))
    return {_name(shipped.about(path), name): tally_files.read(path) for name, path in found.items()}


def curves(where: str | Path, wanted: Results) -> dict[str, Curves]:
    """Read the curves of chosen runs by experiment.

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


def fingerprints(where: str | Path) -> dict[str, str]:
    """Return a text for each experiment that changes whenever its finished runs or its files change."""
    if kind(where) == "store":
        with Store(where) as store:
            return store.fingerprints()
    found = {}
    for name, path in shipped.experiments(Path(where)).items():
        beside = sorted(path.parent.glob(f"{glob.escape(path.stem)}.*"))
        found[name] = " ".join(f"{p.name} {p.stat().st_size} {p.stat().st_mtime_ns}" for p in beside)
    return found


def read(where: str | Path, choose: Callable[[Iterable[str]], Iterable[str]] = list) -> list[Recorded]:
    """Read experiments with their curves; ``choose`` picks and orders their names (default: all)."""
    if kind(where) == "store":
        with Store(where) as store:
            return [_stored_experiment(store, name) for name in choose(store.experiments())]
    tables = shipped.experiments(Path(where))
    return [_shipped_experiment(name, tables[name]) for name in choose(tables)]


def _stored_experiment(store: Store, name: str) -> Recorded:
    outcomes = store.outcomes(name)
    seen = {o.case.hash for o in outcomes}
    origin = shipped.origin(store, name, outcomes) if outcomes else {}
    empty = tuple(case.name for case in store.cases(name) if case.hash not in seen)
    return Recorded(name, store.experiments()[name], outcomes, _stored_curves(store, outcomes), origin, empty)


def _stored_curves(store: Store, outcomes: list[Outcome]) -> Curves:
    """Read the curves of all runs, or of a few if there are many; always those of the best runs."""
    finest = best(outcomes)
    shown = {(o.case.hash, o.seed): o for o in _with_curves(outcomes)}
    shown |= {(o.case.hash, o.seed): o for o in outcomes if (o.case.hash, o.seed) in finest}
    return {(key[0][:12], key[1]): points(store, o, key in finest) for key, o in shown.items()}


def _with_curves(outcomes: list[Outcome]) -> list[Outcome]:
    """Choose the runs whose curves are read; initial weights on a grid are one picture, which needs all."""
    if len(outcomes) <= MOST:
        return outcomes
    count: Counter[str] = Counter()
    kept = []
    for o in outcomes:
        count[o.case.hash] += 1
        if count[o.case.hash] == 1 or o.case.recipe.grid:
            kept.append(o)
    return kept


def _shipped_experiment(name: str, path: Path) -> Recorded:
    about, beside = shipped.about(path), path.with_suffix(shipped.TALLY)
    title, runs, curves = about.get("title", ""), shipped.read(path), shipped.curves(path)
    if not beside.is_file():
        return Recorded(name, title, runs, curves, about)
    counted, origin = tuple(tally_files.read(beside)), shipped.about(beside)
    return Recorded(name, title, runs, curves, about, tallies=counted, counted=origin)


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
    """Return the name in the JSON, which is the same in any folder, or else the path of the table."""
    name = about.get("experiment")
    return name if isinstance(name, str) and name else path_name
