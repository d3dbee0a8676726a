"""Shipped results: per experiment a CSV file of runs, one of their curves, and a JSON file about their origin."""

import csv
import datetime
import io
import json
import math
import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from nalm.config import Case
from nalm.config.labels import unit_of
from nalm.errors import NALMError
from nalm.results import curve_files
from nalm.results.curves import best, points
from nalm.results.runs import Outcome
from nalm.results.store import Store

# suffixes of tables that do not hold runs
CURVES, TRIALS, TALLY = ".curves.csv", ".trials.csv", ".tally.csv"
NUMBERS = [f.name for f in fields(Outcome) if f.name not in ("case", "seed", "version", "measures")]
READABLE = ("unit", "operation", "train", "inputs")  # columns for readers; the JSON holds the cases
FOLDERS = ("--out", "--data")  # options that differ from machine to machine
LONGEST = 1_000  # characters of the formula of a run that is not solved; nobody reads a longer one


def header(measured: bool = False) -> list[str]:
    """Return the columns of a table of runs; with ``measured``, the last holds measures as name=number; ..."""
    return ["case", *READABLE, "seed", *NUMBERS, "version", *(["measures"] if measured else [])]


def line(outcome: Outcome) -> list[Any]:
    """Return one run as a row of the table."""
    case = outcome.case
    readable = [unit_of(case), case.operation, str(case.train), case.inputs]
    values = [getattr(outcome, name) for name in NUMBERS]
    short = [f"{v:.9g}" if isinstance(v, float) else "" if v is None else v for v in values]
    measures = "; ".join(f"{name}={value:.9g}" for name, value in outcome.measures.items())
    last = [outcome.version, *([measures] if outcome.measures else [])]
    return [case.key, *readable, outcome.seed, *short, *last]


def table(outcomes: Iterable[Outcome]) -> str:
    """Format runs as CSV."""
    text = io.StringIO()
    rows = list(outcomes)
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header(any(o.measures for o in rows)))
    writer.writerows(line(o) for o in rows)
    return text.getvalue()


def ship(store: Store, experiment: str, folder: Path, seeds: int = 0) -> Path:
    """Write one experiment of a store as files under a folder; return the path of the table.

    ``seeds`` takes the runs with a seed below it, where the others are in a tally; 0 takes all.
    """
    outcomes = [shortened(o) for o in finished(store, experiment) if not seeds or o.seed < seeds]
    if not outcomes:
        raise NALMError(f"{store.path} has no run of {experiment!r} with a seed below {seeds}.")
    path = target(store, experiment, folder)
    write(
        {
            path: table(outcomes),
            path.with_suffix(CURVES): curve_files.text(_curves(store, outcomes)),
            path.with_suffix(".json"): described(origin(store, experiment, outcomes)),
        }
    )
    return path


def shortened(outcome: Outcome) -> Outcome:
    """Leave out the formula of a run that is not solved if it is very long, as those of deep networks are.

    The equations of a fitted trajectory stay: the page shows those of the most economical fit.
    """
    if outcome.solved or outcome.case.task.fits_trajectory or len(outcome.formula) <= LONGEST:
        return outcome
    return replace(outcome, formula="")


def finished(store: Store, experiment: str) -> list[Outcome]:
    """Return the finished runs of an experiment; raise if there is none."""
    if not (outcomes := store.outcomes(experiment)):
        raise NALMError(f"{store.path} has no finished run of {experiment!r} to export.")
    return outcomes


def target(store: Store, experiment: str, folder: Path) -> Path:
    """Return the path of an experiment's table under a folder; refuse a name that leads elsewhere."""
    if not all(part.strip(".") and "\\" not in part for part in experiment.split("/")):
        raise NALMError(
            f"{store.path} has an experiment called {experiment!r}, which cannot be a file's name."
        )
    return folder / f"{experiment}.csv"


def write(files: Mapping[Path, str]) -> None:
    """Write files that belong together, and the folders that they are in."""
    for path, content in files.items():
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content.encode())
        except OSError as error:
            raise NALMError(f"{path} could not be written: {error.strerror}.") from None


