"""The commands list and show: which experiments there are, and one of them in full."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nalm.cli import landscapes, screen
from nalm.cli.app import OUT, Json, Out, app, print_json, with_options
from nalm.cli.changes import Epochs, KeepSchedule, Like, Models, Only, Steps, Sweeps, Units, changes

if TYPE_CHECKING:
    from nalm.config import Experiment


@app.command("list")
def list_(out: Out = OUT, json: Json = False) -> None:
    """List every experiment with its question and its cost.

    Times are estimates for this machine: from rates measured with the engine of `nalm bench`, for its number of cores
    or for a GPU; on a CPU corrected by the runs in the results folder, if it has any.
    """
    from nalm.cli.tables.experiments import listing
    from nalm.experiments import EXPERIMENTS
    from nalm.lab import costs

    machine, factor = costs.here(), _correction(out)
    if json:
        times = {e.name: costs.estimate(e, machine, factor) for e in EXPERIMENTS.values()}
        print_json([{**_plain(e), "seconds": round(times[e.name], 1)} for e in EXPERIMENTS.values()])
        return

    screen.show(listing(EXPERIMENTS.values(), machine, factor))
    source = "measured rates" if factor == 1 else f"the runs in {out}"
    typer.echo(f"Times are estimates for {machine}, from {source}.")
    typer.echo("Analytic figures, which need no training: nalm show landscapes")


def _correction(out: Path) -> float:
    """Return how much slower than the measured rates this machine is, by the runs of a results folder."""
    from nalm.experiments import EXPERIMENTS
    from nalm.lab import costs
    from nalm.results.store import NAME, Store

    if not (out / NAME).exists():
        return 1.0
    with Store(out) as store:
        return costs.correction(store.timings("cpu"), EXPERIMENTS.values())


def _plain(experiment: "Experiment") -> dict[str, object]:
    return {
        "name": experiment.name,
        "title": experiment.title,
        "cases": len(experiment.cases),
        "seeds": len(experiment.seeds),
        "run_steps": sum(case.recipe.steps for case in experiment.cases) * len(experiment.seeds),
        "claims": len(experiment.claims),
    }


@dataclass(frozen=True)
class ShowOptions:
    """The options of `nalm show`; each field is an option of the command line."""

    name: Annotated[
        str, typer.Argument(help="An experiment, a prefix, a file such as my_study.py, or a landscape.")
    ]
    only: Only = None
    unit: Units = None
    model: Models = None
    like: Like = ""
    sweep: Sweeps = None
    steps: Steps = None
    epochs: Epochs = None
    keep_schedule: KeepSchedule = False
    json: Json = False


@app.command()
@with_options(ShowOptions)
def show(options: ShowOptions) -> None:
    """Show an experiment: its cases, recipes, seeds and published claims; or a landscape and its minima.

    The options show what `nalm run` would train with them.
    """
    name, json = options.name, options.json
    if landscapes.is_landscape(name):
        landscapes.show(name, json)
        return
    from nalm.cli.tables.experiments import shown
    from nalm.lab.request import experiments

    found, notes = experiments([name], "", changes(options))
    if json:
        import json as text

        print_json([text.loads(e.json()) for e in found])
        return

    for experiment in found:
        for part in shown(experiment):
            screen.show(part)
    for note in notes:
        typer.echo(note)
