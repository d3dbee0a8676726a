"""The command merge: several results files into one."""

from pathlib import Path
from typing import Annotated

import typer

from nalm.cli.app import app


@app.command()
def merge(
    sources: Annotated[list[Path], typer.Argument(help="Results files, or folders that hold one.")],
    into: Annotated[Path, typer.Option("--into", "-o", help="The file to write, which ends in .db.")],
) -> None:
    """Merge results files; runs that are in several of them must agree to 1e-4."""
    from nalm.results.checkpoints import NETWORKS
    from nalm.results.merge import merge as merge_files

    found = merge_files(sources, into)
    typer.echo(f"{found.path}: {found.runs:,} runs, {found.shared:,} of them in several files, which agree.")
    folders = dict.fromkeys(source if source.is_dir() else source.parent for source in sources)
    left = [str(f) for f in folders if any((f / NETWORKS).glob("*")) and not f.samefile(into.parent)]
    if left:
        typer.echo(
            f"The saved networks of {' and '.join(left)} are not merged: with more --epochs a run goes on only where "
            f"it was trained, with {' or '.join(f'--out {folder}' for folder in left)}."
        )
