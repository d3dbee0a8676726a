"""Join shipped results: python scripts/join_results.py NEW INTO, with folders that ``nalm export --to`` wrote.

Runs, curves and tallies of NEW are added to those of INTO. Where both have a run, or the tally of a case, that of NEW
is kept. Use it to ship an experiment whose runs come from several machines, if their results files are not at hand.
"""

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from nalm.config import Case
from nalm.errors import NALMError
from nalm.results import curve_files, tally_files
from nalm.results import files as shipped

LISTS = ("command", "nalm", "torch", "python", "device", "engine")  # of an origin, whose entries are joined
Row = TypeVar("Row")


def join(new: Path, into: Path) -> list[Path]:
    """Join the results of a folder into those of another one; return the tables that were written."""
    pairs = [(path, _runs) for path in shipped.experiments(new).values()]
    pairs += [(path, _tallies) for path in shipped.tallied(new).values()]
    if not pairs:
        raise NALMError(f"{new} has no shipped results: name a folder that nalm export --to wrote.")
    written = []
    for path, rows in pairs:
        old = into / path.relative_to(new)
        shipped.write(rows(path, old))
        written.append(old)
    return written


def _runs(new: Path, old: Path) -> dict[Path, str]:
    """Return the files of the runs of both tables."""
    found = _joined(shipped.read, new, old, lambda o: (o.case.key, o.seed))
    order = {key: place for place, key in enumerate(dict.fromkeys(o.case.key for o in found))}
    found.sort(key=lambda o: (order[o.case.key], o.seed))
    curves = {**(shipped.curves(old) if old.is_file() else {}), **shipped.curves(new)}
    lines = [(*key, curves[key]) for o in found if (key := (o.case.key, o.seed)) in curves]
    totals = {
        "runs": len(found),
        "seconds": round(sum(o.seconds for o in found), 1),
        "run_steps": sum(o.steps for o in found),
    }
    return {
        old: shipped.table(found),
        old.with_suffix(shipped.CURVES): curve_files.text(lines),
        old.with_suffix(".json"): _origin(new, old, [o.case for o in found], totals),
    }


def _tallies(new: Path, old: Path) -> dict[Path, str]:
    """Return the files of the tallies of both tables."""
    found = _joined(tally_files.read, new, old, lambda t: t.case.key)
    totals = {
        "runs": sum(t.runs for t in found),
        "seconds": round(sum(t.seconds for t in found), 1),
        "run_steps": sum(t.steps for t in found),
    }
    return {
        old: tally_files.table(found),
        old.with_suffix(".json"): _origin(new, old, [t.case for t in found], totals),
    }


def _joined(
    read: Callable[[Path], Sequence[Row]], new: Path, old: Path, key: Callable[[Row], Any]
) -> list[Row]:
    """Return the rows of both tables; of those with the same key, the new one."""
    both = [*(read(old) if old.is_file() else []), *read(new)]
    return list({key(row): row for row in both}.values())


def _origin(new: Path, old: Path, cases: Iterable[Case], totals: Mapping[str, float]) -> str:
    """Return the origin of both tables as JSON."""
    latest = shipped.about(new)
    both = [latest, *([shipped.about(old)] if old.is_file() else [])]
    lists = {name: sorted({entry for about in both for entry in about[name]}) for name in LISTS}
    unique = {case.key: case.brief() for case in cases}
    date = max(about["date"] for about in both)
    return shipped.described({**latest, **lists, **totals, "date": date, "cases": list(unique.values())})


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("Usage: python scripts/join_results.py NEW INTO")
    try:
        for table in join(*map(Path, sys.argv[1:])):
            print(table)
    except NALMError as error:
        sys.exit(str(error))
