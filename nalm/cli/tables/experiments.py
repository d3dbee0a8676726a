"""Tables of `nalm list` and `nalm show`: the experiments, and one of them with its cases and claims."""

import itertools
from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType

from rich.table import Table
from rich.text import Text

from nalm.cli.tables.grid import grid
from nalm.cli.tables.numbers import number
from nalm.config import Experiment
from nalm.config.labels import rule_words
from nalm.experiments import EXPERIMENTS
from nalm.experiments.names import names as names_of
from nalm.lab import costs
from nalm.lab.costs import Machine


def listing(
    experiments: Iterable[Experiment],
    machine: Machine,
    factor: float = 1.0,
    done: Mapping[str, int] = MappingProxyType({}),
) -> Iterator[Text]:
    """Return the lines of `nalm list`, in groups by paper: name, runs, time, and the question as far as it fits.

    ``done`` has the number of finished runs of each experiment in a results folder.
    """
    shown = list(experiments)
    names = max((len(e.name) for e in shown), default=0)
    counts = {e.name: f"{len(e.cases) * len(e.seeds):,}" for e in shown}
    counts |= {n: f"{done[n]:,} of {count}" for n, count in counts.items() if n in done}
    widest = max(map(len, counts.values()), default=0)
    for about, group in itertools.groupby(shown, key=lambda e: EXPERIMENTS.about(e.name) or "Your own"):
        yield Text(about, "bold", no_wrap=True, overflow="ellipsis")
        for e in group:
            time = costs.format_duration(costs.estimate(e, machine, factor))
            line = f"  {e.name:<{names}} {time:>8} {counts[e.name]:>{widest}}  {e.title}"
            yield Text(line, no_wrap=True, overflow="ellipsis")


def _widest(names: Iterable[str]) -> int:
    """Return the length of the longest word, up to 24: names of units, which --only takes, are not cut."""
    return min(24, max(len(word) for name in names for word in name.split()))


def shown(experiment: Experiment) -> Iterator[Table | str]:
    """Show an experiment in full: cases by recipe, then the published claims."""
    yield f"[bold]{experiment.name}[/]: {experiment.title}"
    called = names_of(experiment.name, experiment.cases)
    names, standing, along = called.labels, called.places, called.axis
    over = "trained on" if along == "range" else "with"
    table = grid()
    for name in ("model", "operation", "inputs", over, "steps", "lr", "penalties and rules"):
        table.add_column(name, overflow="fold", min_width=_widest(names.values()) if name == "model" else 1)
    groups: dict[tuple[str, ...], list[str]] = {}
    for case in experiment.cases:
        r = case.recipe
        rules = rule_words(r)
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
        claims = grid()
        for name in ("published", "value", "unit", "trained on", "where it stands"):
            widest = _widest(c.unit for c in experiment.claims) if name == "unit" else 1
            claims.add_column(name, overflow="fold", min_width=widest)
        alike: dict[tuple[str, ...], list[str]] = {}
        for c in experiment.claims:
            stands = f"{c.cited} ({c.how.partition(',')[0].partition(' ')[0]})"
            same = (c.metric.replace("_", " "), number(c.value, c.low, c.high, " "), c.unit, stands)
            alike.setdefault(same, []).append(c.where)
        for (metric, value, unit, place), found in alike.items():
            where = (
                found[0]
                if len(found) == 1
                else f"{len(found)} {'ranges' if along == 'range' else 'settings'}"
            )
            claims.add_row(metric, value, unit, where, place)
        yield claims
