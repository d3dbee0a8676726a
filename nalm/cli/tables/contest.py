"""Tables of units compared within one folder, for a terminal."""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.table import Table
from rich.text import Text

from nalm.cli.tables.grid import grid
from nalm.cli.tables.numbers import rate
from nalm.cli.tables.verdicts import lead, safe
from nalm.results.compare import LEVEL
from nalm.results.contest import Contest
from nalm.results.counted import Counted
from nalm.results.ranking import Standing

Group = tuple[str, str, int]  # experiment, operation, inputs
PAIRED = (
    "Differences are the first minus the second, in pairs of equal task and seed: Newcombe's and Student's 95% "
    "intervals, p of McNemar's and Wilcoxon's exact tests after Holm's correction over the tasks."
)
PLACES = (
    "The place of a unit is 1 plus the number of units that are solved significantly more often: McNemar's exact "
    "test in pairs of equal task and seed, Holm's correction over all pairs of units."
)
COUNTED = (
    "With all runs that were counted, more than can be paired: shares with Wilson's 95% intervals, p of Fisher's exact "
    "test after Holm's correction over the tasks."
)
TIES = 3  # units that are named as not told apart; the others are counted
SHOWN = 5  # models that are named as left out


def compared(found: Contest) -> Iterator[Table | Text]:
    """Show two units task by task, then the result over all of them in one sentence."""
    table = grid()
    table.add_column("task", overflow="fold", ratio=1)
    titles = (
        safe(found.first),
        safe(found.second),
        "solved, difference",
        "step, difference",
        "only one",
        "seeds to tell",
    )
    for title in titles:
        table.add_column(title, no_wrap=True)
    for p in found.pairings:
        table.add_row(
            Text(safe(p.spot.name)),
            *(Text.assemble(f"{rate.estimate:.2f}", "\n", (f"n {rate.n}", "dim")) for rate in (p.a, p.b)),
            lead(p.success, p.success_p),
            lead(p.steps, p.steps_p),
            f"+{p.gained} -{p.lost}",
            "" if p.needed is None else f"{p.needed:,}",
        )
    yield table
    yield Text(safe(found.verdict))
    if found.alone:
        yield Text(f"{found.alone} tasks that only one of them has runs of are left out.")
    if found.left:
        models = ", ".join(found.left[:SHOWN]) + (
            f" and {len(found.left) - SHOWN} more" if len(found.left) > SHOWN else ""
        )
        yield Text(safe(f"Models with one of them and no counterpart with the other are left out: {models}."))
    yield Text(PAIRED)


def counted(rows: Sequence[Counted], first: str, second: str) -> Iterator[Table | Text]:
    """Show two units by the success of all runs that were counted, where these are more than the pairs."""
    if not rows:
        return
    yield Text(COUNTED)
    table = grid()
    table.add_column("task", overflow="fold", ratio=1)
    for title in (safe(first), safe(second), "p, corrected"):
        table.add_column(title, no_wrap=True)
    for row in rows:
        rates = (Text.assemble(rate(share), "\n", (f"n {share.n}", "dim")) for share in (row.a, row.b))
        shade = "" if row.corrected >= LEVEL else "bold"
        table.add_row(Text(safe(row.spot.name)), *rates, Text(f"{row.corrected:.2g}", shade))
    yield table


def ranked(places: Mapping[Group, Sequence[Standing]]) -> Iterator[Table | Text]:
    """Show the units of each study by place; those that cannot be told apart share it."""
    if not places:
        yield Text("There are no two units with the same tasks here to rank: train several with one command.")
        return
    for (experiment, operation, inputs), rows in places.items():
        yield Text(safe(f"{experiment}: {operation}, {inputs} inputs, {rows[0].tasks} ranges"), "bold")
        table = grid()
        table.add_column("place", justify="right", no_wrap=True)
        table.add_column("unit", overflow="fold")
        for title in ("solved [95%]", "runs", "median step"):
            table.add_column(title, no_wrap=True)
        table.add_column("not told from", overflow="fold", ratio=1)
        for s in rows:
            step = "" if math.isnan(s.median.estimate) else f"{s.median.estimate:,.0f}"
            cells = (str(s.place), s.label, rate(s.success), str(s.success.n), step, _ties(s.ties))
            table.add_row(*(Text(safe(cell)) for cell in cells))
        yield table
    yield Text(PLACES)


def _ties(ties: Sequence[str]) -> str:
    more = f" and {len(ties) - TIES} more" if len(ties) > TIES else ""
    return ", ".join(ties[:TIES]) + more


def plain(group: Group, rows: Sequence[Standing]) -> dict[str, Any]:
    """Return a ranking as JSON takes it."""
    experiment, operation, inputs = group
    units = [
        {
            "unit": s.label,
            "place": s.place,
            "success": s.success.plain(),
            "median": s.median.plain(),
            "not_told_from": list(s.ties),
        }
        for s in rows
    ]
    return {"experiment": experiment, "operation": operation, "inputs": inputs, "units": units}
