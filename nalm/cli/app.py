"""What the commands share: the application, common options, and how JSON is printed."""

from pathlib import Path
from typing import Annotated

import typer

from nalm import __version__

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


def print_json(value: object) -> None:
    """Print a plain value."""
    import json

    typer.echo(json.dumps(value, indent=1, allow_nan=False))
