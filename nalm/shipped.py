"""Results as files for other people: a compressed CSV of runs, their curves, and a JSON about their origin."""

import csv
import gzip
import io
import json
import math
import shlex
from collections.abc import Iterable, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np

from nalm.claims import unit_of
from nalm.config import Case
from nalm.errors import NALMError
from nalm.operations import SYSTEMS
from nalm.runs import Outcome
from nalm.store import Store

POINTS = 51  # of a curve that is shipped
SEEN = ("test", "validation")  # curves that are shipped for every run
RECORDS = "records."
PICTURES = ("examples.", "pairs.")
MOVING = 5  # seeds whose weight trajectories are shipped
DRAWN = ("MLP",)  # baselines whose predictions are drawn
NUMBERS = [f.name for f in fields(Outcome) if f.name not in ("case", "seed", "version", "measures")]
PEOPLE = ("unit", "operation", "train", "inputs")  # columns for readers; the JSON holds the cases themselves


def header(measured: bool = False) -> list[str]:
    """The columns of a table of runs; what cases ask for at the end stands in the last, as name=number; ..."""
    return ["case", *PEOPLE, "seed", *NUMBERS, "version", *(["measures"] if measured else [])]


def line(outcome: Outcome) -> list[Any]:
    """One run as a row of the table."""
    case = outcome.case
    people = [unit_of(case), case.operation, str(case.train), case.inputs]
    values = [getattr(outcome, name) for name in NUMBERS]
    short = [f"{v:.9g}" if isinstance(v, float) else "" if v is None else v for v in values]
    measures = "; ".join(f"{name}={value:.9g}" for name, value in outcome.measures.items())
    return [
        case.hash[:12],
        *people,
        outcome.seed,
        *short,
        outcome.version,
        *([measures] if outcome.measures else []),
    ]


def table(outcomes: Iterable[Outcome]) -> str:
    """Runs as CSV."""
    text = io.StringIO()
    rows = list(outcomes)
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header(any(o.measures for o in rows)))
    writer.writerows(line(o) for o in rows)
    return text.getvalue()


def ship(store: Store, experiment: str, folder: Path) -> Path:
    """Write one experiment of a store as files under a folder; returns the table's path."""
    outcomes = store.outcomes(experiment)
    if not outcomes:
        raise NALMError(f"{store.path} has no finished run of {experiment!r} to export.")
    if not all(part.strip(".") and "\\" not in part for part in experiment.split("/")):
        raise NALMError(
            f"{store.path} has an experiment called {experiment!r}, which cannot be a file's name."
        )
    path = folder / f"{experiment}.csv.gz"
    about = json.dumps(origin(store, experiment, outcomes), indent=1) + "\n"
    files = {
        path: gzip.compress(table(outcomes).encode(), 9, mtime=0),
        folder / f"{experiment}.curves.csv.gz": gzip.compress(_curves(store, outcomes).encode(), 9, mtime=0),
        folder / f"{experiment}.json": about.encode(),
    }
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        for file, content in files.items():
            file.write_bytes(content)
    except OSError as error:
        raise NALMError(f"The files under {folder} could not be written: {error.strerror}.") from None
    return path