def origin(store: Store, experiment: str, outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """Return the origin of runs: commands, versions, devices, date, cost, and the cases themselves."""
    used = {o.version for o in outcomes}
    trained = store.session_ids(experiment)
    sessions = [s for s in store.sessions() if s["id"] in trained]
    return {
        "experiment": experiment,
        "title": store.experiments().get(experiment, ""),
        "command": sorted({_without_paths(s["command"]) for s in sessions}),
        "nalm": sorted(used),
        "torch": sorted({s["torch"] for s in sessions}),
        "python": sorted({s["python"] for s in sessions}),
        "device": sorted({o.device for o in outcomes}),
        "engine": sorted({o.mode for o in outcomes}),
        "date": _date(max((s["seen"] for s in sessions), default=0.0)),
        "runs": len(outcomes),
        "seconds": round(sum(o.seconds for o in outcomes), 1),
        "run_steps": sum(o.steps for o in outcomes),
        "cases": [c.brief() for c in {o.case.hash: o.case for o in outcomes}.values()],
    }


def described(origin: dict[str, Any]) -> str:
    """Format an origin as JSON with one line per case, so that a changed case is one changed line."""
    head = json.dumps({name: value for name, value in origin.items() if name != "cases"}, indent=1)
    cases = ",\n  ".join(json.dumps(case, separators=(",", ":")) for case in origin["cases"])
    return head.removesuffix("\n}") + f',\n "cases": [\n  {cases}\n ]\n}}\n'


def _without_paths(command: str) -> str:
    """Return a command without the path of the program and the options that name folders of a machine."""
    try:
        words = shlex.split(command)[1:]
    except ValueError:  # a quote is not closed
        return ""
    for option in FOLDERS:
        while option in words:
            at = words.index(option)
            del words[at : at + 2]
        words = [w for w in words if not w.startswith(f"{option}=")]
    return shlex.join(["nalm", *words])


def _date(seconds: float) -> str:
    try:
        return datetime.datetime.fromtimestamp(seconds, datetime.UTC).date().isoformat()
    except (OverflowError, ValueError, OSError):  # the clock was wrong
        return ""


def _curves(store: Store, outcomes: Sequence[Outcome]) -> Iterator[tuple[str, int, dict[str, np.ndarray]]]:
    """Yield the curves that are written: of the first seeds of each case, and of runs drawn from final weights."""
    drawn, places = best(outcomes), Counter[str]()
    for o in outcomes:
        place, finest = places[o.case.hash], (o.case.hash, o.seed) in drawn
        places[o.case.hash] += 1
        if place < curve_files.SEEDS or finest or curve_files.whole(o.case):
            yield o.case.key, o.seed, curve_files.thinned(points(store, o, finest), o.case, place)


# -- reading ------------------------------------------------------------------------------------


def experiments(folder: Path) -> dict[str, Path]:
    """Find the tables under a folder that have a JSON file beside them, by experiment name."""
    found = (p for p in sorted(folder.rglob("*.csv")) if not p.name.endswith((CURVES, TRIALS, TALLY)))
    tables = [p for p in found if p.with_suffix(".json").is_file()]
    return {p.relative_to(folder).with_suffix("").as_posix(): p for p in tables}


def tallied(folder: Path) -> dict[str, Path]:
    """Find the tables of tallies under a folder that have a JSON file beside them, by experiment name."""
    found = [p for p in sorted(folder.rglob(f"*{TALLY}")) if p.with_suffix(".json").is_file()]
    return {p.relative_to(folder).as_posix().removesuffix(TALLY): p for p in found}


def about(path: Path) -> dict[str, Any]:
    """Read the JSON file beside a table."""
    beside = path.with_suffix(".json")
    try:
        found = json.loads(beside.read_text(encoding="utf-8"))
        if not isinstance(found, dict) or not isinstance(found.get("cases"), list):
            raise ValueError("it has no cases")
    except (OSError, ValueError) as error:
        raise NALMError(f"{beside}, which should describe {path.name}, cannot be read: {error}.") from None
    return found


def read(path: Path) -> list[Outcome]:
    """Read the runs of a shipped table."""
    cases = cases_of(path)
    return [_outcome(row, case_of(row, cases, path), path) for row in curve_files.rows(path, header())]


def cases_of(path: Path) -> dict[str, Case]:
    """Read the cases of a shipped table from the JSON file beside it, by the first 12 letters of their hash."""
    return {c.key: c for c in (Case.from_json(json.dumps(d)) for d in about(path)["cases"])}


def case_of(row: Mapping[str, str], cases: Mapping[str, Case], path: Path) -> Case:
    """Return the case that a row of a shipped table names."""
    if row["case"] not in cases:
        raise NALMError(
            f"{path} has a row of the case {row['case']!r}, which {path.with_suffix('.json').name} does not describe: "
            "take both files from one export, or read them with the version of nalm that the JSON file names."
        )
    return cases[row["case"]]


def curves(path: Path) -> dict[tuple[str, int], dict[str, np.ndarray]]:
    """Read the curves beside a shipped table, by case (first 12 letters of its hash) and seed."""
    return curve_files.read(path.with_suffix(CURVES))


def _outcome(row: dict[str, str], case: Case, path: Path) -> Outcome:
    kinds = {f.name: f.type for f in fields(Outcome)}
    try:
        values: dict[str, Any] = {}
        for name in NUMBERS:
            text, kind = row[name], kinds[name]
            if kind is float:
                values[name] = float(text) if text else math.nan
            else:
                values[name] = text if kind is str else int(text) if text or kind is int else None
        pairs = [pair.rpartition("=") for pair in (row.get("measures") or "").split("; ") if pair]
        values["measures"] = {name: float(number) for name, _, number in pairs}
        return Outcome(case, int(row["seed"]), version=row["version"], **values)
    except (KeyError, ValueError, TypeError) as error:
        raise NALMError(f"{path} has a row that is not a run ({error}): {str(row)[:80]}.") from None
