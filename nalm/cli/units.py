"""The command units: what each unit can represent."""

from typing import Annotated

import typer

from nalm.cli import screen
from nalm.cli.app import app


@app.command()
def units(
    operation: Annotated[str, typer.Option(help="Only units that can represent this, such as divide.")] = "",
    markdown: Annotated[bool, typer.Option(help="Print the Markdown page docs/units.md.")] = False,
) -> None:
    """List every unit: what it can represent, and its number of parameters."""
    from nalm.formulas import capabilities

    if markdown:
        typer.echo(capabilities.markdown(), nl=False)
        return

    from nalm.cli.tables.grid import styled

    screen.show(styled(capabilities.table(operation)))
    for sentence in capabilities.LEGEND:
        screen.say(sentence)
