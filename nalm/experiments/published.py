"""Published numbers: one CSV file per paper in nalm/data/claims, and how they are linked to cases.

``papers.csv`` there lists the papers; a paper's numbers are in the file named by its key. CONTRIBUTING.md
explains the columns.
"""

import csv
import functools
import importlib.resources
import math
import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from nalm.config import Case, Claim
from nalm.errors import NALMError

AND = " + "  # between the ranges of a claim about several
COLUMNS = (
    *("task", "unit", "operation", "where", "metric"),
    *("value", "low", "high", "runs", "place", "note", "file", "reason"),
)
Row = dict[str, str]
REQUIRED = ("task", "metric", "value", "place")


@dataclass(frozen=True)
class Paper:
    """A paper whose numbers are in the file ``key``.csv."""

    key: str
    cited_as: str
    authors: str
    year: int | None  # unknown for a draft
    title: str
    link: str  # DOI, arXiv or openreview; empty where none is known


@functools.cache
def papers() -> dict[str, Paper]:
    """Return every paper that numbers were taken from, by its key.

    >>> papers()["heim2020"].title
    'Neural power units'
    """
    return {
        row["key"]: Paper(
            row["key"],
            row["cited as"],
            row["authors"],
            int(row["year"]) if row["year"] else None,
            row["title"],
            row["link"],
        )
        for row in csv.DictReader(_lines("papers"))
    }


def _lines(name: str) -> list[str]:
    path = importlib.resources.files("nalm.data").joinpath("claims", f"{name}.csv")
    try:
        return path.read_text(encoding="utf-8").splitlines()
    except OSError:
        raise NALMError(f"{name} is listed in papers.csv, but there is no {name}.csv beside it.") from None


@functools.cache
def numbers(paper: str) -> tuple[Claim, ...]:
    """Read the published numbers of one paper, in the order of its file.

    >>> numbers("mistry2021")[0].value
    0.853
    """
    return parse(_lines(paper), papers()[paper])


def parse(lines: Iterable[str], paper: Paper) -> tuple[Claim, ...]:
    """Read the lines of a paper's file; an error names the file, the line and the column to correct."""
    return tuple(_claim(row, paper, number) for number, row in _rows(lines, paper))


def _rows(lines: Iterable[str], paper: Paper) -> Iterator[tuple[int, Row]]:
    """Yield the rows of a file with the number of their line, without checking their cells."""
    reader = csv.DictReader(lines)
    if tuple(reader.fieldnames or ()) != COLUMNS:
        raise NALMError(f"{paper.key}.csv needs the columns {','.join(COLUMNS)}; got {reader.fieldnames}.")
    for row in reader:
        yield reader.line_num, row


def _claim(row: Row, paper: Paper, number: int) -> Claim:
    line = f"{paper.key}.csv, line {number}"
    if None in row or None in row.values():
        raise NALMError(f"{line} has not {len(COLUMNS)} cells: put text that holds a comma in quotes.")
    for name in REQUIRED:
        if not row[name]:
            raise NALMError(f"{line} has nothing in the column {name}: fill it in.")
    runs = row["runs"]
    if runs and not (runs.isdecimal() and int(runs)):
        raise NALMError(f"{line} has {runs!r} in the column runs: write a whole number from 1, or nothing.")
    value, low, high = (_number(row[name], name, line) for name in ("value", "low", "high"))
    assert value is not None  # it is required
    return Claim(
        f"{paper.cited_as} ({row['file']})" if row["file"] else paper.cited_as,
        row["metric"],
        value,
        low,
        high,
        int(runs) if runs else None,
        note=row["note"],
        place=row["place"],
        task=row["task"],
        unit=row["unit"],
        operation=row["operation"],
        where=row["where"],
        rows=(_key(paper, number),),
    )


def _key(paper: Paper, number: int) -> str:
    return f"{paper.key}:{number}"


def _number(text: str, name: str, line: str) -> float | None:
    if not text:
        return None
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise NALMError(f"{line} has {text!r} in the column {name}: write a number such as 0.85.")
    return value


