"""The command new: files to begin with, for a unit or an experiment of your own."""

import re
from pathlib import Path
from typing import Annotated

import typer

from nalm.cli.app import app

new = typer.Typer(
    no_args_is_help=True, help="Write a file to begin with: a unit or an experiment of your own."
)
app.add_typer(new, name="new")

Folder = Annotated[Path, typer.Option("--in", help="The folder to write it into.")]


@new.command()
def unit(
    name: Annotated[str, typer.Argument(help="The name of the class, such as MyUnit.")],
    folder: Folder = Path(),
) -> None:
    """Write a unit that works: it multiplies the inputs that it selects. Change it into yours."""
    path = _write("unit", name, folder)
    typer.echo(f"{path} holds the unit {name}. Then:")
    typer.echo(f"  check it    python {path}")
    typer.echo(f"  train it    nalm run quick --unit {path}:{name} --only unit=NMU --only unit={name}")
    typer.echo(f"  compare it  nalm compare runs --units {name} NMU")


@new.command()
def experiment(
    name: Annotated[str, typer.Argument(help="Its name, such as mine/first.")], folder: Folder = Path()
) -> None:
    """Write an experiment that runs: two units, one operation, two ranges, five seeds. Change it into yours."""
    path = _write("experiment", name, folder)
    typer.echo(f"{path} holds the experiment {name}. Then:")
    typer.echo(f"  look at it  nalm show {path}")
    typer.echo(f"  run it      nalm run {path}")
    typer.echo("  compare     nalm compare runs")


def _write(kind: str, name: str, folder: Path) -> Path:
    """Write a template with the name filled in; an existing file is not replaced."""
    import importlib.resources

    from nalm.errors import NALMError
    from nalm.operating_system import write_atomically

    if kind == "unit" and not name.isidentifier():
        raise NALMError(f"A unit is a Python class, such as MyUnit: {name!r} cannot be its name.")
    if kind == "experiment" and not re.fullmatch(r"[\w./-]+", name):
        raise NALMError(
            f"An experiment is called by letters, digits, - and /, such as mine/first; got {name!r}."
        )
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()
    path = folder / f"{re.sub(r'[^a-z0-9_]+', '_', words)}.py"
    if path.exists():
        raise NALMError(f"{path} exists already: choose another name or folder.")
    template = (
        importlib.resources.files("nalm.data").joinpath(f"templates/{kind}.txt").read_text(encoding="utf-8")
    )
    write_atomically(path, template.replace("NAME", name).replace("FILE", path.name).encode())
    return path
