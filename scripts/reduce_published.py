"""Reduce the published runs and intervals of the arithmetic dataset task to what the tests need.

Run as ``python scripts/reduce_published.py SPEC``, SPEC being the folder with the two published files.
Writes tests/data/published_runs.csv, the solved runs, and tests/data/published_intervals.csv.
"""

import csv
import sys
from collections import Counter
from pathlib import Path

DATA = Path(__file__).parent.parent / "tests" / "data"
SOURCE = "AndreasMadsen/stable-nalu:paper/results/sft-short.csv"


def main(spec: Path) -> None:
    """Write both files."""
    runs = read(spec / "published_per_run_arithmetic_dataset.csv")
    solved = [run for run in runs if run["solved"] == "True"]  # some others have a step: not at their best
    write(
        DATA / "published_runs.csv",
        ("model", "operation", "solved_at", "sparsity"),
        [(run["model"], run["operation"], *shortened(run)) for run in solved],
    )
    sizes = Counter((run["model"], run["operation"]) for run in runs)
    rows = [row for row in read(spec / "published_results.csv") if row["source"] == SOURCE]
    kept = ("module", "operation", "metric", "value", "ci_low", "ci_high")
    write(
        DATA / "published_intervals.csv",
        ("runs", "model", "operation", "metric", "value", "low", "high"),
        [(sizes[row["module"], row["operation"]], *(row[name] for name in kept)) for row in rows],
    )


def shortened(run: dict[str, str]) -> tuple[str, str]:
    """The step, which is whole, and the sparsity error, of which single precision has nine digits."""
    return f"{float(run['extrapolation.step.solved']):.0f}", f"{float(run['sparse.error.max']):.9g}"


def read(path: Path) -> list[dict[str, str]]:
    """The rows of a table."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def write(path: Path, names: tuple[str, ...], rows: list[tuple[object, ...]]) -> None:
    """A table with its header."""
    with path.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(names)
        table.writerows(rows)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
