"""The command line. Heavy imports happen inside the commands, so that help answers at once."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nalm import __version__
from nalm.errors import NALMError

if TYPE_CHECKING:
    from nalm.config import Experiment
    from nalm.store import Store

OUT = Path("runs")
Out = Annotated[Path, typer.Option("--out", help="The results folder.")]
Json = Annotated[bool, typer.Option("--json", help="JSON on standard output.")]
Device = Annotated[str, typer.Option(help="auto, cpu or cuda.")]

app = typer.Typer(
    name="nalm",
    help="Neural Arithmetic Logic Modules: layers whose trained weights spell out an exact formula.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"nalm {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Options that come before a command."""


@app.command()
def units(
    markdown: Annotated[bool, typer.Option(help="As the Markdown page docs/units.md.")] = False,
) -> None:
    """List every unit: what it can represent, and its number of parameters."""
    from nalm import capabilities

    if markdown:
        typer.echo(capabilities.markdown(), nl=False)
        return
    from rich.console import Console

    Console().print(capabilities.table())


@app.command("list")
def list_(json: Json = False) -> None:
    """List every experiment: what it asks, and what it costs."""
    from nalm import tables
    from nalm.experiments import EXPERIMENTS

    if json:
        _print_json([_plain(e) for e in EXPERIMENTS.values()])
        return
    from rich.console import Console

    Console().print(tables.listing(EXPERIMENTS.values()))


@app.command()
def show(name: str, json: Json = False) -> None:
    """Show an experiment: its cases, recipes, seeds and published claims."""
    from nalm import tables
    from nalm.experiments import experiments

    found = experiments(name)
    if json:
        import json as text

        _print_json([text.loads(e.json()) for e in found])
        return
    from rich.console import Console

    for experiment in found:
        for part in tables.shown(experiment):
            Console().print(part)


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
    steps: Annotated[int, typer.Option(help="Train this many steps instead of the published number.")] = 0,
    no_compile: Annotated[
        bool, typer.Option("--no-compile", help="Run eagerly: slower, no compiler needed.")
    ] = False,
    workers: Annotated[int, typer.Option(help="Processes; 0 for as many as are worth it.")] = 0,
    save_every: Annotated[
        float, typer.Option(help="Seconds between checkpoints of what is in training.")
    ] = 15.0,
    json: Json = False,
) -> None:
    """Run an experiment; what is stored already is not trained again, what was interrupted goes on."""
    from rich.console import Console

    from nalm import asked, progress
    from nalm import run as lab

    wanted, own = asked.experiments(name, seeds, only or [], unit or [], like, steps)
    error = Console(stderr=True)
    with progress.Progress(error) as bar:
        try:
            lab.run(
                wanted,
                out,
                device=device,
                compiled=not no_compile,
                workers=workers or None,
                units=own,
                show=bar,
                save_every=save_every,
            )
        except KeyboardInterrupt:
            error.print(f"Stopped. Finished runs are in {out}; the same command goes on from here.")
            raise typer.Exit(130) from None
    _results(wanted, out, json)


def _results(wanted: "Sequence[Experiment]", out: Path, as_json: bool) -> None:
    """What came out, with the published numbers beside it."""
    from rich.console import Console

    from nalm import tables
    from nalm.claims import judge
    from nalm.store import Store
    from nalm.summary import summarise

    console, lines = Console(), []
    with Store(out) as store:
        for experiment in wanted:
            asked_for = {(case.hash, seed) for case in experiment.cases for seed in experiment.seeds}
            runs = [o for o in store.outcomes(experiment.name) if (o.case.hash, o.seed) in asked_for]
            summaries = summarise(runs)
            if as_json:
                lines += [{"experiment": experiment.name, **s.plain()} for s in summaries]
                continue
            console.print(f"[bold]{experiment.name}[/]: {experiment.title}")
            for table in tables.success(summaries, console.width):
                console.print(table)
            verdicts = [judge(claim, runs) for claim in experiment.claims]
            compared = [v for v in verdicts if v.ours is not None]
            if compared:
                console.print(tables.beside([v for v in compared if v.verdict == "differs"] or compared[:5]))
                agree = sum(v.verdict == "agrees" for v in compared)
                console.print(f"{agree} of {len(compared)} published numbers agree with ours.")
    if as_json:
        _print_json(lines)


@app.command()
def status(out: Out = OUT, json: Json = False) -> None:
    """Say what a results folder holds, who is working on it, and what is left."""
    from nalm import asked
    from nalm.store import Store

    with Store(out) as store:
        found = asked.status(store)
    if json:
        _print_json(found)
        return
    from rich.console import Console

    from nalm import tables

    for part in tables.status(found):
        Console().print(part)


@app.command()
def export(
    out: Out = OUT,
    experiment: Annotated[str, typer.Option(help="Only this experiment, or all below a prefix.")] = "",
    to: Annotated[Path | None, typer.Option(help="Write files as shipped under this folder instead.")] = None,
) -> None:
    """Write every finished run as CSV to standard output, or as files for other people."""
    from nalm import shipped
    from nalm.store import Store

    with Store(out) as store:
        names = _below(store, experiment)
        if to is None:
            hashes = {case.hash for name in names for case in store.cases(name)}
            rows = [o for o in store.outcomes() if not experiment or o.case.hash in hashes]
            typer.echo(shipped.table(rows), nl=False)
            return
        for name in names:
            typer.echo(shipped.ship(store, name, to))


def _below(store: "Store", experiment: str) -> list[str]:
    from nalm.errors import unknown

    path = experiment.strip("/")
    names = [name for name in store.experiments() if not path or f"{name}/".startswith(f"{path}/")]
    if not names and experiment:
        raise unknown(f"experiment in {store.folder}", experiment, store.experiments())
    return names


@app.command()
def bench(
    json: Json = False,
    quick: Annotated[bool, typer.Option("--quick", help="Compiled only, without the growth curves.")] = False,
    device: Device = "auto",
) -> None:
    """Measure the engine against a plain loop that trains one module at a time."""
    from nalm import bench

    bench.report(device, as_json=json, quick=quick)


def _plain(experiment: "Experiment") -> dict[str, object]:
    return {
        "name": experiment.name,
        "title": experiment.title,
        "cases": len(experiment.cases),
        "seeds": len(experiment.seeds),
        "run_steps": sum(case.recipe.steps for case in experiment.cases) * len(experiment.seeds),
        "claims": len(experiment.claims),
    }


def _print_json(value: object) -> None:
    import json

    typer.echo(json.dumps(value, indent=1, allow_nan=False))


def main() -> None:
    """Run the command line; a mistake of the user ends in one sentence and exit code 2."""
    try:
        app()
    except NALMError as error:
        typer.echo(f"nalm: {error}", err=True)
        sys.exit(2)
