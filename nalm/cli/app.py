"""Parts that all commands use: the application, common options, and how JSON is printed."""

import functools
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer

from nalm import __version__

Options = TypeVar("Options")

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
    """Read the options that come before a command."""


def with_options(options: type[Options]) -> Callable[[Callable[[Options], None]], Callable[..., None]]:
    """Make a command out of a function that takes one dataclass: each field becomes an option."""

    def decorate(command: Callable[[Options], None]) -> Callable[..., None]:
        @functools.wraps(command)
        def call(**values: Any) -> None:  # typer passes the options by name
            command(options(**values))

        call.__annotations__ = dict(inspect.get_annotations(options))
        call.__signature__ = inspect.signature(options)  # type: ignore[attr-defined]
        return call

    return decorate


def print_json(value: object) -> None:
    """Print a value as JSON."""
    import json

    typer.echo(json.dumps(value, indent=1, allow_nan=False))


def shipped_or(source: str) -> Path:
    """Return a folder; `results` means the checkout's shipped results if the current folder has none."""
    import nalm

    shipped = Path(nalm.__file__).parent.parent / "results"
    return shipped if source == "results" and not Path(source).exists() and shipped.exists() else Path(source)
