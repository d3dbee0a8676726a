"""Reduce the published runs of the arithmetic dataset task (Madsen 2020) to what the tests need.

Run as ``python scripts/reduce_published.py RUNS.csv``, where RUNS.csv holds one row for each run: model, operation,
solved, extrapolation.step.solved and sparse.error.max, as in the results of stable-nalu. Writes
tests/data/published_runs.csv, the solved runs, and tests/data/published_intervals.csv, what the authors made of
them, from the published numbers in nalm/data/claims/madsen2020.csv.
"""

import csv
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parent.parent
DATA = ROOT / "tests" / "data"
NUMBERS = ROOT / "nalm" / "data" / "claims" / "madsen2020.csv"
SOURCE = "AndreasMadsen/stable-nalu:paper/results/sft-short.csv"
# the names of the runs' file for those of the library
MODELS = {"NAC": "NAC+", "NACMul": "NAC*", "NACMulSigmoid": "NAC*_sigma", "NACMulClamped": "NAC*_NMU"}
OPERATIONS = {"subtract": "sub", "multiply": "mul", "divide": "div", "square": "squared"}


def main(path: Path) -> None:
    """Write both files."""
    runs = read(path)
    solved = [run for run in runs if run["solved"] == "True"]  # others may have a step, but not at their best
    write(
        DATA / "published_runs.csv",
        ("model", "operation", "solved_at", "sparsity"),
        [(run["model"], run["operation"], *shortened(run)) for run in solved],
    )
    sizes = Counter((run["model"], run["operation"]) for run in runs)
    rows = []
    for row in read(NUMBERS):
        if row["file"] == SOURCE:
            model = MODELS.get(row["unit"], row["unit"])
            operation = OPERATIONS.get(row["operation"], row["operation"])
            numbers = (row[name] for name in ("metric", "value", "low", "high"))
            rows.append((sizes[model, operation], model, operation, *numbers))
    names = ("runs", "model", "operation", "metric", "value", "low", "high")
    write(DATA / "published_intervals.csv", names, rows)


def shortened(run: dict[str, str]) -> tuple[str, str]:
    """Return the step as a whole number, and the sparsity error with the nine digits of single precision."""
    return f"{float(run['extrapolation.step.solved']):.0f}", f"{float(run['sparse.error.max']):.9g}"


def read(path: Path) -> list[dict[str, str]]:
    """Read the rows of a table."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def write(path: Path, names: tuple[str, ...], rows: list[tuple[object, ...]]) -> None:
    """Write a table with its header."""
    with path.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(names)
        table.writerows(rows)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
