"""Tallies as files: per experiment a CSV file with one row per case, and a JSON file about their origin."""

import csv
import io
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from nalm.config import Case
from nalm.config.labels import labels
from nalm.errors import NALMError
from nalm.results import curve_files
from nalm.results import files as shipped
from nalm.results.store import Store
from nalm.results.tally import ERRORS, LEVELS, Spread, Tally, tallies
from nalm.stats import Interval

COUNTS = ("runs", "solved", "diverged", "not_finite")
ENDS = ("estimate", "low", "high", "n", "method")
MEANS = {"sparsity_mean": "sparsity", "sparsity_published": "sparsity_published"}  # column -> field
DIGITS = 7
FORMULAS = 5  # that are written, the commonest
MOST = 10**7  # runs of a case, far beyond what anybody trains
SOLVED = "solved_seeds"  # a hexadecimal number whose bits say which seeds are solved, the first seed first


def header() -> list[str]:
    """Return the columns of a table of tallies."""
    quantiles = [f"{name}_{level}" for name in ERRORS for level in (*LEVELS, "median_low", "median_high")]
    means = [f"{name}_{end}" for name in MEANS for end in ENDS]
    about = ("case", "label", "operation", "train", "inputs", "seeds")
    last = ("threshold_low", "threshold_high", "formulas", "steps", "seconds", SOLVED)
    return [*about, *COUNTS, "solved_at", *quantiles, *means, "sparsity_sd", *last]


def table(found: Sequence[Tally]) -> str:
    """Format tallies as CSV."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header())
    names = labels(tally.case for tally in found)
    writer.writerows(_line(tally, names[tally.case]) for tally in found)
    return text.getvalue()


def _line(tally: Tally, label: str) -> list[Any]:
    case = tally.case
    seeds = " ".join(f"{first}:{end}" for first, end in tally.seeds)
    steps = " ".join(f"{step}:{count}" for step, count in tally.solved_at.items())
    quantiles: list[float | str] = []
    for name in ERRORS:
        spread = tally.errors[name]
        quantiles += spread.quantiles or [""] * len(LEVELS)
        quantiles += [spread.median.low, spread.median.high] if spread.quantiles else ["", ""]
    means = [getattr(getattr(tally, field), end) for field in MEANS.values() for end in ENDS]
    values = [
        *(case.key, label, case.operation, str(case.train), case.inputs, seeds),
        *(getattr(tally, name) for name in COUNTS),
        *(steps, *quantiles, *means, tally.sparsity_sd, *tally.thresholds),
        *(json.dumps(tally.formulas[:FORMULAS], ensure_ascii=False), tally.steps, tally.seconds),
        _bits(tally),
    ]
    return [f"{v:.{DIGITS}g}" if isinstance(v, float) else v for v in values]


def ship(store: Store, experiment: str, folder: Path) -> Path:
    """Write the tallies of one experiment of a store as files under a folder; return the path of the table."""
    outcomes = shipped.finished(store, experiment)
    path = shipped.target(store, experiment, folder).with_suffix(shipped.TALLY)
    origin = shipped.origin(store, experiment, outcomes)
    shipped.write({path: table(tallies(outcomes)), path.with_suffix(".json"): shipped.described(origin)})
    return path


def read(path: Path) -> list[Tally]:
    """Read the tallies of a shipped table."""
    cases = shipped.cases_of(path)
    needed = [name for name in header() if name != SOLVED]  # a later column
    return [_tally(row, shipped.case_of(row, cases, path), path) for row in curve_files.rows(path, needed)]


def _tally(row: dict[str, str], case: Case, path: Path) -> Tally:
    try:
        if None in row.values():
            raise ValueError("it has too few columns")
        found = Tally(
            case=case,
            seeds=tuple(_pairs(row["seeds"])),
            runs=int(row["runs"]),
            solved=int(row["solved"]),
            diverged=int(row["diverged"]),
            not_finite=int(row["not_finite"]),
            solved_at=dict(_pairs(row["solved_at"])),
            errors={name: _spread(row, name) for name in ERRORS},
            sparsity=_interval(row, "sparsity_mean"),
            sparsity_published=_interval(row, "sparsity_published"),
            sparsity_sd=float(row["sparsity_sd"]),
            thresholds=(float(row["threshold_low"]), float(row["threshold_high"])),
            formulas=tuple((str(text), int(count)) for text, count in json.loads(row["formulas"])),
            steps=int(row["steps"]),
            seconds=float(row["seconds"]),
            solved_seeds=_seeds(row.get(SOLVED) or "", tuple(_pairs(row["seeds"]))),
        )
        if found.solved_seeds is not None and len(found.solved_seeds) != found.solved:
            raise ValueError("its solved seeds contradict their number")
        counts = found.solved_at.values()
        if not (all(n > 0 for n in counts) and sum(counts) <= found.solved <= found.runs <= MOST):
            raise ValueError("its counts contradict each other")
        return found
    except (KeyError, ValueError, TypeError) as error:
        raise NALMError(f"{path} has a row that is not a tally ({error}): {str(row)[:80]}.") from None


def _pairs(text: str) -> Iterable[tuple[int, int]]:
    """Parse "0:3 7:9"."""
    for pair in text.split():
        first, _, second = pair.partition(":")
        yield int(first), int(second)


def _bits(tally: Tally) -> str:
    """Write which seeds are solved."""
    flags = [solved for _, solved in sorted(tally.by_seed.items())]
    return (
        "" if tally.solved_seeds is None else f"{sum(1 << i for i, solved in enumerate(flags) if solved):x}"
    )


def _seeds(text: str, spans: Iterable[tuple[int, int]]) -> tuple[int, ...] | None:
    """Read which seeds are solved."""
    if not text:
        return None
    bits = int(text, 16)
    seeds = [seed for first, end in spans if 0 <= end - first <= MOST for seed in range(first, end)]
    if bits < 0 or bits >> len(seeds):
        raise ValueError("it has solved seeds that were not run")
    return tuple(seed for i, seed in enumerate(seeds) if bits >> i & 1)


def _spread(row: dict[str, str], name: str) -> Spread:
    texts = [row[f"{name}_{level}"] for level in LEVELS]
    if not all(texts):
        return Spread.of([])
    quantiles = tuple(map(float, texts))
    low, high = (float(row[f"{name}_median_{end}"]) for end in ("low", "high"))
    runs = int(row["solved" if name == "sparsity" else "runs"])
    middle = quantiles[LEVELS.index(50)]
    return Spread(quantiles, Interval(middle, low, high, runs, "median, order statistics"))


def _interval(row: dict[str, str], column: str) -> Interval:
    estimate, low, high = (float(row[f"{column}_{end}"]) for end in ENDS[:3])
    return Interval(estimate, low, high, int(row[f"{column}_n"]), row[f"{column}_method"])