def origin(store: Store, experiment: str, outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """Where runs come from: command, versions, device, date, cost, and the cases themselves."""
    used = {o.version for o in outcomes}
    trained = store.trainers(experiment)
    sessions = [s for s in store.sessions() if s["id"] in trained]
    return {
        "experiment": experiment,
        "title": store.experiments().get(experiment, ""),
        "command": sorted({_spoken(s["command"]) for s in sessions}),
        "nalm": sorted(used),
        "torch": sorted({s["torch"] for s in sessions}),
        "python": sorted({s["python"] for s in sessions}),
        "device": sorted({o.device for o in outcomes}),
        "engine": sorted({o.mode for o in outcomes}),
        "date": _day(max((s["seen"] for s in sessions), default=0.0)),
        "runs": len(outcomes),
        "seconds": round(sum(o.seconds for o in outcomes), 1),
        "run_steps": sum(o.steps for o in outcomes),
        "cases": [json.loads(c.json()) for c in {o.case.hash: o.case for o in outcomes}.values()],
    }


def _spoken(command: str) -> str:
    """A command as somebody else would type it: without the path of the program and of the results folder."""
    try:
        words = shlex.split(command)[1:]
    except ValueError:  # a quote that is not closed: nobody typed this
        return command
    if "--out" in words:
        at = words.index("--out")
        del words[at : at + 2]
    return shlex.join(["nalm", *(w for w in words if not w.startswith("--out="))])


def _day(seconds: float) -> str:
    import datetime

    try:
        return datetime.datetime.fromtimestamp(seconds, datetime.UTC).date().isoformat()
    except (OverflowError, ValueError, OSError):  # of a clock that was wrong
        return ""


def error(o: Outcome, name: str = "test") -> float:
    """A run's error at the end; not a number is the worst."""
    return math.inf if math.isnan(o.measures[name]) else o.measures[name]


def economical(o: Outcome) -> float:
    """A run's error times the number of its parameters: what a sparse and precise fit has least of."""
    return error(o) * max(1.0, *(v for name, v in o.measures.items() if name.startswith("nonzero")))


def best(outcomes: Sequence[Outcome]) -> set[tuple[str, int]]:
    """The runs that are drawn from their final weights: of each case, those with the least error over a grid.

    Of fitted systems, those of each model with the least error, and with the least product of error and parameters.
    """
    found: dict[tuple[str, str], Outcome] = {}
    for o in outcomes:
        if o.case.operation in SYSTEMS:
            for name, rank in (("error", error), ("economy", economical)):
                first = found.setdefault((unit_of(o.case), name), o)
                if rank(o) < rank(first):
                    found[unit_of(o.case), name] = o
        for name, _ in o.case.grids:
            first = found.setdefault((o.case.hash, name), o)
            if error(o, name) < error(first, name):
                found[o.case.hash, name] = o
    return {(o.case.hash, o.seed) for o in found.values()}


def points(store: Store, o: Outcome, finest: bool = False) -> dict[str, np.ndarray]:
    """A run's curves at some 51 of its evaluations, and for the first seeds the paths of its weights.

    Starts on a grid are a map, which needs all of them; perceptrons of two inputs are drawn from their final weights,
    as are the finest runs over a grid. What else was recorded of a network that reads images is there as well, also at
    the evaluation that counts; of sequences at every one, since references say which of them solves a length.
    """
    arrays = store.arrays(o.case.hash, o.seed)
    count = len(arrays["steps"])
    every = o.case.digits is not None and o.case.digits.length
    kept = np.linspace(0, count - 1, count if every else min(POINTS, count)).round().astype(int)
    if o.case.digits is not None:
        kept = np.append(kept, np.flatnonzero(arrays["steps"] == o.best_step))
    kept = np.unique(kept)
    found = {name: arrays[name][kept] for name in ("steps", *SEEN)}
    if finest:
        found |= {name: v.flatten() for name, v in arrays.items() if name.startswith("weights.")}
    recorded = {n.removeprefix(RECORDS): v for n, v in arrays.items() if n.startswith(RECORDS)}
    found |= {name: v[kept] if v.shape == (count,) else v.flatten() for name, v in recorded.items()}
    if o.seed >= MOVING and not o.case.recipe.grid and o.case.digits is None:
        return found
    paths = {n.removeprefix("trajectories."): v for n, v in arrays.items() if n.startswith("trajectories.")}
    for name, values in paths.items():
        flat = values[kept].reshape(len(kept), -1)
        found |= {f"{name}[{i}]": flat[:, i] for i in range(flat.shape[1])}
    if o.case.inputs == 2 and any(layer.unit in DRAWN for layer in o.case.model) and not o.case.grids:
        found |= {name: v.flatten() for name, v in arrays.items() if name.startswith("weights.")}
    return found


def _curves(store: Store, outcomes: Sequence[Outcome]) -> str:
    rows = ["case,seed,curve,values"]
    drawn = best(outcomes)
    for o in outcomes:
        for name, values in points(store, o, (o.case.hash, o.seed) in drawn).items():
            if name.startswith(PICTURES):
                continue  # images are their makers' to ship
            digits = 7 if name.startswith("weights.") else 4
            text = " ".join(f"{float(v):.{digits}g}" for v in values)
            rows.append(f"{o.case.hash[:12]},{o.seed},{name},{text}")
    return "\n".join(rows) + "\n"


# -- reading ------------------------------------------------------------------------------------


def experiments(folder: Path) -> dict[str, Path]:
    """The experiments shipped under a folder, and their tables."""
    other = (".curves.csv.gz", ".trials.csv.gz")  # of these runs, and of the ladder's
    paths = sorted(p for p in folder.rglob("*.csv.gz") if not p.name.endswith(other))
    return {str(p.relative_to(folder)).removesuffix(".csv.gz"): p for p in paths}


def about(path: Path) -> dict[str, Any]:
    """The JSON beside a table."""
    beside = path.with_name(path.name.removesuffix(".csv.gz") + ".json")
    try:
        found = json.loads(beside.read_text(encoding="utf-8"))
        if not isinstance(found, dict) or not isinstance(found.get("cases"), list):
            raise ValueError("it has no cases")
    except (OSError, ValueError) as error:
        raise NALMError(f"{beside}, which should describe {path.name}, cannot be read: {error}.") from None
    return found


def read(path: Path) -> list[Outcome]:
    """The runs of a shipped table."""
    cases = {c.hash[:12]: c for c in (Case.from_json(json.dumps(d)) for d in about(path)["cases"])}
    return [_outcome(row, cases, path) for row in _rows(path)]


def curves(path: Path) -> dict[tuple[str, int], dict[str, np.ndarray]]:
    """Curves and trajectories beside a shipped table, by case (its first 12 letters) and seed."""
    beside = path.with_name(path.name.removesuffix(".csv.gz") + ".curves.csv.gz")
    found: dict[tuple[str, int], dict[str, np.ndarray]] = {}
    for row in _rows(beside) if beside.exists() else []:
        try:
            values = np.array([float(v) for v in row["values"].split()])
            found.setdefault((row["case"], int(row["seed"])), {})[row["curve"]] = values
        except (ValueError, KeyError, TypeError, AttributeError):
            raise NALMError(f"{beside} has a row that is not a curve: {str(row)[:80]}.") from None
    return found


def _rows(path: Path) -> list[dict[str, str]]:
    try:
        with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))
    except (OSError, EOFError, UnicodeDecodeError, csv.Error) as error:
        raise NALMError(f"{path} is not a compressed table of runs: {error}.") from None


def _outcome(row: dict[str, str], cases: dict[str, Case], path: Path) -> Outcome:
    kinds = {f.name: f.type for f in fields(Outcome)}
    try:
        values: dict[str, Any] = {}
        for name in NUMBERS:
            text, kind = row[name], kinds[name]
            if kind is str:
                values[name] = text
            elif kind is float:
                values[name] = float(text) if text else math.nan
            else:
                values[name] = int(text) if text else None
        pairs = [pair.rpartition("=") for pair in (row.get("measures") or "").split("; ") if pair]
        values["measures"] = {name: float(number) for name, _, number in pairs}
        return Outcome(cases[row["case"]], int(row["seed"]), version=row["version"], **values)
    except (KeyError, ValueError, TypeError) as error:
        raise NALMError(f"{path} has a row that is not a run ({error}): {str(row)[:80]}.") from None
