"""Commands of the laboratory: what can be run, running it, and what came out."""

import contextlib
import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nalm.cli import run_output, screen
from nalm.cli.app import OUT, Device, Json, Out, app, print_json
from nalm.cli.stopping import code

if TYPE_CHECKING:
    from nalm.config import Experiment
    from nalm.results.store import Store


@app.command("list")
def list_(out: Out = OUT, json: Json = False) -> None:
    """List every experiment: what it asks, and what it costs.

    Times are estimates for this machine: from rates measured with the engine of `nalm bench`, for its number of cores
    or for a GPU; on a CPU corrected by the runs in the results folder, if it has any.
    """
    from nalm.cli.tables import results as tables
    from nalm.experiments import EXPERIMENTS
    from nalm.lab import costs

    machine, factor = costs.here(), _correction(out)
    if json:
        times = {e.name: costs.estimate(e, machine, factor) for e in EXPERIMENTS.values()}
        print_json([{**_plain(e), "seconds": round(times[e.name], 1)} for e in EXPERIMENTS.values()])
        return

    screen.show(tables.listing(EXPERIMENTS.values(), machine, factor))
    source = "measured rates" if factor == 1 else f"the runs in {out}"
    typer.echo(f"Times are estimates for {machine}, from {source}.")
    typer.echo("Analytic figures, computed when they are asked for: nalm show landscapes")


def _correction(out: Path) -> float:
    """How much slower than measured the cores of this machine are, by the runs of a results folder."""
    from nalm.experiments import EXPERIMENTS
    from nalm.lab import costs
    from nalm.results.store import NAME, Store

    if not (out / NAME).exists():
        return 1.0
    with Store(out) as store:
        return costs.correction(store.timings("cpu"), EXPERIMENTS.values())


@app.command()
def show(name: str, json: Json = False) -> None:
    """Show an experiment: its cases, recipes, seeds and published claims; or a landscape and its minima."""
    if name.strip("/").split("/")[0] == "landscapes":
        _landscapes(name.strip("/"), json)
        return
    from nalm.cli.tables import results as tables
    from nalm.experiments import experiments

    found = experiments(name)
    if json:
        import json as text

        print_json([text.loads(e.json()) for e in found])
        return

    for experiment in found:
        for part in tables.shown(experiment):
            screen.show(part)


def _landscapes(name: str, as_json: bool) -> None:
    """Compute the landscapes at or below a name, and say where their minima are."""
    from rich.table import Table

    from nalm.experiments import below
    from nalm.landscapes import LANDSCAPES, compute

    found = [compute(n) for n in below(name, LANDSCAPES)] or [compute(name)]
    if as_json:
        print_json([surface.json() for surface in found])
        return
    table = Table("landscape", "what it shows", "minima", "figure")
    for surface in found:
        minima = [f"({m['x']:.4g}, {m['y']:.4g}) {m['kind']}" for m in surface.json().get("minima", [])]
        table.add_row(
            surface.name.removeprefix("landscapes/"), surface.title, "\n".join(minima), surface.source
        )
    screen.show(table)


