"""The command status: what a results folder holds."""

from nalm.cli import screen
from nalm.cli.app import OUT, Json, Out, app, print_json


@app.command()
def status(out: Out = OUT, json: Json = False) -> None:
    """Show what a results folder holds, which processes are running, and what is unfinished."""
    from nalm.lab import status as lab_status
    from nalm.results.store import Store

    with Store(out) as store:
        found = lab_status.status(store)
    if json:
        print_json(found)
        return

    from nalm.cli.tables.status import tables

    for part in tables(found):
        screen.show(part)
