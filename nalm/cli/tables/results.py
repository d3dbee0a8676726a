"""Results as tables for a terminal; they fit its width."""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from rich import box
from rich.markup import escape
from rich.table import Table

from nalm import stats
from nalm.claims import Verdict
from nalm.claims.lengths import Kind, Length, Row, published, titles
from nalm.claims.rules.images import folds
from nalm.claims.rules.spreads import median_spread
from nalm.config import Case, Claim, Experiment
from nalm.experiments.names import names as names_of
from nalm.lab import costs
from nalm.lab.costs import Machine
from nalm.results.runs import Outcome
from nalm.results.summary import Summary
from nalm.stats import Interval

CELL = 10  # characters that a cell such as [.87,1.0] takes


def success(summaries: Sequence[Summary], width: int = 80, experiment: str = "") -> Iterator[Table | str]:
    """Success rates with their 95% intervals: ranges down, units across, one title and table per task.

    Where a sweep is of something else than ranges, that goes down.
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
            table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
            for name in ("trained on" if along == "range" else "", *part):
                table.add_column(name, no_wrap=True)
            for name in ranges:
                table.add_row(name, *(_cell(cells.get((unit, name))) for unit in part))
            yield table


def measures(outcomes: Sequence[Outcome], experiment: str = "") -> Iterator[Table | str]:
    """What cases ask for at the end of training: the median over runs, and how far they lie from it."""
    names = names_of(experiment, (o.case for o in outcomes)).labels
    groups: dict[tuple[str, str], dict[str, list[Outcome]]] = {}
    for o in outcomes:
        groups.setdefault((o.case.operation, str(o.case.train)), {}).setdefault(names[o.case], []).append(o)
    for (operation, train), models in groups.items():
        measured = list(dict.fromkeys(name for runs in models.values() for o in runs for name in o.measures))
        yield f"{operation}, trained on {train}: median ± median absolute deviation, at the end"
        table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
        for title in ("model", "runs", *measured):
            table.add_column(title)
        for model, runs in models.items():
            spreads = [median_spread([o.measures[name] for o in runs]) for name in measured]
            cells = [f"{_few(s.estimate)}\n[dim]± {s.high - s.estimate:.2g}[/]" for s in spreads]
            table.add_row(escape(model), str(len(runs)), *cells)
        yield table


def accuracies(outcomes: Sequence[Outcome], experiment: str = "") -> Iterator[Table | str]:
    """Of networks that read images: the share of right outputs, as a mean over folds with Student's interval."""
    names = names_of(experiment, (o.case for o in outcomes)).labels
    table = Table(box=box.SIMPLE_HEAD)
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
        table.add_row(names[case], epochs, *(_interval(m) for m in means), escape(learnt))
    most = folds(max(groups.values(), key=len))
    yield f"Accuracy of outputs: mean over {most} \\[95% interval]"
    yield table


def by_length(found: Mapping[Kind, Sequence[Row]]) -> Iterator[Table | str]:
    """Of networks on sequences: at every length the limit, and how many runs of each cell are below it."""
    names = titles(found)
    for kind, rows in found.items():
        table = Table("length", "limit", *(row.name for row in rows), box=box.SIMPLE_HEAD)
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


def beside(verdicts: Iterable[Verdict]) -> Table:
    """Published numbers beside ours."""
    table = Table(
        "claim", "published", "ours", "", title="Beside the published numbers", title_justify="left"
    )
    for v in verdicts:
        shade = {"agrees": "green", "differs": "red"}.get(v.verdict, "dim")
        c = v.claim
        label = f"{c.unit} {c.operation} {c.where}\n[dim]{c.metric}, {c.place}[/]"
        table.add_row(label, _number(c.value, c.low, c.high), _interval(v.ours), f"[{shade}]{v.verdict}[/]")
    return table


def _number(value: float, low: float | None, high: float | None, between: str = "\n") -> str:
    if low is None or high is None or low == high or not math.isfinite(high - low):
        return _few(value)
    return f"{_few(value)}{between}[dim]\\[{_few(low)}, {_few(high)}][/]"


def _few(value: float) -> str:
    """Three digits, a whole number from a thousand on, a power of ten where that is shorter, or that it is none."""
    if not math.isfinite(value):
        return "not finite"
    return f"{value:,.0f}" if 1_000 <= abs(value) < 1e9 else f"{value:.3g}"


def _interval(interval: Interval | None) -> str:
    if interval is None:
        return ""
    low, high = (None if end != end else end for end in (interval.low, interval.high))
    return _number(interval.estimate, low, high)


def listing(experiments: Iterable[Experiment], machine: Machine, factor: float = 1.0) -> Table:
    """What can be run, and what it costs."""
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    for name in ("experiment", "runs", "run-steps", "time", "what it asks"):
        table.add_column(name, no_wrap=name != "what it asks")
    for e in experiments:
        steps = sum(case.recipe.steps for case in e.cases) * len(e.seeds)
        runs = len(e.cases) * len(e.seeds)
        time = costs.format_duration(costs.estimate(e, machine, factor))
        table.add_row(e.name, f"{runs:,}", f"{steps:.2g}", time, e.title)
    return table


def _widest(names: Iterable[str]) -> int:
    """Letters of the longest word: names of units are what --only takes, and are not cut."""
    return min(24, max(len(word) for name in names for word in name.split()))


