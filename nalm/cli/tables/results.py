"""Tables of finished runs: success rates, measures, accuracies, sequences by length, compositions, claims."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from rich.markup import escape
from rich.table import Table

from nalm import stats
from nalm.claims import ClaimVerdict
from nalm.claims.lengths import Kind, Length, Row, published, titles
from nalm.claims.rules.images import folds
from nalm.claims.rules.spreads import median_spread
from nalm.cli.tables.grid import grid
from nalm.cli.tables.numbers import few, interval, number
from nalm.config import Case, Claim
from nalm.experiments.names import names as names_of
from nalm.results.runs import Outcome
from nalm.results.summary import Summary

CELL = 10  # characters that a cell such as [.87,1.0] takes


def success(summaries: Sequence[Summary], width: int = 80, experiment: str = "") -> Iterator[Table | str]:
    """Show success rates with 95% intervals, one title and table per task: a row per range, a column per unit.

    A sweep over something other than ranges has a row for each of its values.
    """
    called = names_of(experiment, (s.case for s in summaries))
    names, where, along = called.labels, called.places, called.axis
    tasks: dict[tuple[str, str], list[Summary]] = {}
    for s in summaries:
        tasks.setdefault(
            (s.case.operation, "" if along == "inputs" else f", {s.case.inputs} inputs"), []
        ).append(s)
    for (operation, inputs), group in tasks.items():
        units = list(dict.fromkeys(names[s.case] for s in group))
        ranges = list(dict.fromkeys(where[s.case] for s in group))
        cells = {(names[s.case], where[s.case]): s for s in group}
        each = max(1, (width - max(map(len, ranges)) - 3) // max(CELL, *(len(u) + 1 for u in units)))
        for start in range(0, len(units), each):
            part = units[start : start + each]
            most = max((cells[key].success.n for key in cells if key[0] in part), default=0)
            yield f"{operation}{inputs}: share of {most} runs solved \\[95% interval]"
            table = grid()
            for name in ("trained on" if along == "range" else "", *part):
                table.add_column(name, no_wrap=True)
            for name in ranges:
                table.add_row(name, *(_cell(cells.get((unit, name))) for unit in part))
            yield table


def measures(outcomes: Sequence[Outcome], experiment: str = "") -> Iterator[Table | str]:
    """Show the measures at the end of training: median over runs and median absolute deviation."""
    names = names_of(experiment, (o.case for o in outcomes)).labels
    groups: dict[tuple[str, str], dict[str, list[Outcome]]] = {}
    for o in outcomes:
        groups.setdefault((o.case.operation, str(o.case.train)), {}).setdefault(names[o.case], []).append(o)
    for (operation, train), models in groups.items():
        measured = list(dict.fromkeys(name for runs in models.values() for o in runs for name in o.measures))
        yield f"{operation}, trained on {train}: median ± median absolute deviation, at the end"
        table = grid()
        for title in ("model", "runs", *measured):
            table.add_column(title)
        for model, runs in models.items():
            spreads = [median_spread([o.measures[name] for o in runs]) for name in measured]
            cells = [f"{few(s.estimate)}\n[dim]± {s.high - s.estimate:.2g}[/]" for s in spreads]
            table.add_row(escape(model), str(len(runs)), *cells)
        yield table


def accuracies(outcomes: Sequence[Outcome], experiment: str = "") -> Iterator[Table | str]:
    """Show the accuracy of networks that read images: mean over folds with Student's interval."""
    names = names_of(experiment, (o.case for o in outcomes)).labels
    table = grid()
    for name in ("layer", "epochs", "test %", "training %", "weights"):
        table.add_column(name, overflow="fold", min_width=len(name))
    groups: dict[Case, list[Outcome]] = {}
    for o in outcomes:
        groups.setdefault(o.case, []).append(o)
    for case, runs in groups.items():
        means = [
            stats.mean([100 * (1 - getattr(o, name)) for o in runs], 0.0, 100.0)
            for name in ("test", "validation")
        ]
        spelt = Counter(o.formula for o in runs if o.formula).most_common(1)
        learnt = f"{spelt[0][0]} in {spelt[0][1]} of {len(runs)}" if spelt else ""
        done = case.recipe.steps / case.epoch
        epochs = f"{done:,.0f}" if done >= 1 else f"{done:.2g}"
        table.add_row(names[case], epochs, *(interval(m) for m in means), escape(learnt))
    most = folds(max(groups.values(), key=len))
    yield f"Accuracy of outputs: mean over {most} \\[95% interval]"
    yield table


