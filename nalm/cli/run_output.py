"""Print the results of `nalm run`."""

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from nalm.cli import screen
from nalm.cli.app import print_json

if TYPE_CHECKING:
    from rich.table import Table

    from nalm.claims import ClaimVerdict
    from nalm.config import Experiment
    from nalm.results.runs import Outcome
    from nalm.results.summary import Summary


def results(wanted: "Sequence[Experiment]", out: Path, as_json: bool) -> None:
    """Print the results of these experiments beside the published numbers, or their summaries as JSON."""
    from rich.console import Console

    from nalm.claims import lengths, verdicts
    from nalm.cli.tables import results as tables
    from nalm.experiments import EXPERIMENTS
    from nalm.results.curves import points
    from nalm.results.store import Store
    from nalm.results.summary import summarise

    console, lines = Console(), []
    with Store(out) as store:
        for experiment in wanted:
            wanted_keys = {(case.hash, seed) for case in experiment.cases for seed in experiment.seeds}
            runs = [o for o in store.outcomes(experiment.name) if (o.case.hash, o.seed) in wanted_keys]
            summaries = summarise(runs)
            if as_json:
                lines += [{"experiment": experiment.name, **s.plain()} for s in summaries]
                continue
            console.print(f"[bold]{experiment.name}[/]: {experiment.title}")
            for table in _shown(experiment.name, summaries, runs, console.width):
                screen.show(table, console)
            curves = {(o.case.key, o.seed): points(store, o) for o in lengths.of_sequences(runs)}
            found = lengths.by_length(runs, curves, experiment.name)
            if curves and not found:
                console.print(lengths.WITHOUT)
            for table in tables.by_length(found):
                screen.show(table, console)
            known = EXPERIMENTS.get(experiment.name)
            judged = verdicts(known, runs, curves) if known else []
            ours = [v for v in judged if v.ours is not None]
            if ours:
                screen.show(tables.beside([v for v in ours if v.verdict == "differs"] or ours[:5]), console)
                console.print(agreement(ours))
    if as_json:
        print_json(lines)


def agreement(ours: "Sequence[ClaimVerdict]") -> str:
    """Return a sentence: how many published numbers agree with ours, or why that cannot be told yet."""
    counts = Counter(v.verdict for v in ours)
    if not counts["agrees"] and not counts["differs"]:
        return f"Of none of them can be told yet whether it agrees: {ours[0].reason}."
    parts = (
        f"{counts['agrees']} agree",
        f"{counts['differs']} differ",
        f"{counts['cannot tell']} cannot be told",
    )
    return f"Of {len(ours)} published numbers {parts[0]}, {parts[1]}, {parts[2]}."


def _shown(
    experiment: str, summaries: "Sequence[Summary]", runs: "Sequence[Outcome]", width: int
) -> "Iterator[Table | str]":
    """Choose the tables: measures, learnt compositions, accuracies on images, or success rates by range."""
    from nalm.cli.tables import results as tables
    from nalm.operations import COMPOSITIONS

    if runs and all(o.measures for o in runs):
        return tables.measures(runs, experiment)
    if summaries and all(s.case.operation in COMPOSITIONS for s in summaries):
        from nalm.claims import compositions

        return tables.compositions(compositions.rows(runs))
    if summaries and all(s.case.task.exact for s in summaries):
        return tables.accuracies(runs, experiment)
    return tables.success(summaries, width, experiment)