def shown(experiment: Experiment) -> Iterator[Table | str]:
    """An experiment in full: cases by recipe, then what was published."""
    yield f"[bold]{experiment.name}[/]: {experiment.title}"
    called = names_of(experiment.name, experiment.cases)
    names, standing, along = called.labels, called.places, called.axis
    over = "trained on" if along == "range" else "with"
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    for name in ("model", "operation", "inputs", over, "steps", "lr", "pressure and rules"):
        table.add_column(name, overflow="fold", min_width=_widest(names.values()) if name == "model" else 1)
    groups: dict[tuple[str, ...], list[str]] = {}
    for case in experiment.cases:
        r = case.recipe
        rules = [f"{name} {ramp.weight:g} ({ramp.start:g} to {ramp.end:g})" for name, ramp in r.penalties]
        rules += [f"{n} {g.start:g} to {g.end:g}" for n, g in (("L1", r.l1), ("L2", r.l2)) if g is not None]
        rules += [f"clip {c:g}" for c in (r.clip_value, r.clip_norm) if c]
        rules += ["iNALU's rules"] if r.inalu else []
        rules += [f"gradient noise {r.gradient_noise:g}"] if r.gradient_noise else []
        rules += (
            [f"{r.optimiser} {r.momentum:g}" if r.momentum else r.optimiser] if r.optimiser != "adam" else []
        )
        rules += [r.loss if not r.then else f"{r.loss}, from {r.switch} {r.then}"] if r.loss != "mse" else []
        key = (names[case], case.operation, str(case.inputs), f"{r.steps:,}", f"{r.lr:g}", ", ".join(rules))
        groups.setdefault(key, []).append(standing[case])
    for (unit, operation, inputs, *rest), ranges in groups.items():
        several = f"{len(ranges)} ranges" if along == "range" else f"{ranges[0]} to {ranges[-1]}"
        table.add_row(unit, operation, inputs, ranges[0] if len(ranges) == 1 else several, *rest)
    yield table
    yield f"Ranges: {', '.join(dict.fromkeys(f'{c.train} then {c.test}' for c in experiment.cases))}"
    yield f"Seeds: {len(experiment.seeds)} ({experiment.seeds[0]} to {experiment.seeds[-1]})."
    if experiment.claims:
        claims = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
        for name in ("published", "value", "unit", "trained on", "where it stands"):
            widest = _widest(c.unit for c in experiment.claims) if name == "unit" else 1
            claims.add_column(name, overflow="fold", min_width=widest)
        alike: dict[tuple[str, ...], list[str]] = {}
        for c in experiment.claims:
            same = (c.metric.replace("_", " "), _number(c.value, c.low, c.high, " "), c.unit, c.place)
            alike.setdefault(same, []).append(c.where)
        for (metric, value, unit, place), found in alike.items():
            where = (
                found[0]
                if len(found) == 1
                else f"{len(found)} {'ranges' if along == 'range' else 'settings'}"
            )
            claims.add_row(metric, value, unit, where, place)
        yield claims


def status(found: dict[str, Any]) -> Iterator[Table | str]:
    """What a results folder holds."""
    table = Table(
        "experiment", "cases", "runs", "solved", "unsolved", "diverged", title=f"In {escape(found['folder'])}"
    )
    for row in found["experiments"]:
        names = ("experiment", "cases", "runs", "solved", "unsolved", "diverged")
        table.add_row(*(escape(f"{row[n]:,}" if isinstance(row[n], int) else row[n]) for n in names))
    yield table
    for process in found["working"]:
        yield f"At work for {process['since']:.0f} s: {escape(process['command'])}"
    for checkpoint in found["checkpoints"]:
        yield f"{checkpoint['runs']} runs wait in a checkpoint; the command that began them goes on with them."
    for n in found["networks"]:
        yield escape(f"{n['case']}, seed {n['seed']}, stands at step {n['at']:,} of {n['steps']:,}.")
    if found["begun"]:
        many = "1 run was" if found["begun"] == 1 else f"{found['begun']:,} runs were"
        yield f"{many} begun and not finished; the command that did so goes on from there."
    if not any(found[name] for name in ("working", "checkpoints", "networks", "begun")):
        yield "Nobody is at work here, and nothing is left half done."


def compositions(rows: Sequence[dict[str, Any]]) -> Iterator[Table | str]:
    """Thesis Table 7.3 beside ours, how runs ended, and the expressions learnt beside Tables 7.4 to 7.6."""
    table = Table(
        "network",
        "correct",
        "published",
        "interpolation",
        "published",
        "extrapolation",
        "published",
        box=box.SIMPLE_HEAD,
    )
    ways = Table("network", *(rows[0]["ways"] if rows else ()), box=box.SIMPLE_HEAD)
    for r in rows:
        c, p = r["correct"], r["published"]
        correct = f"{c['mean']:.1f} of {r['formulas']}\n[dim]{c['low']} to {c['high']}, {r['ever']} ever[/]"
        errors = [
            f"{_few(r[n]['mean'])}\n[dim]sd {_few(r[n]['sd'])}[/]" for n in ("interpolation", "extrapolation")
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
            learnt = Table(
                "formula", "target", "right", "learnt most often", "published", box=box.SIMPLE_HEAD
            )
            for e in r["expressions"]:
                share = f"{e['right']} of {e['runs']}"
                learnt.add_row(e["formula"], e["target"], share, escape(e["learnt"]), escape(e["published"]))
            yield escape(r["network"])
            yield learnt