@functools.cache
def reasons() -> dict[str, str]:
    """Return, for every row of every paper, why it is not compared with ours; empty where it is.

    >>> len(reasons()) > 5_000, reasons()["heim2020:2"]
    (True, '')
    """
    return {_key(paper, number): row["reason"] for rows in _by_task().values() for row, paper, number in rows}


@functools.cache
def _by_task() -> dict[str, list[tuple[Row, Paper, int]]]:
    """Read the rows of all papers, which is quick; claims are made of those that are needed."""
    found: dict[str, list[tuple[Row, Paper, int]]] = {}
    for key, paper in papers().items():
        for number, row in _rows(_lines(key), paper):
            found.setdefault(row["task"], []).append((row, paper, number))
    return found


@functools.cache
def _about(task: str) -> tuple[Claim, ...]:
    """Return the claims about a task that ours can be compared with."""
    return tuple(_claim(*row) for row in _by_task().get(task, ()) if not row[0]["reason"])


def claims(
    task: str, operation: str = "", places: Sequence[str] = (), units: Sequence[str] = ()
) -> tuple[Claim, ...]:
    """Select the claims about a task, by default all but those with a reason not to be compared.

    ``places`` are beginnings of the place, ``units`` names of units; a unit with a space in front, such as
    " vs ", selects claims whose unit contains it.
    """
    return tuple(
        claim
        for claim in _about(task)
        if (not operation or claim.operation == operation)
        and (not places or claim.place.startswith(tuple(places)))
        and (not units or claim.unit in units or any(u in claim.unit for u in units if u.startswith(" ")))
    )


Name = tuple[str, str, str]  # unit, operation and setting, as the files have them


def tied(found: Iterable[Claim], cases: Mapping[Name, Case]) -> tuple[Claim, ...]:
    """Keep the claims that name one of these cases, each tied to the hash of its case.

    A claim without a unit, such as a threshold, is about all cases of its operation and setting.
    """
    alike: dict[tuple[str, str], list[str]] = {}
    for (_, operation, where), case in cases.items():
        alike.setdefault((operation, where), []).append(case.hash)
    kept = []
    for claim in found:
        own = cases.get((claim.unit, claim.operation, claim.where))
        every = () if claim.unit else tuple(alike.get((claim.operation, claim.where), ()))
        hashes = (own.hash,) if own else every
        if hashes:
            kept.append(claim.replace(cases=hashes))
    return tuple(kept)


def once(found: Iterable[Claim]) -> tuple[Claim, ...]:
    """Join claims that repeat a number about the same runs, rounded to two digits or not; the first one stays.

    >>> a, b = numbers("mistry2021")[0], numbers("mistry2021")[0].replace(value=0.8533, rows=("x:2",))
    >>> [(c.value, c.rows) for c in once([a, b])]
    [(0.853, ('mistry2021:2', 'x:2'))]
    """
    kept: dict[tuple[object, ...], Claim] = {}
    for c in found:
        key = (c.task, c.metric, c.unit, c.operation, c.where, c.cases, c.n, f"{c.value:.2g}")
        first = kept.setdefault(key, c)
        if first is not c:
            kept[key] = first.replace(rows=first.rows + c.rows)
    return tuple(kept.values())


def summed(points: Sequence[Claim], metric: str, value: float, spread: float | None = None) -> Claim:
    """Make the claim that sums up several published points, such as their median; ``spread`` is its ±."""
    return points[0].replace(
        metric=metric,
        value=value,
        low=None if spread is None else value - spread,
        high=None if spread is None else value + spread,
        n=len(points),
        note="computed from the published points",
        where="",
        rows=(),
        points=rows_of(points),
    )


def median(points: Sequence[Claim], metric: str) -> Claim:
    """Make the claim about the median of published points, with their median absolute deviation."""
    middle = statistics.median(c.value for c in points)
    return summed(points, metric, middle, statistics.median(abs(c.value - middle) for c in points))


def rows_of(found: Iterable[Claim]) -> tuple[str, ...]:
    """Return the rows of several claims."""
    return tuple(row for c in found for row in c.rows)
