"""Tables of nalm compare and nalm suggest for a terminal; names are printed as text, never as markup."""

import math
from collections.abc import Iterator, Mapping, Sequence

from rich.table import Table
from rich.text import Text

from nalm.cli.tables.grid import grid
from nalm.cli.tables.numbers import rate
from nalm.config import Case
from nalm.experiments.names import names
from nalm.lab.suggest import Measured, Suggestion
from nalm.results.compare import LEVEL, Change
from nalm.stats import Difference, Interval

TOTALS = ("agrees", "differs", "cannot tell", "not run", "left out", "no rule")  # columns, in this order
LINES = 30  # cases in a table; the rest is counted


def safe(text: str) -> str:
    """Replace characters that would move the cursor of a terminal or end a line."""
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)


def changes(found: Sequence[Change]) -> Iterator[Table | Text]:
    """Show the cases that are not identical, the most changed first, then their number in one sentence."""
    shown = [c for c in found if not c.identical]
    if shown:
        yield _table(shown[:LINES])
    if len(shown) > LINES:
        yield Text(f"... and {len(shown) - LINES} more; --json lists all.")
    yield Text(count(found))


def count(found: Sequence[Change]) -> str:
    """Return a sentence that says how many of the compared cases changed."""
    compared = [c for c in found if c.seeds]
    parts = [f"{sum(c.changed for c in compared)} of {len(compared)} cases changed (Holm's p < {LEVEL:g})"]
    notes = {
        "identical": sum(c.identical for c in found),
        "only in A": sum(c.missing == "B" for c in found),
        "only in B": sum(c.missing == "A" for c in found),
        "without a common seed": sum(not c.seeds and not c.missing for c in found),
    }
    return "; ".join(parts + [f"{n} {words}" for words, n in notes.items() if n]) + "."


def _table(found: Sequence[Change]) -> Table:
    table = grid()
    table.add_column("case", overflow="fold", ratio=1)
    for name in ("A", "B", "solved, B - A", "step, B - A", ""):
        table.add_column(name, no_wrap=True)
    called = _names(found)
    for c in found:
        where = f"{c.case.train}, {c.case.inputs} inputs"
        label = Text.assemble(safe(f"{called[c.case]} {c.case.operation}"), "\n", (safe(where), "dim"))
        table.add_row(
            label, _rate(c.a), _rate(c.b), lead(c.success, c.success_p), lead(c.steps, c.steps_p), _mark(c)
        )
    return table


def _names(found: Sequence[Change]) -> dict[Case, str]:
    """Name cases as the experiment of each does."""
    by_experiment: dict[str, list[Case]] = {}
    for c in found:
        by_experiment.setdefault(c.experiment, []).append(c.case)
    return {case: name for e, cases in by_experiment.items() for case, name in names(e, cases).labels.items()}


def _rate(share: Interval | None) -> Text:
    return (
        Text("") if share is None else Text.assemble(f"{share.estimate:.2f}", "\n", (f"n {share.n}", "dim"))
    )


def lead(difference: Difference | None, p: float) -> Text:
    """Return a difference, its p and its interval as a cell."""
    if difference is None:
        return Text("")
    first = Text(f"{_number(difference.estimate)}, p {p:.2g}", "" if p >= LEVEL else "bold")
    known = not math.isnan(difference.low)
    ends = f"[{_number(difference.low)},{_number(difference.high)}]" if known else ""
    return Text.assemble(first, "\n", (ends, "dim"))


def _number(value: float) -> str:
    """Format a difference in few characters: +0.24, -1,200, +2.1e+06."""
    size = abs(value)
    return f"{value:+.2f}" if size < 10 else f"{value:+,.0f}" if size < 1e5 else f"{value:+.1e}"


def _mark(c: Change) -> Text:
    if c.missing:
        return Text("only in B" if c.missing == "A" else "only in A", "dim")
    words = [f"+{c.gained} -{c.lost}"] if c.flipped else []
    words += [f"{n} only {side}" for side, n in (("A", c.only_a), ("B", c.only_b)) if n]
    first = Text("changed", "yellow") if c.changed else Text("")
    return Text("\n").join([first, *map(Text, words)]) if c.changed or words else first


def totals(counts: Mapping[str, Mapping[str, int]]) -> Table:
    """Show how many published numbers of each paper, and of all, have each verdict."""
    words = [word for word in TOTALS if any(of.get(word) for of in counts.values())]
    table = grid(footer=True)
    table.add_column("published in", Text("all"), no_wrap=True)
    for word in words:
        total = sum(of.get(word, 0) for of in counts.values())
        table.add_column(word, Text(f"{total:,}"), justify="right", no_wrap=True)
    for paper, of in counts.items():
        if any(of.values()):
            table.add_row(Text(safe(paper)), *(f"{of.get(word, 0):,}" for word in words))
    return table


def suggestion(found: Suggestion) -> Iterator[Table | Text]:
    """Show the suggestion in one sentence, then the results behind it."""
    yield Text(safe(found.sentence))
    if found.best is None:
        return
    table = grid()
    table.add_column("unit", overflow="fold", ratio=1)
    for name in ("solved [95%]", "runs", "median step", "cost of a run"):
        table.add_column(name, no_wrap=True)
    for m in (found.best, *found.others):
        table.add_row(*(Text(safe(cell)) for cell in _row(m)))
    yield table


def _row(m: Measured) -> tuple[str, ...]:
    steps = "never" if math.isnan(m.median.estimate) else f"{m.median.estimate:,.0f}"
    return m.unit, rate(m.success), str(m.n), steps, f"{m.seconds:.2g} s on {', '.join(m.device)}"