@app.command()
def run(
    name: Annotated[str, typer.Argument(help="An experiment, or a prefix such as thesis/ch3.")],
    seeds: Annotated[str, typer.Option(help="How many, or A:B for A to B-1; default: as published.")] = "",
    only: Annotated[
        list[str] | None, typer.Option(help="KEY=VALUE, such as unit=NMU or range=1.1:1.2.")
    ] = None,
    unit: Annotated[list[str] | None, typer.Option(help="A unit of your own as FILE.py:Class.")] = None,
    like: Annotated[str, typer.Option(help="Train your own unit with this unit's recipe.")] = "",
    device: Device = "auto",
    out: Out = OUT,
    steps: Annotated[
        int | None, typer.Option(help="Train this many steps instead of the published number.")
    ] = None,
    epochs: Annotated[int | None, typer.Option(help="The same in epochs, where images are read.")] = None,
    data: Annotated[str, typer.Option(help="The folder of MNIST's files; default: NALM_DATA.")] = "",
    no_compile: Annotated[
        bool, typer.Option("--no-compile", help="Run eagerly: slower, no compiler needed.")
    ] = False,
    workers: Annotated[int, typer.Option(help="Processes; 0 for as many as are worth it.")] = 0,
    on: Annotated[
        str,
        typer.Option(
            help="ray or ray:ADDRESS: train on a cluster; without address RAY_ADDRESS, or this machine."
        ),
    ] = "",
    save_every: Annotated[
        float, typer.Option(help="Seconds between checkpoints of what is in training.")
    ] = 15.0,
    json: Json = False,
) -> None:
    """Run an experiment; what is stored already is not trained again, what was interrupted goes on."""
    if name.strip("/").split("/")[0] == "landscapes":
        _landscapes(name.strip("/"), json)  # nothing to train: they are computed
        return
    from rich.console import Console

    from nalm.cli import progress
    from nalm.engine import device_for
    from nalm.lab import machine, request
    from nalm.lab import run as lab

    wanted, own = request.experiments(name, seeds, only or [], unit or [], like, steps, epochs)
    error = Console(stderr=True)
    with contextlib.ExitStack() as stack:
        executor = None
        if on:
            from nalm.lab.executors import ray as cluster

            quiet = stack.enter_context(
                open(os.devnull, "w", encoding="utf-8")
            )  # Ray speaks of dead workers on standard output
            stack.enter_context(contextlib.redirect_stdout(quiet))
            executor = stack.enter_context(cluster.connected(on, device, workers or None))
        elif not no_compile and device_for(device).type == "cpu" and (why := machine.without_compiler()):
            error.print(why, markup=False, soft_wrap=True)
            no_compile = True
        bar = stack.enter_context(progress.Progress(error))
        try:
            lab.run(
                wanted,
                out,
                device=device,
                compiled=not no_compile,
                workers=workers or None,
                executor=executor,
                units=own,
                show=bar,
                save_every=save_every,
                data=data,
            )
        except KeyboardInterrupt as stopped:
            told = f"Stopped. Finished runs are in {out}; the same command goes on from here."
            error.print(told, markup=False, soft_wrap=True)
            raise typer.Exit(code(stopped)) from None
    run_output.results(wanted, out, json)


@app.command()
def status(out: Out = OUT, json: Json = False) -> None:
    """Say what a results folder holds, who is working on it, and what is left."""
    from nalm.lab import status as lab_status
    from nalm.results.store import Store

    with Store(out) as store:
        found = lab_status.status(store)
    if json:
        print_json(found)
        return

    from nalm.cli.tables import results as tables

    for part in tables.status(found):
        screen.show(part)


@app.command()
def export(
    out: Out = OUT,
    experiment: Annotated[str, typer.Option(help="Only this experiment, or all below a prefix.")] = "",
    to: Annotated[Path | None, typer.Option(help="Write files as shipped under this folder instead.")] = None,
) -> None:
    """Write every finished run as CSV to standard output, or as files for other people."""
    from nalm.results import files as shipped
    from nalm.results.store import Store

    with Store(out) as store:
        names = _below(store, experiment)
        if to is None:
            hashes = {case.hash for name in names for case in store.cases(name)}
            rows = [o for o in store.outcomes() if not experiment or o.case.hash in hashes]
            typer.echo(shipped.table(rows), nl=False)
            return
        full = [name for name in names if store.outcomes(name)]
        for name in full or names[:1]:  # with nothing finished at all, the first says so
            typer.echo(shipped.ship(store, name, to))


def _below(store: "Store", experiment: str) -> list[str]:
    from nalm.errors import unknown
    from nalm.experiments import below

    names = below(experiment, store.experiments())
    if not names and experiment:
        raise unknown(f"experiment in {store.folder}", experiment, store.experiments())
    return names


def _plain(experiment: "Experiment") -> dict[str, object]:
    return {
        "name": experiment.name,
        "title": experiment.title,
        "cases": len(experiment.cases),
        "seeds": len(experiment.seeds),
        "run_steps": sum(case.recipe.steps for case in experiment.cases) * len(experiment.seeds),
        "claims": len(experiment.claims),
    }
