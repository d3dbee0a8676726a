"""The command export: finished runs as CSV, or as files to publish."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nalm.cli.app import OUT, Out, app

if TYPE_CHECKING:
    from nalm.results.store import Store


@app.command()
def export(
    out: Out = OUT,
    experiment: Annotated[str, typer.Option(help="Only this experiment, or all below a prefix.")] = "",
    to: Annotated[Path | None, typer.Option(help="Write files as shipped under this folder instead.")] = None,
    tally: Annotated[
        bool, typer.Option("--tally", help="Counts and quantiles per case instead of runs: for many seeds.")
    ] = False,
    seeds: Annotated[
        int, typer.Option(min=0, help="With --to, only runs with a seed below this; 0 takes all.")
    ] = 0,
) -> None:
    """Write every finished run as CSV to standard output, or as files to publish."""
    if seeds and (to is None or tally):
        from nalm.errors import NALMError

        remedy = "leave out --tally" if tally else "add --to FOLDER"
        raise NALMError(f"--seeds {seeds} chooses among the runs that --to writes: {remedy}.")
    from nalm.results import files as shipped
    from nalm.results import tally_files
    from nalm.results.store import Store
    from nalm.results.tally import tallies

    with Store(out) as store:
        names = _names(store, experiment)
        if to is None:
            hashes = {case.hash for name in names for case in store.cases(name)}
            rows = [o for o in store.outcomes() if not experiment or o.case.hash in hashes]
            typer.echo(tally_files.table(tallies(rows)) if tally else shipped.table(rows), nl=False)
            return
        full = [name for name in names if name in store.counts()]
        for name in full or names[:1]:  # without any finished run, the first raises the error
            typer.echo(tally_files.ship(store, name, to) if tally else shipped.ship(store, name, to, seeds))


def _names(store: "Store", experiment: str) -> list[str]:
    from nalm.errors import unknown
    from nalm.experiments import below

    names = below(experiment, store.experiments())
    if not names and experiment:
        raise unknown(f"experiment in {store.folder}", experiment, store.experiments())
    return names
