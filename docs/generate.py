"""Writes the parts of the site that are computed: tables and figures of measured numbers, and pages of units.

Every number comes from the shipped results or from the units themselves. Usage: python docs/generate.py
"""

import json
from collections import defaultdict
from pathlib import Path

import future
import future_figures
import law_trials
from tables import table

from nalm.experiments.thesis.ch3 import RANGES
from nalm.formulas.capabilities import capability
from nalm.lab.measured import shipped_rows
from nalm.lab.suggest import suggest
from nalm.operations import OPERATIONS
from nalm.report.drawing import draw
from nalm.units import UNITS, Unit

BASIC = ("add", "subtract", "multiply", "divide")
BENCHMARKS = (
    "ladder",
    "laws",
    "feynman",
    "feynman-contest",
    "composition",
    "ode",
    "attached",
    "noisy",
    "noisy-rivals",
    "rounded",
    "empirical",
)  # files under results/beyond
UNIT_PAGE = """# {name}

```{{raw}} html
:file: {name}.svg
```

```{{eval-rst}}
.. autoclass:: nalm.{name}
```

{facts}

## Measured

Runs of the shipped experiments with this unit; `nalm suggest` compares units on your range.

{measured}
"""


def write(root: Path, folder: Path) -> None:
    """Write all parts under a folder; ``root`` is the checkout."""
    beyond = root / "results" / "beyond"
    _put(folder / "tables" / "which_unit.md", which_unit())
    _put(folder / "tables" / "which_loss.md", which_loss())
    _put(folder / "tables" / "contest.md", contest(json.loads((beyond / "laws.json").read_text("utf-8"))))
    _put(folder / "tables" / "trials.md", trials(json.loads((beyond / "ladder.json").read_text("utf-8"))))
    _put(folder / "tables" / "benchmarks.md", benchmarks(beyond))
    for name, table_of in {**future.TABLES, **law_trials.TABLES}.items():
        _put(folder / "tables" / f"{name}.md", table_of())
    for name in future_figures.FIGURES:
        _put(folder / "figures" / f"future_{name}.svg", future_figures.svg(name))
    for name, unit in UNITS.items():
        _put(folder / "units" / f"{name}.svg", draw(unit))
        _put(folder / "units" / f"{name}.md", unit_page(unit))


def which_unit() -> str:
    """Return the best measured unit for each basic operation and range of chapter 3 of the thesis, as a table."""
    lines = []
    for operation in BASIC:
        for train, _ in RANGES:
            rows = [
                row
                for row in shipped_rows()
                if (row["operation"], row["train"], row["inputs"]) == (operation, str(train), 2)
            ]
            found = suggest(operation, train.low, train.high, rows=rows).best
            if found is None:
                continue
            s = found.success
            solved = f"{round(s.estimate * s.n):,} of {s.n:,}"
            interval = f"{s.low:.3f}–{s.high:.3f}"
            step = f"{found.median.estimate:,.0f}" if s.estimate else ""
            unit = f"[{found.unit}](generated/units/{found.unit}.md)" if found.unit in UNITS else found.unit
            lines.append((operation, f"`{train}`", unit, solved, interval, step, f"`{found.experiment}`"))
    head = (
        "operation",
        "inputs in training",
        "best unit",
        "solved runs",
        "95 % interval",
        "median step",
        "from",
    )
    return table(head, lines)


def which_loss() -> str:
    """Return the solved runs by loss, on the tasks that the papers report as unsolved, as a table."""
    rows = [row for row in shipped_rows() if row["experiment"] == "beyond/losses"]
    losses = sorted({row["loss"] for row in rows})
    counts: dict[tuple[str, str, int], dict[str, list[int]]] = defaultdict(dict)
    for row in rows:
        cell = counts[row["operation"], row["unit"], row["inputs"]].setdefault(row["loss"], [0, 0])
        cell[0] += round(row["success"]["estimate"] * row["success"]["n"])
        cell[1] += row["success"]["n"]
    lines = [
        (operation, unit, str(inputs), *(" of ".join(map(str, cells.get(loss, ()))) for loss in losses))
        for (operation, unit, inputs), cells in counts.items()
    ]
    return table(("operation", "units", "inputs", *(f"`{loss}`" for loss in losses)), lines)


def contest(shipped: dict) -> str:
    """Return what the verdicts were worth in the contest of physical laws, as a table."""
    ours = [row for row in shipped["totals"] if row["rival"] == "nalm"]
    keys = ("problems", "exact", "certified", "false_exact", "consistent", "false_consistent")
    lines = [(row["suite"], row["part"], row["variant"], *(f"{row[k]:,}" for k in keys)) for row in ours]
    lines.append(("**all**", "", "", *(f"{sum(row[k] for row in ours):,}" for k in keys)))
    return table(
        (
            *("suite", "part", "variant", "problems", "law found", "verdict exact", "exact, but wrong"),
            *("verdict consistent", "consistent, but far off"),
        ),
        lines,
    )


def trials(shipped: dict) -> str:
    """Return the certificates of the trials of the ladder by suite, as a table."""
    suites: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0])
    for row in shipped["totals"]:
        for index, key in enumerate(("problems", "certified", "right")):
            suites[row["suite"]][index] += row[key]
    lines = [(suite, *(f"{count:,}" for count in counts)) for suite, counts in suites.items()]
    return table(("suite", "problems", "certified", "right"), lines)


def benchmarks(beyond: Path) -> str:
    """Return the command, cost and date of every shipped benchmark, as a table."""
    lines = []
    for name in BENCHMARKS:
        about = json.loads((beyond / f"{name}.json").read_text("utf-8"))["about"]
        lines.append(
            (f"`results/beyond/{name}`", f"`{about['command']}`", f"{about['seconds']:,.0f} s", about["date"])
        )
    return table(("results", "command", "took", "date"), lines)


def unit_page(unit: type[Unit]) -> str:
    """Return the page of one unit: drawing, docstring, capabilities and measured runs."""
    can = capability(unit)
    facts = [
        f"Operations: {', '.join(can.operations)}.",
        f"Right for negative inputs: {'yes' if can.negative else 'no'}.",
        f"Parameters for I inputs and O outputs: {can.parameters}.",
    ]
    counts: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0])
    for row in shipped_rows():
        if row["unit"] == unit.__name__ and row["operation"] in OPERATIONS:
            count = counts[row["operation"]]
            count[0] += 1
            count[1] += round((row["success"]["estimate"] or 0) * row["success"]["n"])
            count[2] += row["success"]["n"]
    lines = [(name, *(f"{n:,}" for n in counts[name])) for name in OPERATIONS if name in counts]
    measured = (
        table(("operation", "cases", "solved runs", "runs"), lines) if lines else "Nothing is shipped.\n"
    )
    return UNIT_PAGE.format(name=unit.__name__, facts=" ".join(facts), measured=measured)


def _put(path: Path, text: str) -> None:
    """Write a file if its text changed, so that Sphinx reads only changed pages again."""
    if not path.is_file() or path.read_text("utf-8") != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")


if __name__ == "__main__":
    write(Path(__file__).parent.parent, Path(__file__).parent / "generated")
