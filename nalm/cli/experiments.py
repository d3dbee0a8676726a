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
def list_(
    word: Annotated[
        str, typer.Argument(help="Only experiments with this word in their name or question.")
    ] = "",
    paper: Annotated[str, typer.Option(help="Only of this paper, such as Madsen or thesis.")] = "",
    unit: Annotated[str, typer.Option(help="Only with this unit, such as NMU.")] = "",
    done: Annotated[
        bool, typer.Option("--done", help="Only with finished runs in the results folder.")
    ] = False,
    out: Out = OUT,
    json: Json = False,
) -> None:
    """List experiments in groups by paper: name, time, number of runs and question, one line each.

    Times are estimates for this machine: from rates measured with the engine of `nalm bench`, for its number of cores
    or for a GPU; on a CPU corrected by the runs in the results folder, if it has any.
    """
    from nalm.cli.tables.experiments import listing
    from nalm.experiments import EXPERIMENTS
    from nalm.lab import costs

    machine, factor, finished = costs.here(), _correction(out), _finished(out)
    found = [
        e
        for e in EXPERIMENTS.values()
        if word.casefold() in f"{e.name} {e.title}".casefold()
        and paper.casefold() in f"{e.name} {EXPERIMENTS.about(e.name)}".casefold()
        and (not unit or any(layer.unit == unit for case in e.cases for layer in case.model))
        and (not done or e.name in finished)
    ]
    if json:
        times = {e.name: costs.estimate(e, machine, factor) for e in found}
        print_json([{**_plain(e), "seconds": round(times[e.name], 1)} for e in found])
        return

    for line in listing(found, machine, factor, finished):
        screen.show(line)
    if not found:
        screen.say("No experiment has all of that: `nalm list` shows every one.")
        return
    source = "measured rates" if factor == 1 else f"the runs in {out}"
    screen.say(f"Times are estimates for {machine}, from {source}.")
    screen.say("Analytic figures, which need no training: nalm show landscapes")


def _correction(out: Path) -> float:
    """Return how much slower than the measured rates this machine is, by the runs of a results folder."""
    from nalm.experiments import EXPERIMENTS
    from nalm.lab import costs
    from nalm.results.store import NAME, Store

    if not (out / NAME).exists():
        return 1.0
    with Store(out) as store:
        return costs.correction(store.timings("cpu"), EXPERIMENTS.values())


def _finished(out: Path) -> dict[str, int]:
    """Count the finished runs of each experiment in a results folder."""
    from nalm.results.store import NAME, Store

    if not (out / NAME).exists():
        return {}
    with Store(out) as store:
        return {name: sum(counts.values()) for name, counts in store.counts().items()}


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
        str, typer.Argument(help="An experiment, a prefix, my_study.py, a landscape, or a results folder.")
    ]
    case: Annotated[str, typer.Argument(help="In a results folder: the first letters of a case's key.")] = ""
    seed: Annotated[int, typer.Argument(help="In a results folder: the seed of one run.")] = -1
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

    The options show what `nalm run` would train with them. Of a results folder it shows the cases, of `FOLDER CASE`
    the runs of a case, of `FOLDER CASE SEED` one run: its curve, weights, formula, and why it failed.
    """
    name, json = options.name, options.json
    if (Path(name) / "results.db").is_file() or name.endswith(".db"):
        from nalm.cli import one_run

        one_run.show(Path(name), options.case, options.seed, json)
        return
    if options.case:
        from nalm.errors import NALMError

        raise NALMError(f"CASE and SEED choose a run of a results folder, and {name} is none.")
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
        screen.say(note)