def by_length(found: Mapping[Kind, Sequence[Row]]) -> Iterator[Table | str]:
    """Show, for networks on sequences, the threshold at every length and how many runs are below it."""
    names = titles(found)
    for kind, rows in found.items():
        table = grid("length", "limit", *(row.name for row in rows))
        shares = [published(row.case) for row in rows]
        for k, at in enumerate(rows[0].lengths):
            cells = [
                _solved(row.lengths[k], claims.get(at.length))
                for row, claims in zip(rows, shares, strict=True)
            ]
            table.add_row(str(at.length), f"{at.limit:.3g}", *cells)
        yield f"{names[kind]}: runs below the limit by length of the sequences, and the published share"
        yield table


def _solved(at: Length, claim: Claim | None) -> str:
    theirs = "" if claim is None else f" [dim]{claim.value:.1f}[/]"
    return f"{round(at.success.estimate * at.success.n)} of {at.success.n}{theirs}"


def _cell(s: Summary | None) -> str:
    if s is None:
        return ""
    shade = "green" if s.success.estimate == 1 else "red" if s.success.estimate == 0 else "yellow"
    return (
        f"[{shade}]{s.success.estimate:.2f}[/]\n[dim]\\[{_short(s.success.low)},{_short(s.success.high)}][/]"
    )


def _short(value: float) -> str:
    text = f"{value:.2f}"
    return "1.0" if text == "1.00" else text.removeprefix("0")


def beside(verdicts: Iterable[ClaimVerdict]) -> Table:
    """Show published numbers beside ours."""
    table = grid("claim", "published", "ours", "", title="Beside the published numbers")
    for v in verdicts:
        shade = {"agrees": "green", "differs": "red"}.get(v.verdict, "dim")
        c = v.claim
        label = f"{c.unit} {c.operation} {c.where}\n[dim]{c.metric}, {escape(c.cited)} ({escape(c.how)})[/]"
        said = f"[{shade}]{v.verdict}[/]" + (f"\n[dim]{_chance(v)}[/]" if v.verdict == "differs" else "")
        table.add_row(label, number(c.value, c.low, c.high), interval(v.ours), said)
    return table


def _chance(v: ClaimVerdict) -> str:
    """Return the p of a difference, and after Holm's correction; an exact number has none."""
    if v.p is None:
        return "exact"
    return f"p {v.p:.1g}" + ("" if v.corrected is None else f"\nHolm {v.corrected:.1g}")


def compositions(rows: Sequence[dict[str, Any]]) -> Iterator[Table | str]:
    """Show our numbers beside Mistry 2023, Table 7.3, how runs ended, and expressions beside Tables 7.4 to 7.6."""
    table = grid(
        "network", "correct", "published", "interpolation", "published", "extrapolation", "published"
    )
    ways = grid("network", *(rows[0]["ways"] if rows else ()))
    for r in rows:
        c, p = r["correct"], r["published"]
        correct = f"{c['mean']:.1f} of {r['formulas']}\n[dim]{c['low']} to {c['high']}, {r['ever']} ever[/]"
        errors = [
            f"{few(r[n]['mean'])}\n[dim]sd {few(r[n]['sd'])}[/]" for n in ("interpolation", "extrapolation")
        ]
        told = [f"{p[m]:g}" if m in p else "" for m in ("n_correct", "interp_mse_mean", "extrap_mse_mean")]
        table.add_row(escape(r["network"]), correct, told[0], errors[0], told[1], errors[1], told[2])
        ways.add_row(escape(r["network"]), *map(str, r["ways"].values()))
    yield "Formulas whose snapped expression is the target, per seed: mean, range, and how many with any seed"
    yield table
    yield "How the runs ended"
    yield ways
    for r in rows:
        if any(e["published"] for e in r["expressions"]):
            learnt = grid("formula", "target", "right", "learnt most often", "published")
            for e in r["expressions"]:
                share = f"{e['right']} of {e['runs']}"
                learnt.add_row(e["formula"], e["target"], share, escape(e["learnt"]), escape(e["published"]))
            yield escape(r["network"])
            yield learnt
