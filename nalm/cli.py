"""The command line. Heavy imports happen inside the commands, so that help answers at once."""

import sys
from typing import Annotated

import typer

from nalm import __version__
from nalm.errors import NALMError

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


@app.command()
def bench(
    json: Annotated[bool, typer.Option("--json", help="A list of objects on standard output.")] = False,
    quick: Annotated[bool, typer.Option("--quick", help="Compiled only, without the growth curves.")] = False,
    device: Annotated[str, typer.Option(help="auto, cpu or cuda.")] = "auto",
) -> None:
    """Measure the engine against a plain loop that trains one module at a time."""
    from nalm import bench

    bench.report(device, as_json=json, quick=quick)


def main() -> None:
    """Run the command line; a mistake of the user ends in one sentence and exit code 2."""
    try:
        app()
    except NALMError as error:
        typer.echo(f"nalm: {error}", err=True)
        sys.exit(2)
