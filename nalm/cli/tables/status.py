"""Tables and sentences of `nalm status`."""

from collections.abc import Iterator
from typing import Any

from rich.markup import escape
from rich.table import Table

from nalm.cli.tables.grid import grid


def tables(found: dict[str, Any]) -> Iterator[Table | str]:
    """Show the experiments of a results folder, then running processes and unfinished runs."""
    table = grid(
        "experiment", "cases", "runs", "solved", "unsolved", "diverged", title=f"In {escape(found['folder'])}"
    )
    for row in found["experiments"]:
        names = ("experiment", "cases", "runs", "solved", "unsolved", "diverged")
        table.add_row(*(escape(f"{row[n]:,}" if isinstance(row[n], int) else row[n]) for n in names))
    yield table
    for process in found["working"]:
        yield f"Running for {process['since']:.0f} s: {escape(process['command'])}"
    for checkpoint in found["checkpoints"]:
        yield f"{checkpoint['runs']} runs are in a checkpoint; repeat their command to resume them."
    for n in found["networks"]:
        yield escape(f"{n['case']}, seed {n['seed']}, is at step {n['at']:,} of {n['steps']:,}.")
    if found["begun"]:
        many = "1 run was" if found["begun"] == 1 else f"{found['begun']:,} runs were"
        yield f"{many} started and not finished; repeat the command to resume."
    if not any(found[name] for name in ("working", "checkpoints", "networks", "begun")):
        yield "No process is running here and no run is unfinished."
