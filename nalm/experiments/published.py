"""Published numbers: the package's table of them, and the cases they are about."""

import csv
import functools
import gzip
import importlib.resources
from collections.abc import Iterable, Mapping, Sequence

from nalm.config import Case, Claim

AND = " + "  # between the ranges of a claim about several


@functools.cache
def _table() -> dict[str, list[dict[str, str]]]:
    """Every row of the package's table, made by scripts/claims.py, by its task."""
    packed = importlib.resources.files("nalm.data").joinpath("claims.csv.gz").read_bytes()
    found: dict[str, list[dict[str, str]]] = {}
    for row in csv.DictReader(gzip.decompress(packed).decode().splitlines()):
        found.setdefault(row["task"], []).append(row)
    return found


def claims(
    task: str, operation: str = "", places: Sequence[str] = (), units: Sequence[str] = ()
) -> tuple[Claim, ...]:
    """The claims about a task; optionally of one operation, of places that begin so, of units (or " vs ")."""
    return tuple(
        _claim(row)
        for row in _table().get(task, ())
        if (not operation or row["operation"] == operation)
        and (not places or row["place"].startswith(tuple(places)))
        and (not units or row["unit"] in units or any(u in row["unit"] for u in units if u.startswith(" ")))
    )


def _claim(row: dict[str, str]) -> Claim:
    return Claim(
        row["source"],
        row["metric"],
        float(row["value"]),
        float(row["low"]) if row["low"] else None,
        float(row["high"]) if row["high"] else None,
        int(row["n"]) if row["n"] else None,
        note=row["note"],
        place=row["place"],
        task=row["task"],
        unit=row["unit"],
        operation=row["operation"],
        where=row["where"],
    )


Name = tuple[str, str, str]  # unit, operation and setting, as the table has them


def tied(found: Iterable[Claim], cases: Mapping[Name, Case]) -> tuple[Claim, ...]:
    """Those of the claims that name one of these cases, each tied to it."""
    named = ((claim, (claim.unit, claim.operation, claim.where)) for claim in found)
    return tuple(claim.replace(cases=(cases[name].hash,)) for claim, name in named if name in cases)
