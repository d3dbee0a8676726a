"""Tables of single runs for a terminal: the cases of a folder, the runs of a case, one run in full."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from rich.table import Table
from rich.text import Text

from nalm.cli.tables.grid import grid
from nalm.cli.tables.verdicts import safe
from nalm.cli.textplot import scatter
from nalm.config import Case
from nalm.config.labels import recipe_words
from nalm.report.sections.failures import outcome
from nalm.results.runs import Outcome
from nalm.results.store import Arrays

ROWS = 6  # steps at which weights are shown
WEIGHTS = 8  # numbers of a weight that are shown


def cases(outcomes: Sequence[Outcome], names: Mapping[Case, str]) -> Table:
    """Show every case with its key, by which `nalm show FOLDER KEY` shows its runs."""
    table = _table("case", "model", "task", "runs", "solved")
    groups: dict[Case, list[Outcome]] = {}
    for o in outcomes:
        groups.setdefault(o.case, []).append(o)
    for case, runs in groups.items():
        task = f"{case.operation} {case.train}, {case.inputs} inputs"
        row = (case.key, names[case], task, str(len(runs)), str(sum(o.solved for o in runs)))
        table.add_row(*(Text(safe(cell)) for cell in row))
    return table


def runs(found: Sequence[Outcome]) -> Table:
    """Show the runs of a case: how each ended, and its formula."""
    table = _table("seed", "ended", "solved at", "test error", "sparsity", "formula")
    for o in found:
        at = "" if o.solved_at is None else f"{o.solved_at:,}"
        row = (str(o.seed), outcome(o), at, f"{o.test:.3g}", f"{o.sparsity:.2g}", o.formula)
        table.add_row(*(Text(safe(cell)) for cell in row))
    return table


def one(o: Outcome, arrays: Arrays, name: str) -> Iterator[Table | Text]:
    """Show one run in full: its recipe, how it ended, its curve, and its weights from the start to the end."""
    case = o.case
    yield Text(
        safe(f"{name}, seed {o.seed}: {case.operation} of {case.inputs} inputs, {case.train} to {case.test}"),
        "bold",
    )
    yield Text(safe(f"Recipe: {recipe_words(case.recipe)}."))
    when = f" at step {o.solved_at:,}" if o.solved and o.solved_at is not None else ""
    limit = f"test error {o.test:.3g} at step {o.best_step:,}, threshold {o.threshold:.3g}"
    yield Text(safe(f"Ended: {outcome(o)}{when} ({limit}); sparsity error {o.sparsity:.2g}."))
    if o.formula:
        yield Text(safe(f"Formula: {o.formula}"))
    steps, errors = arrays["steps"], arrays["test"]
    errors = np.maximum(errors, errors[errors > 0].min(initial=1.0) / 10)  # of 0 there is no logarithm
    yield Text(
        "\n".join(scatter(steps, np.log10(errors), title="log10 of the test error over steps", width=60))
    )
    paths = {n.removeprefix("trajectories."): v for n, v in arrays.items() if n.startswith("trajectories.")}
    yield _weights(steps, paths) if paths else _final(arrays)
    yield Text(
        safe(
            f"{o.steps:,} steps in {o.seconds:.2g} s ({o.mode}, {o.device}), with {o.neighbours} runs at once."
        )
    )


def _weights(steps: np.ndarray, paths: Mapping[str, np.ndarray]) -> Table:
    """Show the weights at some evaluations; the first row is the start that the seed draws."""
    table = _table("step", *map(safe, paths))
    for k in np.unique(np.linspace(0, len(steps) - 1, min(ROWS, len(steps))).round().astype(int)):
        table.add_row(f"{int(steps[k]):,}", *(Text(_numbers(path[k])) for path in paths.values()))
    return table


def _final(arrays: Arrays) -> Table:
    table = _table("weight", "at the end")
    for name, values in arrays.items():
        if name.startswith("weights."):
            table.add_row(Text(safe(name.removeprefix("weights."))), Text(_numbers(values)))
    return table


def _numbers(values: np.ndarray) -> str:
    shown = ", ".join(f"{v:.4g}" for v in values.flatten()[:WEIGHTS])
    return shown + (f", ... ({values.size})" if values.size > WEIGHTS else "")


def _table(*titles: str) -> Table:
    table = grid()
    for title in titles:
        table.add_column(title, overflow="fold")
    return table
